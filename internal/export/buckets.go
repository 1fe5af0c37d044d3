package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
)

// Buckets are the wanted bounds of a histogram's buckets. The zero value means 1-2-5 steps from 1 µs to 10 s, or
// further if the histogram's bins reach further.
type Buckets struct {
	all    bool
	wanted []time.Duration // ascending; empty: 1-2-5 steps
}

// ParseBuckets parses "1-2-5"; "all", which means each edge of a bin; or latencies such as "100us,1ms,10ms".
func ParseBuckets(text string) (Buckets, error) {
	switch text {
	case "1-2-5":
		return Buckets{}, nil
	case "all":
		return Buckets{all: true}, nil
	}
	b := Buckets{}
	for part := range strings.SplitSeq(text, ",") {
		d, ok := expr.ParseLatency(part)
		if !ok || d <= 0 {
			return Buckets{}, fmt.Errorf("%s: want 1-2-5, all, or latencies such as 100us,1ms,10ms", text)
		}
		b.wanted = append(b.wanted, d)
	}
	slices.Sort(b.wanted)
	return b, nil
}

// steps returns 1, 2 and 5 of each power of ten from 1 µs to 10 s, or as far as the bins of a layout reach.
func steps(l hist.Layout) (all []time.Duration) {
	open, _ := l.Bounds(l.Len() - 1)
	most := max(time.Duration(open), 10*time.Second)
	for d := time.Microsecond; 0 < d && d <= most; d *= 10 { // 0 < d, because d may overflow
		for _, step := range []time.Duration{d, 2 * d, 5 * d} {
			if step <= most {
				all = append(all, step)
			}
		}
	}
	return all
}

// bins returns the bins at whose ends buckets end, ascending, each once.
func (b *Buckets) bins(l hist.Layout) []int {
	var bins []int
	if b.all {
		for i := range l.Len() - 1 {
			bins = append(bins, i)
		}
		return bins
	}
	wanted := b.wanted
	if len(wanted) == 0 {
		wanted = steps(l)
	}
	for _, d := range wanted {
		bins = append(bins, binEnding(l, int64(d)))
	}
	return slices.Compact(bins)
}

// binEnding returns the bin whose highest latency is nearest to ns, or the lower one of two.
func binEnding(l hist.Layout, ns int64) int {
	i := min(l.Index(ns), l.Len()-2)
	if i > 0 && ns-bound(l, i-1) <= bound(l, i)-ns {
		i--
	}
	return i
}

// bound returns the highest latency of bin i in nanoseconds. The last bin has none.
func bound(l hist.Layout, i int) int64 {
	_, high := l.Bounds(i)
	return high - 1
}
