package sink

import "time"

// pace is how much is sent at once. It is halved when the cluster says that it was too
// much, and grows back while it keeps up. A body that was too large stays too large:
// the limit of one request is a setting of the server or a proxy.
type pace struct {
	limit   int // bytes of a body
	ceiling int // that limit grows to
	flight  int // bodies under way
	most    int // that flight grows to
	streak  int // requests since the last trouble
	shrunk  time.Time
}

// leastBody is what overload shrinks bodies to; smaller ones only make more work.
const leastBody = 64 << 10

func newPace(body, flight int) pace {
	return pace{limit: body, ceiling: body, flight: flight, most: flight}
}

// tooLarge is told the size of a body of several documents that was refused for it.
func (p *pace) tooLarge(size int) {
	p.ceiling = min(p.ceiling, max(size/2, 1))
	p.limit = min(p.limit, p.ceiling)
	p.streak = 0
}

// overloaded is told when a request was sent that was too much. Those that were under
// way when pace had shrunk already say nothing new.
func (p *pace) overloaded(sent, now time.Time) {
	p.streak = 0
	if sent.Before(p.shrunk) {
		return
	}
	p.limit = min(p.ceiling, max(p.limit/2, leastBody))
	p.flight = max(p.flight-1, 1)
	p.shrunk = now
}

// kept is told that a request went well.
func (p *pace) kept() {
	const forBytes, forFlight = 4, 8
	p.streak++
	if p.streak%forBytes == 0 {
		p.limit = min(p.limit+p.limit/4+1, p.ceiling)
	}
	if p.streak%forFlight == 0 {
		p.flight = min(p.flight+1, p.most)
	}
}
