package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// maxHosts is how many hosts a table lists: the slowest ones.
const maxHosts = 100

// hostSum is the sum of a host's windows in one direction.
type hostSum struct {
	host        string
	requests    hist.Histogram
	completed   int64
	windows     int
	first, last hostWindow
}

// hostWindow is the number of requests in one window.
type hostWindow struct {
	start, end time.Time
	completed  int64
}

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

// iops returns the rates of all windows except the first and the last, which may be cut by the host's start and end.
// If there are few windows, it returns all.
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

// hostTable lists the hosts of a direction, the slowest first.
type hostTable struct {
	Direction string
	Rows      []row
	Left      int // number of faster hosts that are left out
}

// hostNumbers are the numbers of a row: requests per second, and latencies in nanoseconds.
type hostNumbers struct {
	*hostSum
	perSecond     float64
	p50, p99, max hist.Answer
}

// newHostTable returns the table of a direction. Bars are relative to the highest number in the table.
func newHostTable(direction string, sums []*hostSum, hosts []mapping.RunHost) hostTable {
	var list []hostNumbers
	var highest hostNumbers
	for _, s := range sums {
		v := hostNumbers{hostSum: s, perSecond: s.iops()}
		if h := &s.requests; !h.IsEmpty() {
			v.p50, v.p99, v.max = h.Percentile(0.5), h.Percentile(0.99), h.Max()
		}
		list = append(list, v)
		highest.perSecond, highest.p50.Value = max(highest.perSecond, v.perSecond), max(highest.p50.Value, v.p50.Value)
		highest.p99.Value, highest.max.Value = max(highest.p99.Value, v.p99.Value), max(highest.max.Value, v.max.Value)
	}
	slices.SortFunc(list, func(a, b hostNumbers) int {
		return cmp.Or(cmp.Compare(micros(b.p99.Value), micros(a.p99.Value)), cmp.Compare(micros(b.max.Value), micros(a.max.Value)),
			strings.Compare(a.host, b.host))
	})
	skew := map[string]string{}
	for _, h := range hosts {
		skew[h.Name] = unit.Elapsed(time.Duration(h.SkewMS) * time.Millisecond)
	}
	latency := func(a, highest hist.Answer) cell {
		us := micros(a.Value)
		return cell{Text: unit.OrMore(unit.Latency(us), a.Open), Bar: percentOf(us, micros(highest.Value))}
	}
	t := hostTable{Direction: direction, Left: max(len(list)-maxHosts, 0)}
	for _, v := range list[:len(list)-t.Left] {
		t.Rows = append(t.Rows, row{v.host, []cell{
			{Text: unit.Count(v.completed)}, {Text: unit.Rate(v.perSecond), Bar: percentOf(v.perSecond, highest.perSecond)},
			latency(v.p50, highest.p50), latency(v.p99, highest.p99), latency(v.max, highest.max), {Text: skew[v.host]},
		}})
	}
	return t
}

// percentOf returns x relative to highest as a CSS percentage.
func percentOf(x, highest float64) string {
	if !(highest > 0) {
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*x/highest)
}
