package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

type hostKey struct{ direction, host string }

// hostSum is the sum of a host's windows in one direction.
type hostSum struct {
	window.Sum
	served      float64 // see [window.Window.Served]
	windows     int
	first, last *window.Window
}

func (s *hostSum) add(w *window.Window, requests *hist.Histogram) {
	s.AddWith(w, requests)
	s.served += w.Served()
	if s.windows++; s.windows == 1 {
		s.first = w
	}
	s.last = w
}

// iops returns the rates of all windows except the first and the last, which may be cut by the host's start and end.
// If there are few windows, it returns all. It is NaN if the rate is not known.
func (s *hostSum) iops() float64 {
	const few = 4
	served, from, to := s.served-s.first.Served()-s.last.Served(), s.first.End, s.last.Start
	if s.windows < few {
		served, from, to = s.served, s.first.Start, s.last.End
	}
	if !to.After(from) {
		return math.NaN()
	}
	return math.Round(1000*served/to.Sub(from).Seconds()) / 1000
}

// host has the numbers of a host in one direction.
type host struct {
	*window.Window // the sum of its windows
	iops           float64
	latencies      facts.Latencies
	skew           *int64 // in milliseconds after the first host; nil if it is not known
}

// hostsOf returns the hosts of a direction, the slowest first. Sums of whole runs have the totals of hosts in the document.
func hostsOf(direction string, sums map[hostKey]*hostSum, doc *mapping.Run, isWhole bool) (list []*host, err error) {
	for of, s := range sums {
		if of.direction != direction {
			continue
		}
		all := s.Windows()[0]
		all.Host = of.host
		h := &host{Window: all, iops: s.iops(), latencies: facts.LatenciesOf(&all.Latency)}
		if isWhole {
			t, err := window.HostTotals(doc, all)
			if err != nil {
				return nil, err
			}
			if t != nil {
				h.iops, h.latencies = t.IOPS, facts.LatenciesOfTotals(t)
			}
		}
		if direction == mapping.Sync {
			h.iops = math.NaN()
		}
		if i := slices.IndexFunc(doc.Hosts, func(h mapping.RunHost) bool { return h.Name == of.host }); i >= 0 {
			h.skew = &doc.Hosts[i].SkewMS
		}
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b *host) int {
		return cmp.Or(cmp.Compare(b.latencies.Number("p99").Low, a.latencies.Number("p99").Low), cmp.Compare(b.Latency.Max, a.Latency.Max), strings.Compare(a.Host, b.Host))
	})
	return list, nil
}

// apart says why the IOPS of the hosts of a direction do not add up to those of the run, if they differ by more than 1 %.
func apart(hosts []*host, totals []*total) string {
	const little = 0.01
	sum := 0.0
	for _, h := range hosts {
		sum += h.iops
	}
	for _, t := range totals {
		if t.Direction == hosts[0].Direction && math.Abs(sum/t.IOPS-1) > little {
			return fmt.Sprintf("The IOPS of hosts add up to %s of %s, and the run has %s: each host counts its own time.",
				unit.Rate(sum), mapping.Plural(t.Direction), unit.Rate(t.IOPS))
		}
	}
	return ""
}

// hostColumns are the columns of hosts on pages and screens.
func hostColumns() []table.Column[*host] {
	isSkewKnown := func(h *host) bool { return h.skew != nil }
	return slices.Concat([]table.Column[*host]{
		{Name: "host", Heading: "Host", Value: func(h *host) any { return h.Host }},
		{Name: "direction", Heading: "Dir", Value: func(h *host) any { return h.Direction }},
		{
			Name: "requests", Heading: ">Requests", Value: func(h *host) any { return h.Completed },
			Text: func(h *host) string { return facts.RequestsText(&h.Latency, h.Completed) },
		},
		{
			Name: "iops", Heading: ">IOPS", Value: func(h *host) any { return h.iops },
			Text: func(h *host) string { return unit.Rate(h.iops) },
		},
	},
		table.Hide(facts.LatencyColumns(func(h *host) *facts.Latencies { return &h.latencies }), "min", "mean", "p75", "p90", "p95", "p99_9", "p99_99"),
		table.Where(isSkewKnown, []table.Column[*host]{{
			Name: "skew", Unit: "ms", Heading: ">Skew", Value: func(h *host) any { return *h.skew },
			Text: func(h *host) string { return unit.Elapsed(time.Duration(*h.skew) * time.Millisecond) },
		}}))
}
