package account_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// unread returns a run without logs.
func unread(of report) *account.Read {
	r := read(of, log{})
	r.Plan.Jobs[0].Source = assign.FromNothing
	return r
}

// TestTotals: requests, bytes and rates of reads, by reports, rows or windows.
func TestTotals(t *testing.T) {
	type totals struct { // of reads
		Requests, Bytes, Unbinned, DurationMS int64
		IOPS                                  float64
		IsBound, IsExact                      bool // percentiles lie between bounds, or extremes and means are fio's
	}
	alone := func() *account.Read { // without a report
		r := read(report{}, second(1000, 2000))
		r.Plan.Entries, r.Plan.Jobs[0].Entry, r.Plan.Jobs[0].Ran = nil, nil, 0
		r.Windowed[fiolog.Read] = r.Counts[r.Plan.Jobs[0]].Directions[fiolog.Read].Sum
		return r
	}
	lacks := func() *account.Read { // a report of one of two jobs
		r, more := read(report{ran: 2400, reads: requests(23)}, second(1000, 2000)), alone()
		j := more.Plan.Jobs[0]
		r.Plan.Jobs, r.Counts[j] = append(r.Plan.Jobs, j), more.Counts[j]
		return r
	}
	for _, c := range []struct {
		name string
		of   *account.Read
		want totals
		all  bool // totals of all directions are those of reads
	}{
		{"bins of the report", read(report{ran: 2500, reads: requests(25)}, second(1000, 2000)), totals{25, 102400, 0, 2500, 10, false, true}, true},
		{"a report without bins", read(report{ran: 2500, reads: requests(25), noBins: true}, second(1000, 2000)), totals{25, 102400, 5, 2500, 10, true, true}, true},
		{"the rows of a damaged report", read(report{ran: 2500, reads: requests(25), total: 40}, second(1000, 2000)), totals{20, 102400, 0, 2500, 8, false, false}, true},
		{"logs longer than the report", read(report{ran: 1000, reads: requests(10)}, second(1000, 2000)), totals{20, 81920, 0, 2000, 10, false, false}, true},
		{"windows alone", alone(), totals{20, 0, 0, 2000, 10, false, false}, true},
		{"a report of one of two jobs", lacks(), totals{43, 0, 0, 2400, 17.917, false, false}, true},
		{"of a fio that was killed", unread(report{ran: 2500, reads: requests(100), total: 101}), totals{101, 409600, 1, 2500, 40.4, true, false}, true},
		{"only a rate", unread(report{ran: 2500, rate: 40}), totals{0, 0, 0, 2500, 40, false, false}, true},
		{"two directions", read(report{ran: 2500, reads: requests(25), writes: requests(50)}, second(1000, 2000)), totals{25, 102400, 0, 2500, 10, false, true}, false},
		{"all directions in one", read(report{ran: 2500, reads: requests(40), mixed: true, options: map[string]string{"rw": "randrw"}},
			second(1000, 2000), log{ends: []int64{1000}, direction: fiolog.Write}), totals{27, 110592, 0, 2500, 10.8, false, false}, false},
	} {
		a := account.Of(c.of)
		if a.Read == nil || a.All == nil {
			t.Errorf("%s: no totals", c.name)
			continue
		}
		got := totals{a.Read.Requests, a.Read.Bytes, a.Read.Unbinned, a.Read.DurationMS, a.Read.IOPS, a.Read.Bounds != nil, a.Read.Latency.Exact}
		if diff := cmp.Diff(c.want, got); diff != "" || (a.All.Requests == a.Read.Requests) != c.all {
			t.Errorf("%s (-want +got): %d requests of all\n%s", c.name, a.All.Requests, diff)
		}
	}
}

// TestMissing: requests that are in no window, and what is said of that.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name      string
		of        report
		logs      []log
		missing   int64
		recovered int64
		says      string
	}{
		{"the tail is there", report{ran: 2500, reads: requests(25)}, []log{second(1000, 2000)}, 0, 5, ""},
		{"a log ends long before", report{ran: 9000, reads: requests(70)}, []log{second(1000, 2000)}, 50, 0, "run: 50 read requests are in fio's total and in no window"},
		{"a report alone", report{ran: 2500, reads: requests(25)}, []log{{}}, 0, 0, "run: " + plan.NoWindowsPrefix},
		{"a log without rows", report{ran: 2500, reads: requests(25), options: map[string]string{"write_hist_log": "a", "log_hist_msec": "1000"}}, nil, 25, 0, "run: " + plan.NoWindowsPrefix},
	} {
		r := read(c.of, c.logs...)
		if c.logs == nil {
			r = unread(c.of)
			r.Plan.Run.Logs = []assign.Log{r.Plan.Jobs[0].Log.Log}
		} else if len(c.logs[0].ends) == 0 {
			r = unread(c.of)
		}
		a := account.Of(r)
		var said []string
		for _, err := range append(a.OfRun.Skipped, a.OfRun.Notes...) {
			said = append(said, err.Error())
		}
		if text := strings.Join(said, "; "); a.Missing[fiolog.Read] != c.missing || a.Recovered != c.recovered || !strings.HasPrefix(text, c.says) || (text == "") != (c.says == "") {
			t.Errorf("%s: %d missing, %d recovered: %s", c.name, a.Missing[fiolog.Read], a.Recovered, text)
		}
	}
}

// TestUnknownDirections: without rows nothing shows how requests of all directions in one divide.
func TestUnknownDirections(t *testing.T) {
	a := account.Of(unread(report{ran: 2500, reads: requests(25), mixed: true, options: map[string]string{"rw": "randrw"}}))
	if a.Read != nil || a.Write != nil || a.All == nil || a.All.Requests != 25 || a.All.Bytes != 102400 || a.All.IOPS != 10 {
		t.Errorf("reads %+v, all %+v", a.Read, a.All)
	}
}

// TestFioLatency: what fio computed of several entries can be joined but for percentiles.
func TestFioLatency(t *testing.T) {
	of := func(n uint64, least, most int64, mean, deviation float64, p50 int64) *fiolog.DirectionStats {
		return &fiolog.DirectionStats{TotalIOs: n, Clat: fiolog.Latency{
			Min: least, Max: most, Mean: mean, StdDev: deviation, Percentiles: []fiolog.Percentile{{Rank: 50, Value: p50}},
		}}
	}
	binned := of(1, 1, 2, 1, 0, 1)
	binned.Clat.Bins = []hist.Bin{{Index: 1, Count: 1}}
	total := &fiolog.DirectionStats{TotalIOs: 5, Lat: of(5, 4000, 6000, 5000, 1, 5000).Clat}
	both := *total
	both.FromSubmission, both.Clat.Mean = true, 1
	one := of(300, 1000, 9000, 4000, 1000, 3000)
	for _, c := range []struct {
		name string
		list []*fiolog.DirectionStats
		want *mapping.FioLatency
	}{
		{"nothing", nil, nil},
		{"bins", []*fiolog.DirectionStats{one, binned}, &mapping.FioLatency{Min: 0.001, Mean: 3.987, Max: 9, StdDev: 1.025}},
		{"latencies are disabled", []*fiolog.DirectionStats{{TotalIOs: 7}}, nil},
		{"one", []*fiolog.DirectionStats{one}, &mapping.FioLatency{Min: 1, Max: 9, Mean: 4, StdDev: 1, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 3}}}},
		{"from submission", []*fiolog.DirectionStats{total}, &mapping.FioLatency{Min: 4, Max: 6, Mean: 5, StdDev: 0.001, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 5}}}},
		{"from submission, with means of both", []*fiolog.DirectionStats{&both}, &mapping.FioLatency{Min: 4, Max: 6, Mean: 5, StdDev: 0.001, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 5}}}},
		{"two", []*fiolog.DirectionStats{one, of(100, 500, 8000, 8000, 1000, 7000)}, &mapping.FioLatency{Min: 0.5, Max: 9, Mean: 5, StdDev: 2}},
	} {
		if diff := cmp.Diff(c.want, account.FioLatency(c.list)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestBounds: a percentile of several jobs without bins lies between those of the jobs, and only where each lists it.
func TestBounds(t *testing.T) {
	of := func(percentiles ...int64) fiolog.Latency { // the rank and the value of each
		l := fiolog.Latency{Mean: 1}
		for i := 0; i < len(percentiles); i += 2 {
			l.Percentiles = append(l.Percentiles, fiolog.Percentile{Rank: float64(percentiles[i]), Value: percentiles[i+1]})
		}
		return l
	}
	for _, c := range []struct {
		name string
		jobs []fiolog.Latency
		want *mapping.Bounds
	}{
		{"both list two", []fiolog.Latency{of(50, 100_000, 99, 800_000), of(50, 128_000, 99, 640_000, 75, 1)},
			&mapping.Bounds{Confidence: 1, P50: mapping.Between{Low: 99.219, High: 129}, P99: mapping.Between{Low: 635, High: 806.25}}},
		{"one lists none", []fiolog.Latency{of(50, 1), of()}, nil},
	} {
		p, counts := &plan.Plan{Run: &assign.Run{}, JobsOf: map[*assign.Entry][]*plan.Job{}}, map[*plan.Job]*account.Counts{}
		for _, latency := range c.jobs {
			r := read(report{ran: 1000, reads: requests(5), noBins: true}, log{})
			e, j := r.Plan.Entries[0], r.Plan.Jobs[0]
			e.Directions[fiolog.Read].Clat, j.Source = latency, assign.FromNothing
			p.Entries, p.Jobs, p.JobsOf[e], counts[j] = append(p.Entries, e), append(p.Jobs, j), []*plan.Job{j}, &account.Counts{}
		}
		if diff := cmp.Diff(c.want, account.Of(&account.Read{Plan: p, Counts: counts}).Read.Bounds); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
