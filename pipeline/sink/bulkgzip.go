package sink

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
)

// squeeze decides whether bodies are compressed. That takes 2.5 ns for a byte and saves
// six sevenths of them: over the internet it is the difference between minutes and
// seconds, over a link of several Gb/s it takes longer than what it saves. So both are
// tried, and the one goes on that brings a byte of documents out sooner; the other is
// tried again now and then.
type squeeze struct {
	gzip     bool       // the better way, as far as is known
	fixed    bool       // by a setting, or because the other way is refused
	costs    [2]float64 // seconds for a byte of documents, as it is and compressed; 0 is unknown
	since    int        // bodies since the other way was tried
	patience int        // bodies until it is tried again; doubled each time that it is no better
}

const (
	leastSqueezed = 64 << 10 // smaller bodies say nothing about a connection's speed
	mostPatient   = 1024     // bodies: five gigabytes
	farAway       = 20e-9    // seconds for a byte, 100 ms for a body: there is no point in trying
)

func newSqueeze(g elastic.Gzip) squeeze {
	return squeeze{gzip: g != elastic.GzipNever, fixed: g != elastic.GzipWherePays, patience: 1}
}

// next tells whether to compress the next body, of so many bytes. It begins compressed:
// small archives may come from far away.
func (q *squeeze) next(size int) bool {
	if q.fixed || size < leastSqueezed {
		return q.gzip
	}
	if q.since++; q.since <= q.patience || q.gzip && q.costs[1] > farAway {
		return q.gzip
	}
	q.since = 0
	return !q.gzip
}

// learn is told how long it took to get a body ready and out.
func (q *squeeze) learn(gzip bool, size int, took time.Duration) {
	if q.fixed || size < leastSqueezed || took <= 0 {
		return
	}
	way := 0
	if gzip {
		way = 1
	}
	cost := took.Seconds() / float64(size)
	if old := q.costs[way]; old > 0 { // half of it is news
		cost = (cost + old) / 2
	}
	q.costs[way] = cost
	if q.costs[0] == 0 || q.costs[1] == 0 {
		return
	}
	better := q.costs[1] < q.costs[0]
	switch {
	case better != q.gzip:
		q.gzip, q.since, q.patience = better, 0, 16
	case gzip != q.gzip:
		q.patience = min(max(2*q.patience, 16), mostPatient)
	}
}

// tooLarge is told that a body was refused for its size as it was. It tells whether to
// compress it: proxies look at what is on the wire, and may let that pass.
func (q *squeeze) tooLarge(gzip bool) bool {
	if gzip || q.fixed && !q.gzip { // else it was got ready before this was known
		return false
	}
	q.gzip, q.fixed = true, true
	return true
}

// squeezes tells whether to compress a body of so many bytes.
func (s *Elastic) squeezes(size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.squeeze.next(size)
}

// mustSqueeze tells whether a body that was too large is to be compressed and sent again.
func (s *Elastic) mustSqueeze(c *carrier) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.squeeze.tooLarge(c.gzip) {
		return false
	}
	s.stats.count(c)
	return true
}

// stopwatch tells how long a request's body took to get out, in nanoseconds.
type stopwatch struct{ began, ended atomic.Int64 }

func (w *stopwatch) trace(ctx context.Context) context.Context {
	zero := time.Now()
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { w.began.Store(int64(time.Since(zero))) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				w.ended.Store(int64(time.Since(zero)))
			}
		},
	})
}

// took is 0 when the answer came first.
func (w *stopwatch) took() time.Duration {
	return time.Duration(max(w.ended.Load()-w.began.Load(), 0))
}
