package bulk

import "time"

// throttle limits the size of requests and their number at the same time. The size begins low, so that a slow
// cluster completes its first request soon, and grows with success. It is halved when the cluster is overloaded. The
// ledger's mu guards it.
type throttle struct {
	body, mostBody     int // bytes of a request
	flight, mostFlight int // requests at once
	flying             int // requests under way
	streak             int // successful requests in a row
	shrunk             time.Time
}

const (
	// leastBody is the smallest body after overload, in bytes. Smaller ones would only cause more work.
	leastBody = 64 << 10

	// longest is the longest time that a request should take. It is short because requests under way must be sent
	// again after an interruption.
	longest = time.Second
)

func newThrottle(body, flight int) *throttle {
	return &throttle{body: min(body, max(body/8, leastBody)), mostBody: body, flight: flight, mostFlight: flight}
}

func (t *throttle) isFull() bool { return t.flying >= t.flight }

// tooLarge halves bodies after a body of size bytes with several documents was refused as too large. The limit is a
// setting of the server or a proxy, so bodies do not grow above it again.
func (t *throttle) tooLarge(size int) {
	t.streak = 0
	t.mostBody = min(t.mostBody, max(size/2, 1))
	t.body = min(t.body, t.mostBody)
}

// overloaded halves bodies and allows one request less at a time, after the cluster reported overload. A request
// that was sent before the last halving does not count.
func (t *throttle) overloaded(sent, now time.Time) {
	t.streak = 0
	if sent.Before(t.shrunk) {
		return
	}
	t.shrink()
	t.flight = max(t.flight-1, 1)
	t.shrunk = now
}

func (t *throttle) shrink() { t.body = min(t.mostBody, max(t.body/2, leastBody)) }

// kept adapts the size of bodies after a successful request of size bytes.
func (t *throttle) kept(size int, took time.Duration) {
	const forFlight = 8
	if t.streak++; t.streak%forFlight == 0 {
		t.flight = min(t.flight+1, t.mostFlight)
	}
	switch isTypical := size > t.body/2; {
	case isTypical && took > longest:
		t.shrink()
	case isTypical && took < longest/2:
		t.body = min(t.body+t.body/2+1, t.mostBody)
	}
}
