package sink

import (
	"testing"
	"time"
)

// send sends full bodies to a server that refuses those above most, and gives how many
// it refused.
func send(p *pace, bodies, most int) (refused int) {
	for range bodies {
		if p.limit > most {
			refused++
			p.tooLarge(p.limit)
			continue
		}
		p.kept(p.limit, 0)
	}
	return refused
}

// TestPaceFindsLimit: the largest body that is taken is found, by few that are not.
func TestPaceFindsLimit(t *testing.T) {
	for _, most := range []int{5000, 9000, 65_536, 700_000, 1 << 20, 4_000_000, 5<<20 - 1, 5 << 20} {
		p := newPace(5<<20, 2)
		refused := send(&p, 2000, most)
		if p.fits < most*3/4 || p.fits > most || refused > 25 {
			t.Errorf("of %d: %d, %d refused", most, p.fits, refused)
		}
		if n := send(&p, 10_000, most); n > 15 {
			t.Errorf("of %d: %d more refused", most, n)
		}
	}
}

// TestPaceFollows: a limit that is raised or lowered meanwhile.
func TestPaceFollows(t *testing.T) {
	p := newPace(5<<20, 2)
	send(&p, 2000, 100_000)
	if n := send(&p, 3000, 20_000); n > 12 || p.limit > 20_000 {
		t.Errorf("lowered: %d refused, %d", n, p.limit)
	}
	send(&p, 10_000, 10<<20)
	if p.limit != 5<<20 {
		t.Errorf("raised: %d", p.limit)
	}
}

// TestPaceOverload: overload halves bodies down to a least size, and they grow back, but
// not beyond what was too large.
func TestPaceOverload(t *testing.T) {
	p := newPace(1<<20, 4)
	now := time.Now()
	for range 10 {
		now = now.Add(time.Second)
		p.overloaded(now, now)
	}
	if p.limit != leastBody || p.flight != 1 {
		t.Errorf("%d bytes, %d at once", p.limit, p.flight)
	}
	p.tooLarge(leastBody)
	for range 20 {
		p.kept(p.limit, 0)
	}
	if p.limit != leastBody/2 || p.flight < 3 {
		t.Errorf("%d bytes, %d at once", p.limit, p.flight)
	}
	for range 30 {
		p.kept(p.limit, 0)
	}
	if p.flight != 4 {
		t.Errorf("%d at once", p.flight)
	}
}
