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

// maxHosts is how many hosts a table has: the slowest.
const maxHosts = 100

// hostSum is a host's windows of a direction, added up.
type hostSum struct {
	host        string
	requests    hist.Histogram
	completed   int64
	windows     int
	first, last hostWindow
}

// hostWindow is what completed in a window.
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

// iops are those of the windows but the first and the last, which the host's start and
// end may cut; of all where these are few.
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
	Rows      []hostRow
	Left      int // hosts that are left out
}

// hostRow is a host's line. Bars are percents of the table's highest.
type hostRow struct {
	Host, Requests, IOPS, P50, P99, Max, Skew string
	IOPSBar, P50Bar, P99Bar, MaxBar           string
}

// hostValues are the numbers of a line.
type hostValues struct {
	sum                 *hostSum
	iops, p50, p99, max float64
	open                float64 // latencies from here on are lower bounds
}

// text is a latency, marked where it is a lower bound.
func (v *hostValues) text(us float64) string { return unit.LatencyOrMore(us, us >= v.open) }

func (s *hostSum) values() hostValues {
	v := hostValues{sum: s, iops: s.iops()}
	v.open = math.Inf(1)
	if h := &s.requests; !h.IsEmpty() {
		low, _ := h.Layout().Bounds(h.Layout().Len() - 1)
		v.open = micros(float64(low))
		v.p50, v.p99, v.max = micros(h.Percentile(0.5).Value), micros(h.Percentile(0.99).Value), micros(h.Max().Value)
	}
	return v
}

// newHostTable makes the table of a direction.
func newHostTable(direction string, sums []*hostSum, hosts []mapping.RunHost) hostTable {
	var list []hostValues
	for _, s := range sums {
		list = append(list, s.values())
	}
	slices.SortFunc(list, func(a, b hostValues) int {
		return cmp.Or(cmp.Compare(b.p99, a.p99), cmp.Compare(b.max, a.max), strings.Compare(a.sum.host, b.sum.host))
	})
	skew := map[string]string{}
	for _, h := range hosts {
		skew[h.Name] = unit.Elapsed(time.Duration(h.SkewMS) * time.Millisecond)
	}
	columns := []func(hostValues) float64{
		func(v hostValues) float64 { return v.iops }, func(v hostValues) float64 { return v.p50 },
		func(v hostValues) float64 { return v.p99 }, func(v hostValues) float64 { return v.max },
	}
	highest := make([]float64, len(columns))
	for i, of := range columns {
		for _, v := range list {
			highest[i] = max(highest[i], of(v))
		}
	}
	t := hostTable{Direction: direction, Left: max(len(list)-maxHosts, 0)}
	for _, v := range list[:len(list)-t.Left] {
		bar := func(i int) string { return percentOf(columns[i](v), highest[i]) }
		t.Rows = append(t.Rows, hostRow{
			Host: v.sum.host, Requests: unit.Count(v.sum.completed), IOPS: unit.Rate(v.iops), P50: v.text(v.p50),
			P99: v.text(v.p99), Max: v.text(v.max), Skew: skew[v.sum.host],
			IOPSBar: bar(0), P50Bar: bar(1), P99Bar: bar(2), MaxBar: bar(3),
		})
	}
	return t
}

// percentOf is how much x is of the highest, as style sheets have it.
func percentOf(x, highest float64) string {
	if !(highest > 0) {
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*x/highest)
}
