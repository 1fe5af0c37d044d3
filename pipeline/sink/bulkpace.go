package sink

import "time"

// pace is how much is sent at once. It begins low, so that a slow cluster has soon taken
// something, and doubles while requests are quick. It is halved when the cluster says that it was too
// much, and grows back while it keeps up. The size above which a body is too large is a
// setting of the server or of a proxy: it is searched for, and now and then looked at
// again, for settings are changed and proxies differ.
type pace struct {
	limit    int  // bytes of a body
	ceiling  int  // that limit grows to
	largest  int  // that ceiling grows to
	fits     int  // size of the largest body that was taken, as far as is known
	refused  int  // of the smallest one that was too large; 0 when none was
	patience int  // requests that go well before a larger body is tried
	since    int  // such requests since the ceiling was changed
	flight   int  // bodies under way
	most     int  // that flight grows to
	streak   int  // requests since the last trouble
	isSteady bool // limit was found, after a start with small bodies
	shrunk   time.Time
}

const (
	// leastBody is what overload shrinks bodies to; smaller ones only make more work.
	leastBody = 64 << 10

	// longest is how long a request should take at most.
	longest = time.Second

	// A larger body is tried after so many requests, and each time that one is refused
	// after twice as many: one body sent in vain for every few hundred megabytes.
	leastPatience, mostPatience = 32, 1024
)

func newPace(body, flight int) pace {
	return pace{limit: min(body, max(body/8, leastBody)), ceiling: body, largest: body, patience: leastPatience, flight: flight, most: flight}
}

// tooLarge is told the size of a body of several documents that was refused for it.
func (p *pace) tooLarge(size int) {
	p.streak, p.isSteady = 0, true
	if p.since = 0; p.refused > 0 && p.fits > 0 {
		p.patience = min(2*p.patience, mostPatience)
	}
	p.refused = size
	if size <= p.fits { // what was known holds no more
		p.fits = 0
	}
	p.ceiling = min(p.ceiling, max(size/2, p.fits, 1))
	p.limit = min(p.limit, p.ceiling)
}

// raise tries a larger body: half way to what was refused, and where that is near, a
// little beyond it, which tells whether it still is.
func (p *pace) raise() {
	if p.since++; p.ceiling == p.largest || p.since < p.patience {
		return
	}
	step := max((p.refused-p.ceiling)/2, p.ceiling/16, 1)
	if p.refused == 0 {
		step = p.ceiling/2 + 1
	}
	p.since, p.ceiling = 0, min(p.ceiling+step, p.largest)
}

// overloaded is told when a request was sent that was too much. Those that were under
// way when pace had shrunk already say nothing new.
func (p *pace) overloaded(sent, now time.Time) {
	p.streak, p.isSteady = 0, true
	if sent.Before(p.shrunk) {
		return
	}
	p.limit = min(p.ceiling, max(p.limit/2, leastBody))
	p.flight = max(p.flight-1, 1)
	p.shrunk = now
}

// kept is told the size of a request that went well, and how long it took. One that takes
// longer than a second is too large for a cluster as slow as this one: an interruption loses
// what is under way.
func (p *pace) kept(size int, took time.Duration) {
	const forBytes, forFlight = 4, 8
	p.streak++
	p.fits = max(p.fits, size)
	if p.refused > 0 && size >= p.refused { // the setting was changed
		p.refused, p.patience = 0, leastPatience
	}
	if p.limit == p.ceiling {
		p.raise()
	}
	switch p.isSteady = p.isSteady || took > longest/2; {
	case took > longest && size > p.limit/2:
		p.limit = min(p.ceiling, max(p.limit/2, leastBody))
	case !p.isSteady && size > p.limit/2:
		p.limit = min(2*p.limit, p.ceiling)
	case p.streak%forBytes == 0 && took < longest/2:
		p.limit = min(p.limit+p.limit/4+1, p.ceiling)
	}
	if p.streak%forFlight == 0 {
		p.flight = min(p.flight+1, p.most)
	}
}
