package account_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// report is what fio reports of a job or a group.
type report struct {
	ran     int64    // milliseconds
	reads   []uint64 // requests in each bin
	writes  []uint64
	options map[string]string
	size    int // jobs that it stands for; 0: as many as there are logs
	noBins  bool
	total   uint64  // total_ios of reads, if it is not that of the bins
	rate    float64 // of reads, in place of their number
	several bool    // its jobs ran one after another
	mixed   bool    // reads are of all directions
}

// log is the rows of a job, of a second each.
type log struct {
	ends      []int64  // when rows end
	counts    []uint64 // requests of the rows, in turn; nil: ten each
	slow      uint64   // more requests of each row, in the second bin
	direction fiolog.Direction
	begins    int64 // milliseconds after the first job
	torn, cut bool  // rows were skipped, or are missing at the end
	isZero    bool  // rows have no latencies
	exact     bool  // the interval is fio's
}

// second is a log of rows of ten requests each.
func second(ends ...int64) log { return log{ends: ends} }

// entry returns an entry of a report.
func (r report) entry(jobs int) *assign.Entry {
	of := fiolog.Job{Name: "job0", Elapsed: r.ran/1000 + 1, Options: r.options}
	for d, counts := range [][]uint64{r.reads, r.writes} {
		bins, total := binsOf(counts)
		stats := &of.Directions[d]
		if *stats = (fiolog.DirectionStats{TotalIOs: total, Runtime: r.ran, IOBytes: total * 4096}); total > 0 {
			stats.Clat.Mean = 1
		}
		if r.noBins {
			continue
		}
		stats.Clat.Bins, stats.Clat.N = bins, total
	}
	if reads := &of.Directions[fiolog.Read]; r.total > 0 {
		reads.TotalIOs, reads.Clat.N = r.total, 0
	}
	if reads := &of.Directions[fiolog.Read]; r.rate > 0 {
		reads.IOPS, reads.Uncounted, reads.Clat.Mean = r.rate, true, 1
	}
	if r.mixed {
		mixed := of.Directions[fiolog.Read]
		of.Mixed, of.Directions[fiolog.Read] = &mixed, fiolog.DirectionStats{}
	}
	fio := evidence.Execution{Fio: &fiolog.Report{Timestamp: 1_764_000_000_000, Jobs: []fiolog.Job{of}}}
	out := &assign.Output{Report: assign.Report{File: fileOf("out.json")}, Execution: fio}
	e := assign.NewEntries(out)[0]
	if e.Size = r.size; r.size == 0 {
		e.Size = jobs
	}
	e.Several = r.several
	return e
}

func fileOf(name string) *evidence.File {
	return evidence.Of(&source.File{Path: name})
}

// binsOf returns bins with some counts, and their sum.
func binsOf(counts []uint64) (bins []hist.Bin, total uint64) {
	for i, n := range counts {
		if n > 0 {
			bins, total = append(bins, hist.Bin{Index: uint32(i), Count: n}), total+n
		}
	}
	return bins, total
}

// read returns a run of one entry whose logs were read.
func read(of report, logs ...log) *account.Read {
	e := of.entry(len(logs))
	r := &account.Read{Plan: &plan.Plan{Title: "run", Run: &assign.Run{}, Entries: []*assign.Entry{e}, JobsOf: map[*assign.Entry][]*plan.Job{}}, Counts: map[*plan.Job]*account.Counts{}}
	for i, l := range logs {
		j := &plan.Job{Job: *assign.NewJob(&assign.JobLog{Log: assign.Log{File: fileOf(fmt.Sprintf("out_clat_hist.%d.log", i+1)), Job: i + 1}, Segment: -1})}
		j.Entry, j.Interval, j.Source, j.HasRows, j.Offset, j.Ran, j.Log.IsZero, j.Exact = e, 1000, assign.FromHist, len(l.ends) > 0, l.begins, of.ran, l.isZero, l.exact
		e.Jobs = append(e.Jobs, &j.Job)
		r.Plan.Jobs, r.Counts[j] = append(r.Plan.Jobs, j), l.read()
	}
	r.Plan.JobsOf[e] = r.Plan.Jobs
	return r
}

// read counts the rows of a log.
func (l log) read() *account.Counts {
	c, split := &account.Counts{Ended: true, Damaged: l.torn || l.cut, Cut: l.cut}, align.NewSplitter(1000)
	if l.counts == nil {
		l.counts = []uint64{10}
	}
	for k, at := range l.ends {
		bins, total := binsOf([]uint64{l.counts[k%len(l.counts)], l.slow})
		for _, row := range split.Split(at, l.direction, hist.Layout{}, bins, total) {
			c.Add(&row, 1000, true)
		}
	}
	for d := range c.Directions {
		c.Directions[d].Tail = split.Tail(fiolog.Direction(d))
	}
	return c
}

// requests are so many of one bin.
func requests(n uint64) []uint64 { return []uint64{n} }

// TestTail: what a report counts beyond the rows is between the last row and the end of the job, unless that is too long, too
// much, or not the only part that is missing.
func TestTail(t *testing.T) {
	const (
		cut    = "requests of the report are not in its log"
		atEnd  = "in windows they are spread evenly"
		spread = "requests at their ends are divided"
		hidden = "they are in its last window, whose rate is too high"
		others = "some rows are of another run"
	)
	two := log{ends: []int64{1000, 2000}, slow: 1}
	chance := log{ends: []int64{1000, 2000, 3000, 4002}, counts: []uint64{380, 401, 391, 370}}
	full := log{ends: []int64{1000, 2000, 3000}, counts: requests(500)}
	ramp := map[string]string{"ramp_time": "2", "iodepth": "3"}
	inFlight := func(options map[string]string, jobs uint64) report {
		return report{ran: 2990, reads: requests(20*jobs - 3), noBins: true, options: options}
	}
	for _, c := range []struct {
		name    string
		of      report
		logs    []log
		want    string // rows: begin, end, requests
		missing int64  // of reads
		says    string // nothing if it is empty
	}{
		{"nothing is missing", report{ran: 2000, reads: []uint64{20, 2}}, []log{two}, "", 0, ""},
		{"the part of an interval", report{ran: 2400, reads: []uint64{23, 2}}, []log{two}, "2000-2400: 3", 0, ""},
		{"the log was cut", report{ran: 3500, reads: requests(30)}, []log{{ends: []int64{1000, 2000}, cut: true}}, "2000-3500: 10", 0, ""},
		{"nothing in the last second", report{ran: 3900, reads: []uint64{28, 2}}, []log{two}, "2000-3000: 8", 0, ""},
		{"the log ends long before", report{ran: 9000, reads: []uint64{70, 2}}, []log{two}, "", 50, cut},
		{"too many for the time", report{ran: 2400, reads: []uint64{900, 2}}, []log{two}, "", 880, cut},
		{"rows in the middle are missing", report{ran: 2400, reads: requests(23)}, []log{{ends: []int64{1000, 2000}, torn: true}}, "", 3, ""},
		{"more rows than requests", report{ran: 2400, reads: []uint64{10, 2}}, []log{two}, "", 0, others},
		{"other bins", report{ran: 2400, reads: []uint64{23, 1}}, []log{two}, "", 2, "the bins of its logs are not among those of the report"},
		{"a report without bins", report{ran: 2400, reads: []uint64{23, 2}, noBins: true}, []log{two}, "", 3, ""},
		{"a damaged report", report{ran: 2400, reads: []uint64{23, 2}, total: 26}, []log{two}, "", 4, "the report is damaged"},
		{"fio was killed before its jobs", report{ran: 1000, reads: []uint64{10, 1}}, []log{two}, "", 0, "fio was killed or had no room for its last report"},
		{"no rows, and none were wanted", report{ran: 9000, reads: requests(23)}, []log{{}}, "", 0, ""},
		{"rows without latencies", report{ran: 2400, reads: requests(23)}, []log{{ends: []int64{1000, 2000}, isZero: true}}, "", 3, ""},

		// Rows that are missing at the begin or the end, by when fio would have written them and by the number of requests.
		{"all there", report{ran: 3950, reads: requests(39)}, []log{second(1000, 2000, 3000)}, "3000-3950: 9", 0, ""},
		{"the last row is missing", report{ran: 3950, reads: requests(39)}, []log{second(1000, 2000)}, "2000-3950: 19", 0, atEnd},
		{"the last rows of two logs", report{ran: 3950, reads: requests(78)}, []log{second(1000, 2000), second(1000, 2000)}, "2000-3950: 38", 0, atEnd},
		{"the last row of one of two", report{ran: 3950, reads: requests(78)}, []log{second(1000, 2000, 3000), second(1000, 2000)}, "3000-3950: 9; 2000-3950: 19", 0, atEnd},
		{"the last row, and more than usual behind it", report{ran: 3950, reads: requests(60)}, []log{second(1000, 2000)}, "", 40, cut},
		{"nothing completed in the last second", report{ran: 3950, reads: requests(30)}, []log{second(1000, 2000)}, "2000-3000: 10", 0, ""},
		{"the first row", report{ran: 3950, reads: requests(39)}, []log{second(2000, 3000)}, "", 19, cut},
		{"the first row, with a short end", report{ran: 3250, reads: requests(32)}, []log{second(2000, 3000)}, "", 12, cut},
		{"a direction that began late", report{ran: 3950, reads: requests(29)}, []log{second(2000, 3000)}, "3000-3950: 9", 0, ""},
		{"the last two rows of one of two", report{ran: 3950, reads: requests(78)}, []log{second(1000, 2000, 3000), second(1000)}, "", 38, cut},
		{"the last row, by a report without bins", report{ran: 3950, reads: requests(39), noBins: true}, []log{second(1000, 2000)}, "", 19, cut},
		{"a quiet end, by a report without bins", report{ran: 3950, reads: requests(30), noBins: true}, []log{second(1000, 2000)}, "", 10, ""},

		// Requests that come by chance (rate_process=poisson) are not as many in each second.
		{"few by chance", report{ran: 5108, reads: requests(1542 + 300)}, []log{chance}, "4002-5000: 300", 0, ""},
		{"some more than in the largest row", report{ran: 5108, reads: requests(1542 + 431)}, []log{chance}, "4002-5000: 431", 0, ""},
		{"twice as many are a lost row", report{ran: 5108, reads: requests(1542 + 800)}, []log{chance}, "", 800, cut},

		// After a stall fio makes up for a fixed rate, so the last part of an interval may have the requests of several.
		{"a burst after a stall", report{ran: 4990, reads: requests(340)}, []log{second(1000, 2000, 4500, 4500)}, "4500-4990: 300", 0, ""},
		{"no note on it", report{ran: 4550, reads: requests(340)}, []log{second(1000, 2000, 4500, 4500)}, "4500-4550: 300", 0, ""},
		{"a stall that is over", report{ran: 6490, reads: requests(360)}, []log{second(1000, 2000, 4500, 4500, 5000, 6000)}, "", 300, cut},
		{"the next request would have written a row", report{ran: 5600, reads: requests(30)}, []log{{ends: []int64{1000, 4500}, exact: true}}, "", 10, cut},
		{"unless the interval is not known", report{ran: 5600, reads: requests(30)}, []log{second(1000, 4500)}, "4500-4500: 10", 0, ""},
		{"a row was due after it", report{ran: 5600, reads: requests(75)}, []log{second(1000, 2000, 4500, 4500)}, "4500-5000: 35", 0, ""},
		{"too many after it", report{ran: 5600, reads: requests(340)}, []log{second(1000, 2000, 4500, 4500)}, "", 300, cut},
		{"a burst without a stall", report{ran: 4990, reads: requests(140)}, []log{second(1000, 2000, 3000, 4000)}, "", 100, cut},

		// The time after the log has no room for so many.
		{"no time", report{ran: 3000, reads: requests(1500 + 319)}, []log{full}, "3000-3000: 319", 0, hidden},
		{"little time", report{ran: 3040, reads: requests(1500 + 319)}, []log{full}, "3000-3040: 319", 0, hidden},
		{"few", report{ran: 3000, reads: requests(1500 + 30)}, []log{full}, "3000-3000: 30", 0, ""},
		{"enough time", report{ran: 3500, reads: requests(1500 + 319)}, []log{full}, "3000-3500: 319", 0, ""},

		// Jobs of a group whose logs ended apart have an end each, whose requests are divided in proportion to their rates.
		{"ends apart", report{ran: 4000, reads: requests(50 + 14)}, []log{second(1000, 2000, 3000), {ends: []int64{1000, 2000}, begins: 2000}}, "3000-4000: 7; 4000-5000: 7", 0, spread},
		{"the second began before the first", report{ran: 4000, reads: requests(30 + 5), size: 1}, []log{{}, {ends: []int64{1000, 2000, 3000}, begins: -9000}}, "-6000--5000: 5", 0, ""},
		{"far apart", report{ran: 4400, reads: requests(40)}, []log{second(1000), second(4000)}, "1000-2000: 14; 4000-4400: 6", 0, spread},
		{"too far apart", report{ran: 9000, reads: requests(40)}, []log{second(1000), second(4000)}, "", 20, cut},
		{"logs of other jobs are missing", report{ran: 1500, reads: requests(30), size: 2}, []log{second(1000)}, "", 20, ""},
		{"none are", report{ran: 1500, reads: requests(30)}, []log{second(1000)}, "1000-1500: 20", 0, ""},
		{"stages in one log", report{ran: 5400, reads: requests(45), several: true}, []log{second(1000, 2000, 4000, 5000)}, "", 5, "those at the ends of its stages"},

		// Reads that verify what was written, in less than an interval, have no row.
		{"a short phase", report{ran: 2400, reads: requests(5000), writes: requests(20)}, []log{{ends: []int64{1000, 2000}, direction: fiolog.Write}}, "", 5000,
			"in no row of its log: fio writes the first row of a direction 1000 ms after"},
		{"it would have had rows", report{ran: 9000, reads: requests(5000), writes: requests(20)}, []log{{ends: []int64{1000, 2000}, direction: fiolog.Write}}, "", 5000,
			"5000 requests of the report are not in its log, which ends at 0 ms of 9000"},

		// Requests in flight when ramp_time ended are in the logs and not in total_ios, at most iodepth of each job.
		{"in flight", inFlight(ramp, 1), []log{second(1000, 2000)}, "", 0, ""},
		{"more than iodepth", inFlight(map[string]string{"ramp_time": "2", "iodepth": "2"}, 1), []log{second(1000, 2000)}, "", 0, others},
		{"of two jobs", inFlight(map[string]string{"ramp_time": "2", "iodepth": "2"}, 2), []log{second(1000, 2000), second(1000, 2000)}, "", 0, ""},
		{"a depth of one", inFlight(map[string]string{"ramp_time": "2"}, 1), []log{second(1000, 2000)}, "", 0, others},
		{"no ramp", inFlight(map[string]string{"iodepth": "3"}, 1), []log{second(1000, 2000)}, "", 0, others},

		// All directions in one (unified_rw_reporting): only the rows divide them.
		{"mixed", report{ran: 2400, reads: requests(20 + 40 + 12), mixed: true, options: map[string]string{"rw": "randrw"}},
			[]log{second(1000, 2000), {ends: []int64{1000, 2000}, counts: requests(20), direction: fiolog.Write}}, "2000-2400: 4; 2000-2400: 8", 0, "the 12 requests of its end are divided"},
		{"mixed, damaged", report{ran: 2400, reads: requests(30), total: 40, mixed: true, options: map[string]string{"rw": "randrw"}}, []log{second(1000, 2000)}, "", 20, "the report is damaged"},
		{"mixed, more rows than requests", report{ran: 2400, reads: requests(10), mixed: true, options: map[string]string{"rw": "randrw"}}, []log{second(1000, 2000)}, "", 0, "more than the 10 of the report"},
	} {
		r := read(c.of, c.logs...)
		a := r.Entry(r.Plan.Entries[0])
		var rows []string
		for _, row := range a.Tail {
			rows = append(rows, fmt.Sprintf("%d-%d: %d", row.Start, row.End, row.Total))
		}
		if got := strings.Join(rows, "; "); got != c.want {
			t.Errorf("%s: rows %q, want %q", c.name, got, c.want)
		}
		said := fmt.Sprint(a.Remarks.Skipped, a.Remarks.Lacking, a.Remarks.Notes)
		if a.Missing[fiolog.Read] != c.missing || (c.says == "") != (said == "[] [] []") || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d missing, want %d; %s", c.name, a.Missing[fiolog.Read], c.missing, said)
		}
	}
}
