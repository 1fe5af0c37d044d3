package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// made is evidence of one job that ran for 5 s, in a few words: what its files are.
type made struct {
	reports   int    // of fio; the last one after 5 s, the others a second apart
	bins      bool   // reports are in json+
	version   string // of fio, in reports
	options   options
	histogram string // rows of the histogram log: "1000 2000", "none", "zero" or "damaged"; empty: no log
	completed string // the first row of a log of completions: "fio3", "fio2" or "averaged"
	written   int64  // ms after the report at which the logs were written
	prefix    string // of the logs
	client    bool   // the log is named as fio --client does
}

// reader knows what all rows of logs show.
type reader interface {
	Sums(l *Log, undo *evidence.Undoubler) (*evidence.Sums, error)
	Last(jobs []*Job) []int64
}

// newPlan plans until nothing is needed.
func newPlan(r reader, ev *Evidence, opt Options, said *Remarks) ([]*Plan, error) {
	ev.Rows = map[Need]Rows{}
	for {
		stages, needs, err := New(ev, opt, said)
		if len(needs) == 0 {
			return stages, err
		}
		for n := range needs {
			rows := Rows{Last: r.Last([]*Job{{Log: n.Log}})[0]}
			rows.Sums, rows.Err = r.Sums(n.Log, &evidence.Undoubler{Lag: n.Lag})
			ev.Rows[n] = rows
		}
	}
}

// sums is a [reader] of logs whose rows have some requests.
type sums struct{ requests uint64 }

func (s sums) Sums(*Log, *evidence.Undoubler) (*evidence.Sums, error) {
	all := &evidence.Sums{}
	all.Add(&fiolog.Record{Layout: hist.Fio3(0), Bins: []hist.Bin{{Index: 7, Count: s.requests}}, Total: s.requests})
	return all, nil
}

func (sums) Last(jobs []*Job) []int64 { return make([]int64, len(jobs)) }

func (m made) evidence() *Evidence {
	ev := &Evidence{Run: &assign.Run{}}
	file := func(name string, after int64) *evidence.File {
		return evidence.Of(&source.File{Path: name, Modified: source.Modified{ModTime: written.Add(time.Duration(after) * time.Millisecond)}})
	}
	if m.reports > 0 {
		out := &Output{Report: assign.Report{File: file("out.json", 0), Found: assign.FoundFolder}}
		for i := range m.reports {
			ran := int64(1000 * (5 - m.reports + 1 + i))
			j := fiolog.Job{Name: "out", Elapsed: ran / 1000, Runtime: ran, Options: m.options}
			j.Directions[0] = fiolog.DirectionStats{TotalIOs: uint64(ran), Runtime: ran, Clat: fiolog.Latency{Mean: 1, N: uint64(ran)}}
			if m.bins {
				j.Directions[0].Clat.Layout, j.Directions[0].Clat.Bins = hist.Fio3(0), []hist.Bin{{Index: 7, Count: uint64(ran)}}
			}
			take(out, &fiolog.Report{Version: m.version, Unit: hist.Nanoseconds, Timestamp: written.UnixMilli() - 5000 + ran, Jobs: []fiolog.Job{j}})
		}
		ev.Outputs = []*Output{out}
	}
	prefix := "out"
	if m.prefix != "" {
		prefix = m.prefix
	}
	if m.histogram != "" {
		l := &Log{Log: assign.Log{Kind: fiolog.ClatHist, Job: 1, Prefix: prefix, File: file(prefix+"_clat_hist.1.log", m.written), Client: m.client}, Segment: -1}
		l.Hint = ev.HintFor(l.Log, hist.Hint{})
		row := func(at int64, n uint64) {
			rec := &fiolog.Record{Time: at, Layout: hist.Fio3(0), Total: n}
			if n > 0 {
				rec.Bins = []hist.Bin{{Index: 7, Count: n}}
			}
			l.Rows = append(l.Rows, rec)
		}
		switch m.histogram {
		case "none":
		case "damaged":
			l.Damage = errors.New("it cannot be read")
		case "zero":
			row(1000, 0)
		default:
			row(1000, 1000)
			row(2000, 1000)
		}
		if l.HasRows = len(l.Rows) > 0; l.HasRows {
			l.First, l.Layout, l.IsZero = l.Rows[0].Time, hist.Fio3(0), l.Rows[0].Total == 0
		}
		ev.Logs = []*Log{l}
	}
	if m.completed != "" {
		l := &Log{Log: assign.Log{Kind: fiolog.Clat, Job: 1, Prefix: prefix, File: file(prefix+"_clat.1.log", m.written)}, Segment: -1}
		rec := &fiolog.Record{Time: 1000, Value: 1000, IsFio3: m.completed == "fio3"}
		if m.completed != "averaged" {
			rec.BlockSize = 4096
		}
		l.Rows, l.HasRows, l.First = evidence.FirstRows{rec}, true, 1000
		ev.Others = []*Log{l}
	}
	return ev
}

// TestChoose: the best source of rows is used, and why it is not a better one is said.
func TestChoose(t *testing.T) {
	logs := options{"write_hist_log": "out", "log_hist_msec": "1000"}
	for _, c := range []struct {
		name   string
		of     made
		prefer bool // completions, as users may want
		want   string
		said   string
	}{
		{"a histogram log and a report", made{reports: 1, bins: true, options: logs, histogram: "rows"}, false, "histogram log", ""},
		{"a histogram log alone", made{histogram: "rows"}, false, "histogram log", ""},
		{"also completions", made{reports: 1, bins: true, options: logs, histogram: "rows", completed: "fio3"}, false, "histogram log", ""},
		{"completions, as the user wants", made{reports: 1, bins: true, options: logs, histogram: "rows", completed: "fio3"}, true, "completions", ""},
		{"a log without rows, and completions", made{reports: 1, options: logs, histogram: "none", completed: "fio3"}, false, "completions", "has no rows: its log of completions is read instead"},
		{"rows without requests, and completions", made{reports: 1, histogram: "zero", completed: "fio3"}, false, "completions", "clat_percentiles=0"},
		{"rows without requests", made{reports: 1, bins: true, histogram: "zero"}, false, "histogram log", ""},
		{"a damaged log and periodic reports", made{reports: 4, bins: true, histogram: "damaged"}, false, "periodic reports", "periodic reports are read instead"},
		{"a damaged log", made{reports: 1, bins: true, histogram: "damaged"}, false, "nothing", "it cannot be read"},
		{"a log without rows, and periodic reports", made{reports: 4, bins: true, options: logs, histogram: "none"}, false, "periodic reports", ""},
		{"periodic reports", made{reports: 3, bins: true}, false, "periodic reports", ""},
		{"two reports", made{reports: 2, bins: true}, false, "nothing", ""},
		{"periodic reports without bins", made{reports: 4}, false, "nothing", ""},
		{"completions alone, by fio 3", made{completed: "fio3"}, false, "completions", ""},
		{"completions alone, of any fio", made{completed: "fio2"}, false, "nothing", "nothing says whether its latencies are ns"},
		{"completions and a report", made{reports: 1, completed: "fio2"}, false, "completions", ""},
		{"averages", made{reports: 1, completed: "averaged"}, false, "averages", ""},
		{"averages of the highest", made{reports: 1, completed: "averaged", options: options{"log_max_value": "1"}}, false, "nothing", "highest value of each interval"},
		{"rows of fio --client without a report", made{histogram: "rows", client: true}, false, "nothing", "no report proves how"},
		{"a log with a host, and its report", made{reports: 1, histogram: "rows", client: true}, false, "histogram log", ""},
		{"fio 3.7", made{reports: 1, bins: true, version: "fio-3.7", histogram: "rows"}, false, "histogram log", ""},
	} {
		var said Remarks
		stages, err := newPlan(sums{4000}, c.of.evidence(), Options{Title: "t", Completions: c.prefer}, &said)
		if err != nil || len(stages) != 1 {
			t.Errorf("%s: %v, %d stages", c.name, err, len(stages))
			continue
		}
		p := stages[0]
		got := string(p.Jobs[0].Source)
		if len(p.Averages) > 0 {
			got = "averages"
		}
		if text := fmt.Sprint(said); got != c.want || !strings.Contains(text, c.said) || len(p.Jobs) != 1 {
			t.Errorf("%s: %s, %s", c.name, got, text)
		}
	}
}

// TestAttribute: which report covers a log, by names, places, times and bins.
func TestAttribute(t *testing.T) {
	named := options{"write_hist_log": "out", "log_hist_msec": "1000"}
	for _, c := range []struct {
		name string
		of   made
		used bool
		said string
	}{
		{"the report names the log", made{reports: 1, bins: true, options: named, histogram: "rows"}, true, ""},
		{"it is in the same folder", made{reports: 1, bins: true, histogram: "rows", prefix: "other"}, true, ""},
		{"it names another log", made{reports: 1, bins: true, options: named, histogram: "rows", prefix: "other"}, false, "no log here belongs to the jobs of this report"},
		{"the log is younger, and its rows are in the bins", made{reports: 1, bins: true, options: named, histogram: "rows", written: 60_000}, true, "{[] [] []}"},
		{"the log is younger, and there are no bins", made{reports: 1, options: named, histogram: "rows", written: 60_000}, true, "times and totals are of the one before"},
	} {
		var said Remarks
		stages, err := newPlan(sums{4000}, c.of.evidence(), Options{}, &said)
		if err != nil {
			t.Fatal(err)
		}
		if used := stages[0].Jobs[0].Entry != nil; used != c.used || !strings.Contains(fmt.Sprint(said), c.said) {
			t.Errorf("%s: used %v, %v", c.name, used, said)
		}
	}
	stale := made{reports: 1, bins: true, options: named, histogram: "rows", written: 60_000}.evidence()
	var said Remarks
	if stages, err := newPlan(sums{6000}, stale, Options{}, &said); err != nil || stages[0].Jobs[0].Entry != nil || !strings.Contains(fmt.Sprint(said), "it is of an earlier run of fio, and not used") {
		t.Errorf("a younger log with more rows than the bins: %v, %v", err, said)
	}
}

// TestLogsOfMoreJobs: of two reports that name the same logs, none has as many jobs as there are logs. Those that are too many
// are of an earlier run, and not used, also not with the other report.
func TestLogsOfMoreJobs(t *testing.T) {
	of := made{reports: 1, bins: true, options: options{"write_hist_log": "out", "log_hist_msec": "1000"}, histogram: "rows"}
	for _, client := range []bool{false, true} {
		ev := of.evidence()
		more := *ev.Logs[0]
		more.Job = 2
		ev.Logs, ev.Outputs = append(ev.Logs, &more), append(ev.Outputs, of.evidence().Outputs...)
		for _, out := range ev.Outputs {
			out.Client = client
		}
		var said Remarks
		stages, err := newPlan(sums{4000}, ev, Options{}, &said)
		if err != nil || len(stages) != 1 {
			t.Fatal(err, stages)
		}
		if p := stages[0]; len(p.Jobs) != 1 || p.Jobs[0].Number != 1 || !strings.Contains(fmt.Sprint(said.Skipped), "1 jobs") {
			t.Errorf("client %v: %v, %v", client, err, said)
		}
	}
}

// rowsOf is a [reader] of logs that have a bin each, by their numbers. Bin 0 stands for no rows.
type rowsOf []uint32

func (r rowsOf) Sums(l *Log, _ *evidence.Undoubler) (*evidence.Sums, error) {
	all := &evidence.Sums{}
	if bin := r[l.Job-1]; bin > 0 {
		all.Add(&fiolog.Record{Layout: hist.Fio3(0), Bins: []hist.Bin{{Index: bin, Count: 10}}, Total: 10})
	}
	return all, nil
}

func (rowsOf) Last(jobs []*Job) []int64 { return make([]int64, len(jobs)) }

// TestLogsOfGroups: a report has an entry for each group (group_reporting), and more logs than it shows. The job file or the
// bins say which logs are of which group. Logs of several groups are never added up.
func TestLogsOfGroups(t *testing.T) {
	sections := func(numjobs ...int) (file []*fioargs.Section) { // two sections in each group
		for i, n := range numjobs {
			s := &fioargs.Section{Name: fmt.Sprint("s", i), Options: []fioargs.Option{{Name: "numjobs", Value: fmt.Sprint(n)}}}
			if i%2 == 0 {
				s.Options = append(s.Options, fioargs.Option{Name: "stonewall"})
			}
			file = append(file, s)
		}
		return file
	}
	for _, c := range []struct {
		name   string
		groups [][]uint32 // the bins of each entry, which have ten requests more for each time that they are there
		logs   rowsOf
		file   []*fioargs.Section
		bins   bool
		want   string // for each stage its name and jobs
		doubt  string
	}{
		{"by the bins", [][]uint32{{3, 3, 3}, {5, 5}}, rowsOf{3, 3, 3, 5, 5}, nil, true, "s0+more [1 2 3], s2+more [4 5]", ""},
		{"by the counts", [][]uint32{{3, 3, 3}, {3, 5}}, rowsOf{3, 3, 3, 5, 3}, nil, true, "s0+more [1 2 3], s2+more [4 5]", ""},
		{"by the job file", [][]uint32{{3, 3, 3, 3}, {3, 3, 3}}, rowsOf{3, 3, 3, 3, 3}, sections(2, 1, 1, 1), true, "s0+s1 [1 2 3], s2+s3 [4 5]", ""},
		{"by the job file, without bins", [][]uint32{nil, nil}, rowsOf{3, 3, 3, 3, 3}, sections(2, 1, 1, 1), false, "s0+s1 [1 2 3], s2+s3 [4 5]", ""},
		{"another job file", [][]uint32{{3, 3, 3}, {5, 5}}, rowsOf{3, 3, 3, 5, 5}, sections(1, 1, 1, 2), true, "s0+s1 [1 2 3], s2+s3 [4 5]", ""},
		{"a log that may be of both", [][]uint32{{3, 3, 3}, {3, 3, 5}}, rowsOf{3, 3, 3, 5, 5}[:4], nil, true, "s0 [1], s2 [2]", "which logs are of which group"},
		{"a log without rows at the edge", [][]uint32{{3, 3, 3}, {5, 5}}, rowsOf{3, 3, 0, 5, 5}, nil, true, "s0 [1], s2 [2]", "which logs are of which group"},
		{"no bins", [][]uint32{nil, nil}, rowsOf{3, 3, 3, 5, 5}, nil, false, "s0 [1], s2 [2]", "which logs are of which group"},
		{"logs of another run", [][]uint32{{3, 3}, {5}}, rowsOf{3, 5, 7}, nil, true, "s0 [1], s2 [2]", "its bins do not contain the rows"},
	} {
		out := &Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json"}), Found: assign.FoundFolder}, Execution: evidence.Execution{HasBins: c.bins}}
		ev := &Evidence{Run: &assign.Run{Sections: c.file}, Outputs: []*Output{out}}
		out.Fio = &fiolog.Report{Unit: hist.Nanoseconds, Timestamp: written.UnixMilli(), GlobalOptions: options{"write_hist_log": "out", "log_hist_msec": "1000"}}
		for i, group := range c.groups {
			j := fiolog.Job{Name: fmt.Sprint("s", 2*i), GroupID: i, Elapsed: 9, Runtime: 4000}
			j.Directions[0] = fiolog.DirectionStats{TotalIOs: 1000, Runtime: 4000}
			counts := map[uint32]uint64{}
			for _, bin := range group {
				counts[bin] += 10
			}
			for _, bin := range slices.Sorted(maps.Keys(counts)) {
				j.Directions[0].Clat.Layout = hist.Fio3(0)
				j.Directions[0].Clat.Bins = append(j.Directions[0].Clat.Bins, hist.Bin{Index: bin, Count: counts[bin]})
			}
			out.Fio.Jobs = append(out.Fio.Jobs, j)
		}
		for i := range c.logs {
			rec := &fiolog.Record{Time: 1000, Layout: hist.Fio3(0), Total: 10, Bins: []hist.Bin{{Index: 3, Count: 10}}}
			ev.Logs = append(ev.Logs, &Log{Log: assign.Log{Kind: fiolog.ClatHist, Job: i + 1, Prefix: "out", File: evidence.Of(&source.File{Path: fmt.Sprintf("out_clat_hist.%d.log", i+1)})}, Segment: -1, Opening: evidence.Opening{Rows: evidence.FirstRows{rec}, Head: evidence.Head{HasRows: true, First: 1000, Layout: hist.Fio3(0)}}})
		}
		var said Remarks
		stages, err := newPlan(c.logs, ev, Options{}, &said)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var got []string
		for _, s := range stages {
			var numbers []int
			for _, j := range s.Jobs {
				numbers = append(numbers, j.Number)
			}
			got = append(got, fmt.Sprint(s.Name, " ", numbers))
		}
		if text, doubt := strings.Join(got, ", "), fmt.Sprint(said.Skipped); text != c.want || c.doubt == "" && strings.Contains(doubt, "logs") && strings.Contains(doubt, "not used") ||
			!strings.Contains(doubt, c.doubt) {
			t.Errorf("%s: %s, want %s; %s", c.name, text, c.want, doubt)
		}
	}
}

// recordOf is a row with some counts in its first bins.
func recordOf(counts []uint64) *fiolog.Record {
	rec := &fiolog.Record{}
	for i, n := range counts {
		if n > 0 {
			rec.Bins = append(rec.Bins, hist.Bin{Index: uint32(i), Count: n})
			rec.Total += n
		}
	}
	return rec
}

// doubled is a [reader] of one log whose rows fio wrote in some way.
type doubled struct {
	sums
	rows [][]uint64
}

func (d doubled) Sums(_ *Log, undo *evidence.Undoubler) (*evidence.Sums, error) {
	all := &evidence.Sums{}
	for _, row := range d.rows {
		rec := recordOf(row)
		if err := undo.Row(rec); err != nil {
			return nil, err
		}
		rec.Layout = hist.Fio3(0)
		all.Add(rec)
	}
	return all, nil
}

// TestUndouble: what fio --client does to rows is undone where the bins of its report prove it. Otherwise the log is refused.
func TestUndouble(t *testing.T) {
	own := [][]uint64{{5, 0, 1}, {4, 2, 0}, {0, 3, 3}, {6, 1, 0}, {2, 2, 2}}
	for lag := range 3 {
		var written [][]uint64
		for k, row := range own {
			w := slices.Clone(row)
			for i := range w {
				if k >= lag && lag > 0 {
					w[i] += written[k-lag][i]
				}
			}
			written = append(written, w)
		}
		undo := evidence.Undoubler{Lag: lag}
		for k, row := range written {
			rec := recordOf(row)
			if err := undo.Row(rec); err != nil || !slices.Equal(rec.Bins, recordOf(own[k]).Bins) || rec.Total != recordOf(own[k]).Total {
				t.Errorf("lag %d, row %d: %v, %v, want %v", lag, k, err, rec.Bins, own[k])
			}
		}
		for _, c := range []struct {
			name string
			bins []uint64 // of the report
			want bool
		}{{"all rows", []uint64{17, 8, 6}, true}, {"more", []uint64{18, 9, 8}, true}, {"fewer", []uint64{17, 8, 5}, false}, {"no bins", nil, false}} {
			of := fiolog.Job{Name: "a", Host: "h"}
			of.Directions[0] = fiolog.DirectionStats{TotalIOs: 1000, Clat: fiolog.Latency{Layout: hist.Fio3(0), Bins: recordOf(c.bins).Bins}}
			out := &Output{Report: assign.Report{File: evidence.Of(&source.File{})}, Execution: evidence.Execution{Client: true, HasBins: c.bins != nil, Fio: &fiolog.Report{Jobs: []fiolog.Job{of}}}}
			j := NewJob(&Log{Log: assign.Log{Kind: fiolog.ClatHist, Job: 1, Host: "h", File: evidence.Of(&source.File{})}, Segment: -1})
			j.HasRows = true
			known := map[Need]Rows{}
			for lag := range 3 {
				rows, err := doubled{rows: written}.Sums(j.Log, &evidence.Undoubler{Lag: lag})
				known[Need{Log: j.Log, Lag: lag}] = Rows{Sums: rows, Err: err}
			}
			p := &planner{&Plan{}, &Evidence{Rows: known}, &Remarks{}, map[Need]bool{}}
			p.undouble(out, NewEntries(out), []*Job{j})
			if (j.damage == nil) != c.want || c.want && j.Lag != lag || (len(p.problems.Notes) > 0) != (j.Lag > 0) {
				t.Errorf("lag %d, %s: lag %d, %v, %v", lag, c.name, j.Lag, j.damage, p.problems.Notes)
			}
		}
	}
}

// TestRanOfGroup: the run time of a group that verifies follows from the number of its logs, because its options show the jobs of one
// section only.
func TestRanOfGroup(t *testing.T) {
	stats := fiolog.DirectionStats{TotalIOs: 30, Runtime: 4005, Clat: fiolog.Latency{N: 30, Layout: hist.Fio3(0), Bins: []hist.Bin{{Index: 3, Count: 30}}}}
	j := fiolog.Job{
		Name: "out", Elapsed: 8, Runtime: 12007, Directions: [fiolog.Directions]fiolog.DirectionStats{stats, stats, stats},
		Options: options{"verify": "crc32c", "numjobs": "2", "write_hist_log": "out"},
	}
	out := &Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json"}), Found: assign.FoundFolder}}
	take(out, &fiolog.Report{Unit: hist.Nanoseconds, Timestamp: written.UnixMilli(), Jobs: []fiolog.Job{j}})
	ev := &Evidence{Run: &assign.Run{}, Outputs: []*Output{out}}
	for i := range 3 {
		ev.Logs = append(ev.Logs, &Log{Log: assign.Log{Kind: fiolog.ClatHist, Job: i + 1, Prefix: "out", File: evidence.Of(&source.File{Path: fmt.Sprintf("out_clat_hist.%d.log", i+1)})}, Segment: -1, Opening: evidence.Opening{Head: evidence.Head{HasRows: true, First: 1000, Layout: hist.Fio3(0)}}})
	}
	stages, err := newPlan(rowsOf{3, 3, 3}, ev, Options{}, &Remarks{})
	if err != nil {
		t.Fatal(err)
	}
	if e := stages[0].Entries[0]; e.Ran != 4005 || e.Size != 3 {
		t.Errorf("%d jobs ran for %d ms, want 3 and 4005", e.Size, e.Ran)
	}
}

// TestLostParts: fio --client may lose parts of a log of all jobs. A job that ran for several intervals has rows.
func TestLostParts(t *testing.T) {
	for _, c := range []struct {
		isClient bool
		ran      int64
		want     int
	}{{true, 5000, 2}, {true, 3000, 1}, {false, 5000, 1}} {
		out, entries := outputOf(6, section{ran: c.ran, log: -1}, section{ran: c.ran, log: -1})
		out.Client = c.isClient
		rows := evidence.FirstRows{{Time: 2002, Layout: hist.Fio3(0)}, {Time: 4001, Layout: hist.Fio3(0)}}
		j := &Job{Log: &Log{Log: assign.Log{File: evidence.Of(&source.File{Path: "x_clat_hist.log"})}, Parts: &evidence.Sums{}, Opening: evidence.Opening{Rows: rows}}, Head: evidence.Head{HasRows: true, First: 2002}}
		p := &planner{Plan: &Plan{}, ev: &Evidence{}, problems: &Remarks{}}
		if got := p.segments(entries, []*Job{j}); len(got) != 1 || got[0].Size != c.want {
			t.Errorf("client %v, %d ms: %d entries of %d jobs, want %d", c.isClient, c.ran, len(got), got[0].Size, c.want)
		}
	}
}

// TestMissingLogNamesItsHost: each of several hosts has a job 3.
func TestMissingLogNamesItsHost(t *testing.T) {
	for host, want := range map[string]string{"": "run: no histogram log of job 3", "node2": "run: no histogram log of job 3 of node2"} {
		j := NewJob(&Log{Log: assign.Log{Host: host, Job: 3, Kind: fiolog.Clat}})
		if err := (&planner{&Plan{Title: "run"}, &Evidence{}, &Remarks{}, nil}).whyNotHist(j); err == nil || err.Error() != want {
			t.Errorf("host %q: %v, want %s", host, err, want)
		}
	}
}
