package methods

import (
	"context"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/caio/go-tdigest/v4"
)

// sketch is what a method keeps of the requests of one window, or of the whole run.
type sketch interface {
	add(part)
	percentiles(qs []float64) []float64 // in nanoseconds, of quantiles from 0 to 1; called last, and once
	size() int64                        // bytes when it is stored, after percentiles
}

// part is a request in a window. Its weight is 1, or in flight the share of its life that is in the window.
type part struct {
	ns     int64
	weight float64
	job    int
}

// method is a way to get percentiles from completions.
type method struct {
	name     string
	inFlight bool
	new      func() sketch
}

// sketches are all methods that read completions. Those of libraries have the settings that people use.
func (c *Comparison) sketches() []method {
	return []method{
		{"exact, nearest rank", false, newNearest},
		{averaged, false, newPerJob},
		{"log-spaced bins", false, c.Log.new},
		{"fio's bins", false, newFioBins},
		{"HdrHistogram, 3 digits", false, newHDR},
		{"DDSketch, 1 %", false, newDDSketch},
		{"t-digest, 100", false, newTDigest},
		{"log-spaced bins", true, c.Log.new},
		{"fio's bins", true, newFioBins},
	}
}

// hdrHistogram is HdrHistogram from 1 ns to an hour. Its text is compressed.
type hdrHistogram struct{ *hdr.Histogram }

func newHDR() sketch { return hdrHistogram{hdr.New(1, time.Hour.Nanoseconds(), 3)} }

func (h hdrHistogram) add(p part) { _ = h.RecordValue(min(p.ns, time.Hour.Nanoseconds())) } // fails only beyond its range

func (h hdrHistogram) percentiles(qs []float64) (list []float64) {
	for _, q := range qs {
		list = append(list, float64(h.ValueAtPercentile(100*q)))
	}
	return list
}

func (h hdrHistogram) size() int64 {
	text, _ := h.EncodeV2() // fails only if memory cannot be written
	return int64(len(text))
}

// ddSketch is a DDSketch with a relative error of 1 %.
type ddSketch struct{ *ddsketch.DDSketch }

func newDDSketch() sketch {
	s, err := ddsketch.NewDefaultDDSketch(0.01)
	if err != nil {
		panic(err) // the constant is not between 0 and 1
	}
	return ddSketch{s}
}

func (s ddSketch) add(p part) { _ = s.Add(float64(p.ns)) } // fails only below 0 and far above an int64

func (s ddSketch) percentiles(qs []float64) []float64 {
	list, _ := s.GetValuesAtQuantiles(qs) // fails only without requests
	return list
}

func (s ddSketch) size() int64 {
	var b []byte
	s.Encode(&b, false)
	return int64(len(b))
}

// tDigest is a t-digest of compression 100. It has its own random numbers, so that the same requests give the same answer.
type tDigest struct{ *tdigest.TDigest }

func newTDigest() sketch {
	t, err := tdigest.New(tdigest.Compression(100), tdigest.LocalRandomNumberGenerator(1))
	if err != nil {
		panic(err) // the constant is not above 1
	}
	return tDigest{t}
}

func (t tDigest) add(p part) { _ = t.Add(float64(p.ns)) } // fails only for NaN and infinity

func (t tDigest) percentiles(qs []float64) (list []float64) {
	for _, q := range qs {
		list = append(list, t.Quantile(q))
	}
	return list
}

func (t tDigest) size() int64 {
	b, _ := t.AsBytes() // fails only if memory cannot be written
	return int64(len(b))
}

// span is the requests that completed in one window.
type span struct {
	window  int64
	list    []request
	longest int64 // ms, at most reach
}

// reach is how far back a request counts in flight, in milliseconds, as in fio2es.
const reach = 600_000

// edges are the ends of windows: multiples of their length, or where rows of logs end.
type edges struct {
	length, shift int64
	rows          map[place]int64
}

// end returns the end of a window, in milliseconds since the start of the run. The next window begins there.
func (e *edges) end(of place) int64 {
	if at, ok := e.rows[of]; ok {
		return at
	}
	return (of.window+1)*e.length - e.shift
}

// start returns the begin of a window.
func (e *edges) start(of place) int64 {
	of.window--
	return e.end(of)
}

// spans divides the requests of a direction into windows by when they completed, in (start, end].
func (c *Comparison) spans(direction int, e *edges) (list []span) {
	for all := c.requests[direction]; len(all) > 0; {
		at := all[0].at()
		w := (max(at+e.shift, 1) - 1) / e.length
		if w > 0 && at <= e.start(place{direction, w}) {
			w--
		} else if at > e.end(place{direction, w}) {
			w++
		}
		end := e.end(place{direction, w})
		n := max(sort.Search(len(all), func(i int) bool { return all[i].at() > end }), 1)
		s := span{window: w, list: all[:n]}
		for _, r := range s.list {
			s.longest = max(s.longest, min(r.ns/1e6, reach))
		}
		list, all = append(list, s), all[n:]
	}
	return list
}

// numbers returns the windows that may have requests in flight, in order.
func (c *Comparison) numbers(spans []span, inFlight bool) []int64 {
	all := map[int64]bool{}
	for _, s := range spans {
		for w := s.window; w >= 0; w-- {
			all[w] = true
			if !inFlight || (s.window-w-1)*c.Window > s.longest {
				break
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// parts appends the requests of a window to list. spans are those from this window on, of which none has a request that
// took longer than longest.
func (c *Comparison) parts(list []part, spans []span, of place, e *edges, longest int64, inFlight bool) []part {
	w, start, end := of.window, float64(e.start(of)), float64(e.end(of))
	for _, s := range spans {
		before := (s.window - w - 2) * c.Window // at least this long from the end of the window to the begin of the span
		if s.window > w && !inFlight || before > longest {
			break
		}
		if before > s.longest {
			continue
		}
		for _, r := range s.list {
			p := part{r.ns, 1, r.job()}
			took := min(float64(r.ns)/1e6, reach)
			switch {
			case inFlight && took > 0 && (c.SpreadAll || r.ns/1e6 >= c.Window):
				at := float64(r.at())
				p.weight = (min(at, end) - max(at-took, start)) / took
			case s.window != w:
				continue
			}
			if p.weight > 0 {
				list = append(list, p)
			}
		}
	}
	return list
}

// answer asks a method. whole says whether the whole run is wanted, too.
func (c *Comparison) answer(ctx context.Context, m method, e *edges, whole bool) (*answers, error) {
	const often = 1 << 16 // requests
	a, qs := newAnswers(m.name, m.inFlight, e), c.quantiles()
	fill := func(s sketch, parts []part) error {
		for some := range slices.Chunk(parts, often) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, p := range some {
				s.add(p)
			}
		}
		return nil
	}
	var parts []part
	for d := range c.requests {
		spans := c.spans(d, e)
		from, longest := 0, int64(0)
		for _, s := range spans {
			longest = max(longest, s.longest)
		}
		for _, w := range c.numbers(spans, m.inFlight) {
			for spans[from].window < w {
				from++
			}
			parts = c.parts(parts[:0], spans[from:], place{d, w}, e, longest, m.inFlight)
			if len(parts) == 0 {
				continue
			}
			began, s := time.Now(), m.new()
			if err := fill(s, parts); err != nil {
				return nil, err
			}
			a.windows[place{d, w}] = s.percentiles(qs)
			a.took += time.Since(began)
			a.bytes += s.size()
		}
		if !whole || len(spans) == 0 {
			continue
		}
		s := m.new()
		for _, of := range spans {
			parts = parts[:0]
			for _, r := range of.list { // the shares of a request in all windows add up to 1
				parts = append(parts, part{r.ns, 1, r.job()})
			}
			if err := fill(s, parts); err != nil {
				return nil, err
			}
		}
		a.whole[d] = s.percentiles(qs)
	}
	return a, nil
}

// Compare returns a row for each method and percentile: those that count completions, then those in flight, each after the
// exact percentiles. Exact percentiles in flight are compared with those of completions, which shows how much the way to count
// matters. The error is that of ctx.
func (c *Comparison) Compare(ctx context.Context) ([]*Row, error) {
	if err := c.sort(ctx); err != nil {
		return nil, err
	}
	type reference struct {
		inFlight bool
		*edges
	}
	references := map[reference]*answers{}
	var err error
	own := &edges{length: c.Window, shift: c.Shift}
	exactly := func(inFlight bool, e *edges) *answers {
		key := reference{inFlight, e}
		if references[key] == nil && err == nil {
			first := references[reference{false, own}]
			references[key], err = c.answer(ctx, method{"exact", inFlight, newExact}, e, first == nil)
			if err == nil && first != nil {
				references[key].whole = first.whole
			}
		}
		return references[key]
	}
	completed, flying := exactly(false, own), exactly(true, own)
	if err != nil {
		return nil, err
	}
	var list []*answers
	for _, m := range c.sketches() {
		a, err := c.answer(ctx, m, own, true)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	tools, err := c.tools(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.Concat(list, tools, c.answers)
	rows := c.compare(completed, completed)
	for _, inFlight := range []bool{false, true} {
		if inFlight {
			rows = append(rows, c.compare(flying, completed)...)
		}
		for _, a := range list {
			if a.inFlight != inFlight {
				continue
			}
			exact := exactly(inFlight, a.edges)
			if err != nil {
				return nil, err
			}
			rows = append(rows, c.compare(a, exact)...)
		}
	}
	return rows, nil
}
