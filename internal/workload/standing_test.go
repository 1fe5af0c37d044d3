package workload

import (
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// TestStanding: a new run is slower or faster only if it lies beyond all runs before it, and nothing is said of runs that are not there.
func TestStanding(t *testing.T) {
	n := 0
	of := func(p99s ...float64) (runs []*mapping.Run) {
		for _, us := range p99s {
			n++
			r := &mapping.Run{}
			r.Run.ID, r.Run.Start = string(rune('a'+n)), time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC)
			r.Read = &mapping.Totals{Requests: 1000}
			r.Read.Latency.P99, r.Read.Latency.Layout = us, "fio-64-29-ns"
			runs = append(runs, r)
		}
		return runs
	}
	for want, c := range map[string][2][]*mapping.Run{
		"p99 of reads 2.00ms":                                                                    {of(2000), nil},
		"p99 of reads 2.00ms (the run before: 1.00ms)":                                           {of(2000), of(1000)},
		"p99 of reads 2.00ms, slower than the 3 runs before (1.00ms to 1.90ms)":                  {of(2000), of(1000, 1900, 1500)},
		"p99 of reads 500µs to 900µs in 2 runs, faster than the 3 runs before (901µs to 2.00ms)": {of(500, 900), of(2000, 901, 950)},
		"p99 of reads 2.00ms (the 3 runs before: 1.00ms to 2.10ms)":                              {of(2000), of(1000, 2100, 1500)},
	} {
		if got := Standing(c[0], c[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
