package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// maxHosts is how many hosts a table has at most: the slowest ones.
const maxHosts = 100

// hostSum is the sum of a host's windows of a direction.
type hostSum struct {
	host        string
	requests    hist.Histogram
	completed   int64
	windows     int
	first, last hostWindow
}

// hostWindow is how many requests completed in a window.
type hostWindow struct {
	start, end time.Time
	completed  int64
}

// add takes the next window.
func (s *hostSum) add(w *window.Window, requests *hist.Histogram) {
	s.last = hostWindow{w.Start, w.End, w.Completed}
	s.completed += w.Completed
	if s.windows++; s.windows == 1 {
		s.first = s.last
	}
	if requests != nil {
		s.requests.Merge(requests)
	}
}

// iops are the values of all windows except the first and the last, which the host's start and end may
// cut. Of few windows all count.
func (s *hostSum) iops() float64 {
	const few = 4
	completed, from, to := s.completed-s.first.completed-s.last.completed, s.first.end, s.last.start
	if s.windows < few {
		completed, from, to = s.completed, s.first.start, s.last.end
	}
	if !to.After(from) {
		return 0
	}
	return float64(completed) / to.Sub(from).Seconds()
}

// hostTable is the hosts of a direction, the slowest first.
type hostTable struct {
	Direction string
	Rows      []row
	Left      int // faster hosts that are left out
}

// hostValues are the numbers of a line.
type hostValues struct {
	sum                 *hostSum
	iops, p50, p99, max float64
	open                float64 // latencies from here on are lower bounds
}

func (s *hostSum) values() *hostValues {
	v := &hostValues{sum: s, iops: s.iops(), open: math.Inf(1)}
	if h := &s.requests; !h.IsEmpty() {
		low, _ := h.Layout().Bounds(h.Layout().Len() - 1)
		v.open = micros(float64(low))
		v.p50, v.p99, v.max = micros(h.Percentile(0.5).Value), micros(h.Percentile(0.99).Value), micros(h.Max().Value)
	}
	return v
}

// newHostTable makes the table of a direction. Bars are shares of the highest number in the table.
func newHostTable(direction string, sums []*hostSum, hosts []mapping.RunHost) hostTable {
	var list []*hostValues
	var highest hostValues
	for _, s := range sums {
		v := s.values()
		list = append(list, v)
		highest.iops, highest.p50 = max(highest.iops, v.iops), max(highest.p50, v.p50)
		highest.p99, highest.max = max(highest.p99, v.p99), max(highest.max, v.max)
	}
	slices.SortFunc(list, func(a, b *hostValues) int {
		return cmp.Or(cmp.Compare(b.p99, a.p99), cmp.Compare(b.max, a.max), strings.Compare(a.sum.host, b.sum.host))
	})
	skew := map[string]string{}
	for _, h := range hosts {
		skew[h.Name] = unit.Elapsed(time.Duration(h.SkewMS) * time.Millisecond)
	}
	t := hostTable{Direction: direction, Left: max(len(list)-maxHosts, 0)}
	for _, v := range list[:len(list)-t.Left] {
		latency := func(us, highest float64) cell {
			return cell{Text: unit.LatencyOrMore(us, us >= v.open), Bar: percentOf(us, highest)}
		}
		t.Rows = append(t.Rows, row{v.sum.host, []cell{
			{Text: unit.Count(v.sum.completed)}, {Text: unit.Rate(v.iops), Bar: percentOf(v.iops, highest.iops)},
			latency(v.p50, highest.p50), latency(v.p99, highest.p99), latency(v.max, highest.max), {Text: skew[v.sum.host]},
		}})
	}
	return t
}

// percentOf is the share of x in the highest, as style sheets write it.
func percentOf(x, highest float64) string {
	if !(highest > 0) {
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*x/highest)
}
