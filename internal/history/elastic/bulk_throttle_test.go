package elastic

import (
	"testing"
	"time"
)

// TestThrottleTooLarge: bodies are halved until they are accepted, and do not grow above that size.
func TestThrottleTooLarge(t *testing.T) {
	for _, most := range []int{5000, 65_536, 700_000, 1 << 20, 5<<20 - 1, 5 << 20} {
		throttle, refused := newThrottle(5<<20, 2), 0
		for range 200 {
			if throttle.body > most {
				refused++
				throttle.tooLarge(throttle.body)
				continue
			}
			throttle.kept(throttle.body, 0)
		}
		if throttle.body < most/2 || throttle.body > most || refused > 8 {
			t.Errorf("of %d: %d, %d refused", most, throttle.body, refused)
		}
	}
}

// TestThrottleOverload: overload halves bodies down to a smallest size. They grow again, but not above a size that
// was too large.
func TestThrottleOverload(t *testing.T) {
	throttle := newThrottle(1<<20, 4)
	now := time.Now()
	for range 10 {
		now = now.Add(time.Second)
		throttle.overloaded(now, now)
		throttle.overloaded(now.Add(-time.Millisecond), now) // it was sent before the last halving
	}
	if throttle.body != leastBody || throttle.flight != 1 {
		t.Errorf("%d bytes, %d at once", throttle.body, throttle.flight)
	}
	for range 40 {
		throttle.kept(throttle.body, 0)
	}
	if throttle.body != 1<<20 || throttle.flight != 4 {
		t.Errorf("%d bytes, %d at once", throttle.body, throttle.flight)
	}
}

// TestThrottleSlow: a body gets about as large as the cluster accepts in a second.
func TestThrottleSlow(t *testing.T) {
	for _, rate := range []int{200_000, 1 << 20, 10 << 20} { // bytes per second
		throttle := newThrottle(5<<20, 2)
		for range 100 {
			took := time.Duration(throttle.body) * time.Second / time.Duration(rate)
			throttle.kept(throttle.body, took)
		}
		if want := min(rate, 5<<20); throttle.body < want/3 || throttle.body > want {
			t.Errorf("%d bytes a second: bodies of %d", rate, throttle.body)
		}
	}
}
