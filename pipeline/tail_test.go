package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// TestShortPhase: reads that verify what was written, in less than an interval, have no row. Nothing is missing from the log
// then, unless it ends long before.
func TestShortPhase(t *testing.T) {
	for ran, want := range map[int64]string{2400: "in no row of its log: fio writes the first row of a direction 1000 ms after", 9000: "if the log was cut"} {
		out, entries := outputOf(ran/1000+1, section{ran: ran, log: -1})
		out.File = &source.File{Path: "out.json"}
		e, writes, reads := entries[0], recordOf([]uint64{20}), recordOf([]uint64{5000})
		for d, rec := range []*fiolog.Record{reads, writes} {
			e.Directions[d] = fiolog.DirectionStats{TotalIOs: rec.Total, Runtime: ran}
			e.Directions[d].Clat.Bins, e.Directions[d].Clat.N = rec.Bins, rec.Total
		}
		j := newJob(cbt.Log{File: &source.File{Path: "out_clat_hist.1.log"}, Job: 1})
		j.entry, j.interval, j.source, j.hasRows = e, 1000, fromHist, true
		e.jobs = []*job{j}
		problems := &Problems{}
		r := newReading(&plan{run: &cbt.Run{}, jobs: e.jobs, entries: entries}, problems)
		for _, at := range []int64{1000, 2000} {
			row := recordOf([]uint64{10})
			for _, row := range r.tallies[j].split.Split(at, fiolog.Write, hist.Layout{}, row.Bins, row.Total) {
				r.tallies[j].add(&row, true)
			}
		}
		rows := r.tail(e)
		if _, missing := r.unlogged(); len(rows) > 0 || missing[fiolog.Read] != 5000 || !strings.Contains(fmt.Sprint(problems.Notes()), want) {
			t.Errorf("%d ms: %d rows, missing %v, %v", ran, len(rows), missing, problems.Notes())
		}
	}
}

// TestTail: what a report counts beyond two rows of a second each is between the last row and the end,
// unless that is too long, too much, or not the only part that is missing.
func TestTail(t *testing.T) {
	for _, c := range []struct {
		name       string
		reported   []uint64 // requests in each bin
		ran        int64    // milliseconds
		torn       bool     // rows in the middle were skipped
		cut        bool     // the end of the log was
		want       string   // the row
		missing    int64
		skipped    int
		noBins     bool
		wrongTotal bool
	}{
		{name: "nothing is missing", reported: []uint64{20, 2}, ran: 2000, want: "[]"},
		{name: "the part of an interval", reported: []uint64{23, 2}, ran: 2400, want: "[2000-2400: 3]"},
		{name: "the log was cut", reported: []uint64{30, 2}, ran: 3500, cut: true, want: "[2000-3500: 10]"},
		{name: "the log ends long before", reported: []uint64{70, 2}, ran: 9000, want: "[]", missing: 50},
		{name: "too many for the time", reported: []uint64{900, 2}, ran: 2400, want: "[]", missing: 880},
		{name: "rows in the middle are missing", reported: []uint64{23, 2}, ran: 2400, torn: true, want: "[]", missing: 3},
		{name: "more rows than requests", reported: []uint64{10, 2}, ran: 2400, want: "[]", skipped: 1},
		{name: "other bins", reported: []uint64{23, 1}, ran: 2400, want: "[]", missing: 2, skipped: 1},
		{name: "a report without bins", reported: []uint64{23, 2}, ran: 2400, noBins: true, want: "[]", missing: 3},
		{name: "a damaged report", reported: []uint64{23, 2}, ran: 2400, wrongTotal: true, want: "[]", missing: 4, skipped: 1},
	} {
		out, entries := outputOf(c.ran/1000+1, section{ran: c.ran, log: -1})
		out.File = &source.File{Path: "out.json"}
		e, rec := entries[0], recordOf(c.reported)
		e.Directions[0] = fiolog.DirectionStats{TotalIOs: rec.Total, Runtime: c.ran}
		if !c.noBins {
			e.Directions[0].Clat.Bins, e.Directions[0].Clat.N = rec.Bins, rec.Total
		}
		if c.wrongTotal {
			e.Directions[0].TotalIOs, e.Directions[0].Clat.N = rec.Total+1, 0
		}
		j := newJob(cbt.Log{File: &source.File{Path: "out_clat_hist.1.log"}, Job: 1})
		j.entry, j.interval, j.source, j.hasRows = e, 1000, fromHist, true
		e.jobs = []*job{j}
		problems := &Problems{}
		r := newReading(&plan{run: &cbt.Run{}, jobs: e.jobs, entries: entries}, problems)
		of := r.tallies[j]
		for _, at := range []int64{1000, 2000} {
			row := recordOf([]uint64{10, 1})
			for _, row := range of.split.Split(at, fiolog.Read, hist.Layout{}, row.Bins, row.Total) {
				of.add(&row, true)
			}
		}
		of.damaged, of.cut = c.torn || c.cut, c.cut
		got := []string{}
		recovered := int64(0)
		for _, row := range r.tail(e) {
			got = append(got, fmt.Sprintf("%d-%d: %d", row.Start, row.End, row.Total))
			recovered += int64(row.Total)
		}
		sum, missing := r.unlogged()
		if fmt.Sprint(got) != c.want || sum != recovered || missing[0] != c.missing || len(problems.Skipped()) != c.skipped {
			t.Errorf("%s: %v, want %s; %d recovered, %d missing, %v", c.name, got, c.want, sum, missing[0], problems.Skipped())
		}
	}
}
