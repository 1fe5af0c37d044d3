package window

import (
	"slices"

	"github.com/fio2es/fio2es/mapping"
)

// HostTotals returns the totals of a host in one direction, of which w is the sum of all windows, and sets the requests, rate and
// latencies of w to these. Those of a single host are the run's. It returns nil if the run document has no totals of hosts.
func HostTotals(doc *mapping.Run, w *Window) (*mapping.Totals, error) {
	if len(doc.Hosts) == 1 {
		for _, d := range doc.ByDirection() {
			if d.Direction == w.Direction && d.Requests > 0 && !w.Averaged {
				if w.Completed, w.IOPS, w.Latency = d.Requests, d.IOPS, d.Latency; !d.Latency.Bins.IsZero() {
					w.Counts = nil
				}
				return d.Totals, nil
			}
		}
		return nil, nil
	}
	i := slices.IndexFunc(doc.Hosts, func(h mapping.RunHost) bool { return h.Name == w.Host })
	if i < 0 || doc.Hosts[i].Of(w.Direction) == nil {
		return nil, nil
	}
	h, err := w.Histogram()
	if err != nil || h == nil {
		return nil, err
	}
	t := doc.Hosts[i].Of(w.Direction).Totals(h)
	w.Completed, w.IOPS, w.Latency, w.Counts = t.Requests, t.IOPS, t.Latency, nil
	return t, nil
}
