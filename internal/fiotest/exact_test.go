package fiotest

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestReadRaw(t *testing.T) {
	got, err := ReadRaw(strings.NewReader("31, 14248655, 1, 4096, 0\n\n32, 164690, 0, 8192\n33, 5, 2, 512, 0x4001\n"))
	want := []Completion{
		{31 * ms, 14248655, Write},
		{32 * ms, 164690, Read},
		{33 * ms, 5, Trim},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"1, 2, 3", "1, 2, 3, 4, 5", "a, 2, 0, 4", "1, 2, -1, 4", strings.Repeat("1", 70000)} {
		if _, err := ReadRaw(strings.NewReader(bad)); err == nil {
			t.Errorf("accepted %.20q", bad)
		}
	}
}

// ladder returns n requests of 1, 2, … n ms that complete at 1, 2, … n ms.
func ladder(n int) []Completion {
	out := make([]Completion, n)
	for i := range out {
		d := time.Duration(i+1) * ms
		out[i] = Completion{Time: d, Latency: d, Direction: i % 2}
	}
	return out
}

func TestExact(t *testing.T) {
	all := ladder(1000)
	cases := map[string]struct {
		dir      int
		from, to time.Duration
		q        []float64
		n        int
		want     []time.Duration
		max      time.Duration
	}{
		"all":       {AnyDirection, 0, time.Second, []float64{0.5, 0.999, 1, 0}, 1000, []time.Duration{500 * ms, 999 * ms, 1000 * ms, 1 * ms}, time.Second},
		"half-open": {AnyDirection, 10 * ms, 20 * ms, []float64{0, 0.5}, 10, []time.Duration{11 * ms, 15 * ms}, 20 * ms},
		"odd ones":  {Read, 0, 10 * ms, []float64{0.5, 0.6, 0.61}, 5, []time.Duration{5 * ms, 5 * ms, 7 * ms}, 9 * ms},
		"none":      {Trim, 0, time.Second, []float64{0.5}, 0, []time.Duration{0}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := Exact(all, c.dir, c.from, c.to, c.q...)
			if a.Requests != c.n || a.Weight != float64(c.n) || a.Max != c.max || !slices.Equal(a.Quantiles, c.want) {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestExactInflight(t *testing.T) {
	all := []Completion{
		{Time: 5 * ms, Latency: 2 * ms},   // fully in [0,10)
		{Time: 12 * ms, Latency: 4 * ms},  // half here, half in the next
		{Time: 40 * ms, Latency: 40 * ms}, // a quarter in each of four
		{Time: 10 * ms},                   // took no time
		{Time: 60 * ms, Latency: ms},      // not in this window
	}
	a := ExactInflightLong(all, AnyDirection, 0, 10*ms, 0.3, 0.5, 0.9, 1)
	if math.Abs(a.Weight-2.25) > 1e-9 || a.Requests != 3 || a.Min != 0 || a.Max != 40*ms {
		t.Errorf("%+v", a)
	}
	if want := []time.Duration{0, 2 * ms, 40 * ms, 40 * ms}; !slices.Equal(a.Quantiles, want) {
		t.Errorf("quantiles %v", a.Quantiles)
	}
	b := ExactInflightLong(all, AnyDirection, 10*ms, 20*ms, 0.5, 1)
	if b.Weight != 1.25 || b.Requests != 2 || b.Quantiles[0] != 4*ms || b.Quantiles[1] != 40*ms {
		t.Errorf("%+v", b)
	}
}

// TestInflightSharesAddUp: the shares of each request in the windows of a whole run add up to 1.
func TestInflightSharesAddUp(t *testing.T) {
	all := ladder(300)
	for name, f := range map[string]func([]Completion, int, time.Duration, time.Duration, ...float64) Answer{
		"exact": Exact, "in flight": ExactInflightLong,
	} {
		var sum float64
		for from := time.Duration(0); from < 300*ms; from += 7 * ms {
			sum += f(all, AnyDirection, from, from+7*ms).Weight
		}
		if math.Abs(sum-300) > 1e-6 {
			t.Errorf("%s: %v of 300 requests", name, sum)
		}
	}
}
