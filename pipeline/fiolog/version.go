package fiolog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
)

// WritesHalf reports whether this fio has no counts in the second half of the columns of its histogram logs, but
// what was in its memory: fio 3.6 to 3.16.
func (r *Report) WritesHalf() bool { return r.isBetween(6, 16) }

// isBetween reports whether the version of fio is from 3.first to 3.last.
func (r *Report) isBetween(first, last int) bool {
	var minor int
	_, err := fmt.Sscanf(r.Version, "fio-3.%d", &minor)
	return err == nil && minor >= first && minor <= last
}

// moveTotals moves total latencies to where they belong. Up to 3.17 fio has one table for both, and with lat_percentiles
// it has total latencies, in logs too. Their percentiles, and in 3.1 their bins, are under clat_ns.
func (r *Report) moveTotals() {
	if !r.isBetween(1, 17) {
		return
	}
	for i := range r.Jobs {
		if on, ok := r.Option(i, "lat_percentiles"); !ok || on == "0" {
			continue
		}
		for _, s := range r.Jobs[i].All() {
			if len(s.Lat.Bins) == 0 {
				s.Lat.Bins, s.Lat.Layout = s.Clat.Bins, s.Clat.Layout
			}
			if len(s.Lat.Percentiles) == 0 {
				s.Lat.Percentiles = s.Clat.Percentiles
			}
			s.Clat.Bins, s.Clat.Percentiles = nil, nil
		}
	}
}

// versionUnit is what a version of fio counts latencies in: "fio-3.33".
func versionUnit(version string) hist.Unit {
	_, number, _ := strings.Cut(version, "-")
	major, _, _ := strings.Cut(number, ".")
	switch n, err := strconv.Atoi(major); {
	case err != nil || n < 1:
		return hist.UnknownUnit
	case n < 3:
		return hist.Microseconds
	}
	return hist.Nanoseconds
}
