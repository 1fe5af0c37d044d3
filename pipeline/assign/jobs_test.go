package assign_test

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

// find finds jobs until nothing is needed. rows knows what all rows of logs show.
func find(rows func(assign.Need) assign.Rows, ev *assign.Evidence, opt assign.Options) (*assign.Assignment, *assign.Remarks) {
	ev.Rows = map[assign.Need]assign.Rows{}
	for {
		said, needs := &assign.Remarks{}, map[assign.Need]bool{}
		found := assign.New(ev, opt, said, needs)
		if len(needs) == 0 {
			return found, said
		}
		for n := range needs {
			ev.Rows[n] = rows(n)
		}
	}
}

// sumsOf are the sums of rows that have some requests in a bin.
func sumsOf(bin uint32, requests uint64) assign.Rows {
	all := &evidence.Sums{}
	if requests > 0 {
		all.Add(&fiolog.Record{Layout: hist.Fio3(0), Bins: []hist.Bin{{Index: bin, Count: requests}}, Total: requests})
	}
	return assign.Rows{Sums: all}
}

// requests are those of the rows of each log, in the bin of the reports of these tests.
func requests(n uint64) func(assign.Need) assign.Rows {
	return func(assign.Need) assign.Rows { return sumsOf(7, n) }
}

func (m made) evidence() *assign.Evidence {
	ev := &assign.Evidence{Run: &assign.Run{}}
	file := func(name string, after int64) *evidence.File {
		return evidence.Of(&source.File{Path: name, Modified: source.Modified{ModTime: written.Add(time.Duration(after) * time.Millisecond)}})
	}
	if m.reports > 0 {
		out := &assign.Output{Report: assign.Report{File: file("out.json", 0), Found: assign.FoundFolder}}
		var all []*evidence.Execution
		for i := range m.reports {
			ran := int64(1000 * (5 - m.reports + 1 + i))
			j := fiolog.Job{Name: "out", Elapsed: ran / 1000, Runtime: ran, Options: m.options}
			j.Directions[0] = fiolog.DirectionStats{TotalIOs: uint64(ran), Runtime: ran, Clat: fiolog.Latency{Mean: 1, N: uint64(ran)}}
			if m.bins {
				j.Directions[0].Clat.Layout, j.Directions[0].Clat.Bins = hist.Fio3(0), []hist.Bin{{Index: 7, Count: uint64(ran)}}
			}
			all = evidence.Join(all, &fiolog.Report{Version: m.version, Unit: hist.Nanoseconds, Timestamp: written.UnixMilli() - 5000 + ran, Jobs: []fiolog.Job{j}}, out.File.Modified, 0)
		}
		out.Execution = *all[len(all)-1]
		ev.Outputs = []*assign.Output{out}
	}
	prefix := "out"
	if m.prefix != "" {
		prefix = m.prefix
	}
	if m.histogram != "" {
		l := &assign.JobLog{Log: assign.Log{Kind: fiolog.ClatHist, Job: 1, Prefix: prefix, File: file(prefix+"_clat_hist.1.log", m.written), Client: m.client}, Segment: -1}
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
		ev.Logs = []*assign.JobLog{l}
	}
	if m.completed != "" {
		l := &assign.JobLog{Log: assign.Log{Kind: fiolog.Clat, Job: 1, Prefix: prefix, File: file(prefix+"_clat.1.log", m.written)}, Segment: -1}
		rec := &fiolog.Record{Time: 1000, Value: 1000, IsFio3: m.completed == "fio3"}
		if m.completed != "averaged" {
			rec.BlockSize = 4096
		}
		l.Rows, l.HasRows, l.First = evidence.FirstRows{rec}, true, 1000
		ev.Others = []*assign.JobLog{l}
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
		p, said := find(requests(4000), c.of.evidence(), assign.Options{Title: "t", Completions: c.prefer})
		got := string(p.Jobs[0].Source)
		if len(p.Averages) > 0 {
			got = "averages"
		}
		if text := fmt.Sprint(*said); got != c.want || !strings.Contains(text, c.said) || len(p.Jobs) != 1 {
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
		p, said := find(requests(4000), c.of.evidence(), assign.Options{})
		if used := p.Jobs[0].Entry != nil; used != c.used || !strings.Contains(fmt.Sprint(*said), c.said) {
			t.Errorf("%s: used %v, %v", c.name, used, *said)
		}
	}
	stale := made{reports: 1, bins: true, options: named, histogram: "rows", written: 60_000}.evidence()
	if p, said := find(requests(6000), stale, assign.Options{}); p.Jobs[0].Entry != nil || !strings.Contains(fmt.Sprint(*said), "it is of an earlier run of fio, and not used") {
		t.Errorf("a younger log with more rows than the bins: %v", *said)
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
		if p, said := find(requests(4000), ev, assign.Options{}); len(p.Jobs) != 1 || p.Jobs[0].Number != 1 || !strings.Contains(fmt.Sprint(said.Skipped), "1 jobs") {
			t.Errorf("client %v: %v", client, *said)
		}
	}
}

// inBins are the bins of the ten requests of each log, by their numbers. 0 stands for no rows.
func inBins(bins []uint32) func(assign.Need) assign.Rows {
	return func(n assign.Need) assign.Rows {
		if bin := bins[n.Log.Job-1]; bin > 0 {
			return sumsOf(bin, 10)
		}
		return sumsOf(0, 0)
	}
}

// TestLogsOfGroups: a report has an entry for each group (group_reporting), and more logs than it shows. The job file or the
// bins say which group wrote which log. Logs of several groups are never added up.
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
		logs   []uint32
		file   []*fioargs.Section
		bins   bool
		want   string // for each entry its name and jobs
		doubt  string
	}{
		{"by the bins", [][]uint32{{3, 3, 3}, {5, 5}}, []uint32{3, 3, 3, 5, 5}, nil, true, "s0 [1 2 3], s2 [4 5]", ""},
		{"by the counts", [][]uint32{{3, 3, 3}, {3, 5}}, []uint32{3, 3, 3, 5, 3}, nil, true, "s0 [1 2 3], s2 [4 5]", ""},
		{"by the job file", [][]uint32{{3, 3, 3, 3}, {3, 3, 3}}, []uint32{3, 3, 3, 3, 3}, sections(2, 1, 1, 1), true, "s0 [1 2 3], s2 [4 5]", ""},
		{"by the job file, without bins", [][]uint32{nil, nil}, []uint32{3, 3, 3, 3, 3}, sections(2, 1, 1, 1), false, "s0 [1 2 3], s2 [4 5]", ""},
		{"another job file", [][]uint32{{3, 3, 3}, {5, 5}}, []uint32{3, 3, 3, 5, 5}, sections(1, 1, 1, 2), true, "s0 [1 2 3], s2 [4 5]", ""},
		{"a log that may be of both", [][]uint32{{3, 3, 3}, {3, 3, 5}}, []uint32{3, 3, 3, 5, 5}[:4], nil, true, "s0 [1], s2 [2]", "which group wrote which log"},
		{"a log without rows at the edge", [][]uint32{{3, 3, 3}, {5, 5}}, []uint32{3, 3, 0, 5, 5}, nil, true, "s0 [1], s2 [2]", "which group wrote which log"},
		{"no bins", [][]uint32{nil, nil}, []uint32{3, 3, 3, 5, 5}, nil, false, "s0 [1], s2 [2]", "which group wrote which log"},
		{"logs of another run", [][]uint32{{3, 3}, {5}}, []uint32{3, 5, 7}, nil, true, "s0 [1], s2 [2]", "its bins do not contain the rows"},
	} {
		out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json"}), Found: assign.FoundFolder}, Execution: evidence.Execution{HasBins: c.bins}}
		ev := &assign.Evidence{Run: &assign.Run{Sections: c.file}, Outputs: []*assign.Output{out}}
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
			ev.Logs = append(ev.Logs, &assign.JobLog{Log: assign.Log{Kind: fiolog.ClatHist, Job: i + 1, Prefix: "out", File: evidence.Of(&source.File{Path: fmt.Sprintf("out_clat_hist.%d.log", i+1)})}, Segment: -1, Opening: evidence.Opening{Rows: evidence.FirstRows{rec}, Head: evidence.Head{HasRows: true, First: 1000, Layout: hist.Fio3(0)}}})
		}
		p, said := find(inBins(c.logs), ev, assign.Options{})
		var got []string
		for _, e := range p.Entries {
			var numbers []int
			for _, j := range e.Jobs {
				numbers = append(numbers, j.Number)
			}
			got = append(got, fmt.Sprint(e.Name, " ", numbers))
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
			out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}, Execution: evidence.Execution{Client: true, HasBins: c.bins != nil, Fio: &fiolog.Report{Jobs: []fiolog.Job{of}}}}
			log := &assign.JobLog{Log: assign.Log{Kind: fiolog.ClatHist, Job: 1, Host: "h", File: evidence.Of(&source.File{})}, Segment: -1}
			log.HasRows = true
			p, said := find(func(n assign.Need) assign.Rows {
				rows, undo := assign.Rows{Sums: &evidence.Sums{}}, evidence.Undoubler{Lag: n.Lag}
				for _, row := range written {
					rec := recordOf(row)
					if rows.Err = undo.Row(rec); rows.Err != nil {
						break
					}
					rec.Layout = hist.Fio3(0)
					rows.Sums.Add(rec)
				}
				return rows
			}, &assign.Evidence{Run: &assign.Run{}, Outputs: []*assign.Output{out}, Logs: []*assign.JobLog{log}}, assign.Options{})
			if j := p.Jobs[0]; (j.Damage == nil) != c.want || c.want && j.Lag != lag || (len(said.Notes) > 0) != (j.Lag > 0) {
				t.Errorf("lag %d, %s: lag %d, %v, %v", lag, c.name, j.Lag, j.Damage, said.Notes)
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
	out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json"}), Found: assign.FoundFolder}}
	out.Execution = *evidence.Join(nil, &fiolog.Report{Unit: hist.Nanoseconds, Timestamp: written.UnixMilli(), Jobs: []fiolog.Job{j}}, out.File.Modified, 0)[0]
	ev := &assign.Evidence{Run: &assign.Run{}, Outputs: []*assign.Output{out}}
	for i := range 3 {
		ev.Logs = append(ev.Logs, &assign.JobLog{Log: assign.Log{Kind: fiolog.ClatHist, Job: i + 1, Prefix: "out", File: evidence.Of(&source.File{Path: fmt.Sprintf("out_clat_hist.%d.log", i+1)})}, Segment: -1, Opening: evidence.Opening{Head: evidence.Head{HasRows: true, First: 1000, Layout: hist.Fio3(0)}}})
	}
	p, _ := find(inBins([]uint32{3, 3, 3}), ev, assign.Options{})
	if e := p.Entries[0]; e.Ran != 4005 || e.Size != 3 {
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
		report := &fiolog.Report{Timestamp: written.UnixMilli()}
		for i := range 2 {
			j := fiolog.Job{Name: fmt.Sprint("job", i), Elapsed: 6}
			j.Directions[0] = fiolog.DirectionStats{TotalIOs: 100, Runtime: c.ran}
			report.Jobs = append(report.Jobs, j)
		}
		out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json"})}, Execution: evidence.Execution{Fio: report, Client: c.isClient}}
		rows := evidence.FirstRows{{Time: 2002, Layout: hist.Fio3(0)}, {Time: 4001, Layout: hist.Fio3(0)}}
		log := &assign.JobLog{Log: assign.Log{File: evidence.Of(&source.File{Path: "x_clat_hist.log"})}, Parts: &evidence.Sums{}}
		log.Opening = evidence.Opening{Rows: rows, Head: evidence.Head{HasRows: true, First: 2002}}
		p, _ := find(requests(0), &assign.Evidence{Run: &assign.Run{}, Outputs: []*assign.Output{out}, Logs: []*assign.JobLog{log}}, assign.Options{})
		if len(p.Entries) != 1 || p.Entries[0].Size != c.want {
			t.Errorf("client %v, %d ms: %d entries of %d jobs, want %d", c.isClient, c.ran, len(p.Entries), p.Entries[0].Size, c.want)
		}
	}
}

// TestMissingLogNamesItsHost: each of several hosts has a job 3.
func TestMissingLogNamesItsHost(t *testing.T) {
	for host, want := range map[string]string{"": "run: no histogram log of job 3: its log", "node2": "run: no histogram log of job 3 of node2: its log"} {
		log := &assign.JobLog{Log: assign.Log{Host: host, Job: 3, Kind: fiolog.Clat, File: evidence.Of(&source.File{})}, Segment: -1}
		log.Rows = evidence.FirstRows{{Time: 1, BlockSize: 4096, IsFio3: true}}
		run := &assign.Run{Logs: []assign.Log{{Kind: fiolog.ClatHist}}}
		_, said := find(requests(0), &assign.Evidence{Run: run, Others: []*assign.JobLog{log}}, assign.Options{Title: "run"})
		if got := fmt.Sprint(said.Notes); !strings.Contains(got, want) {
			t.Errorf("host %q: %s, want %s", host, got, want)
		}
	}
}

type options = map[string]string

// written is when fio wrote the reports of these tests.
var written = time.UnixMilli(1_800_000_000_017)

// isCovered reports whether the first of some logs is of the jobs of a report.
func isCovered(report *fiolog.Report, logs ...string) bool {
	out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{Path: "out.json"}), Found: assign.FoundFolder}, Execution: evidence.Execution{Fio: report}}
	ev := &assign.Evidence{Run: &assign.Run{}, Outputs: []*assign.Output{out}}
	for _, base := range logs {
		name, _ := fiolog.ParseName(base)
		log := assign.Log{Kind: name.Kind, Prefix: name.Prefix, Job: name.Job, File: evidence.Of(&source.File{Path: base})}
		ev.Logs = append(ev.Logs, &assign.JobLog{Log: log, Segment: -1})
	}
	p, _ := find(requests(0), ev, assign.Options{})
	return p.Jobs[0].Entry != nil
}

// TestPrefixesOfGroup: sections of a group may log to other prefixes than the one whose options the report lists. Otherwise
// a report that names logs is of these alone. Before fio 3.8 no run time shows that a group has several sections, but the numbers of
// logs do.
func TestPrefixesOfGroup(t *testing.T) {
	for _, c := range []struct {
		runtime int64 // of all jobs; each ran for 4 s
		option  string
		logs    string
		want    bool
	}{
		{8000, "write_hist_log", "aa_clat_hist.1.log", true},
		{8000, "write_hist_log", "bb_clat_hist.1.log", true},
		{4000, "write_hist_log", "aa_clat_hist.1.log", false},
		{4000, "write_hist_log", "bb_clat_hist.1.log", true},
		{4000, "write_lat_log", "aa_clat_hist.1.log", false},
		{4000, "write_lat_log", "bb_clat_hist.1.log", true},
		{4000, "write_bw_log", "aa_clat_hist.1.log", true},
		{4000, "write_hist_log", "aa_clat_hist.1.log bb_clat_hist.2.log", true},
		{4000, "write_hist_log", "aa_clat_hist.1.log bb_clat_hist.1.log", false},
		{4000, "write_hist_log", "aa_clat_hist.1.log cc_clat_hist.2.log", false},
	} {
		of := fiolog.Job{Name: "a", Runtime: c.runtime, Options: options{c.option: "bb"}}
		of.Directions[fiolog.Read].Runtime = 4000
		if got := isCovered(&fiolog.Report{Jobs: []fiolog.Job{of}}, strings.Fields(c.logs)...); got != c.want {
			t.Errorf("job_runtime %d, %s, logs %s: %v, want %v", c.runtime, c.option, c.logs, got, c.want)
		}
	}
}

// TestFailed: fio counts requests that failed, and measures no latency of them; anything else is a damaged report.
func TestFailed(t *testing.T) {
	for _, c := range []struct {
		total, n, binned uint64
		errno            int
		want             int64
		ok               bool
	}{
		{100, 100, 100, 0, 0, true},
		{100, 100, 0, 0, 0, true}, // without bins
		{100, 90, 90, 0, 10, true},
		{100, 0, 90, 5, 10, true}, // before fio 3.18
		{100, 102, 102, 0, -2, true},
		{100, 100, 90, 0, 0, false},
		{100, 0, 110, 5, 0, false},
	} {
		stats := &fiolog.DirectionStats{TotalIOs: c.total}
		stats.Clat.N = c.n
		stats.Clat.Bins = recordOf([]uint64{c.binned}).Bins
		got, ok := (&assign.Entry{Job: &fiolog.Job{Error: c.errno}}).Failed(stats)
		if got != c.want || ok != c.ok {
			t.Errorf("%+v: %d, %v", c, got, ok)
		}
	}
}

// TestDirectionsOfOptions: a report that has all directions in one is of the only direction of its job.
func TestDirectionsOfOptions(t *testing.T) {
	for rw, want := range map[string]string{
		"": "[3 0 0]", "read": "[3 0 0]", "randread": "[3 0 0]", "randwrite": "[0 3 0]", "trim": "[0 0 3]", "trimwrite": "mixed", "randrw": "mixed",
	} {
		report := &fiolog.Report{Jobs: []fiolog.Job{{Options: options{"rw": rw}, Mixed: &fiolog.DirectionStats{TotalIOs: 3}}}}
		e := assign.NewEntries(&assign.Output{Execution: evidence.Execution{Fio: report}})[0]
		var requests []uint64
		for _, s := range e.Directions {
			requests = append(requests, s.TotalIOs)
		}
		if got := fmt.Sprint(requests); e.Mixed == nil && got != want || (e.Mixed != nil) != (want == "mixed") {
			t.Errorf("rw=%s: %s, want %s", rw, got, want)
		}
	}
}

// completed returns a report as the sections of a job file complete it.
func completed(r *fiolog.Report, file []*fioargs.Section) *fiolog.Report {
	out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}, Execution: evidence.Execution{Fio: r}}
	p, _ := find(requests(0), &assign.Evidence{Run: &assign.Run{Sections: file}, Outputs: []*assign.Output{out}}, assign.Options{})
	return p.Outputs[0].Fio
}

// TestCompleteTerse: what the job file says makes requests of bytes, moves percentiles from submission, and says what reads are.
func TestCompleteTerse(t *testing.T) {
	for _, c := range []struct{ name, job, want string }{
		{"unified, of a fio that names directions", "[a]\nrw=randrw\nbs=4k\nunified_rw_reporting=both", "read 40 requests, 19.970 IOPS, clat 50"},
		{"one size", "[a]\nrw=randread\nbs=4k", "read 40 requests, 19.970 IOPS, clat 50"},
		{"another job", "[b]\nrw=randread\nbs=4k", "read 0 requests, 19.000 IOPS, clat 50"},
		{"a size that its IOPS contradict", "[a]\nrw=randread\nbs=8k", "read 0 requests, 19.000 IOPS, clat 50"},
		{"several sizes", "[a]\nrw=randread\nbsrange=4k-8k", "read 0 requests, 19.000 IOPS, clat 50"},
		{"a part of a KiB", "[a]\nrw=randread\nbs=512", "read 0 requests, 19.000 IOPS, clat 50"},
		{"from submission", "[a]\nrw=randread\nbs=4k\nlat_percentiles=1", "read 40 requests, 19.970 IOPS, lat 50"},
		{"unified", "[a]\nrw=randrw\nbs=4k\nunified_rw_reporting=1", "all 40 requests, 19.970 IOPS, clat 50"},
		{"a sum of sections", "[global]\ngroup_reporting\nbs=4k\nrw=read\n[a]\n[b]", "read 0 requests, 19.000 IOPS, clat 50"},
	} {
		job, err := fioargs.ReadJobFile(strings.NewReader(c.job+"\n"), "x.fio")
		if err != nil {
			t.Fatal(err)
		}
		r := &fiolog.Report{Format: fiolog.Terse, Version: "fio-3.1", Jobs: []fiolog.Job{{Name: "a"}}}
		if strings.HasSuffix(c.job, "both") {
			r.Version = "fio-3.27"
		}
		r.Jobs[0].Directions[fiolog.Read] = fiolog.DirectionStats{
			IOBytes: 160 << 10, Uncounted: true, Runtime: 2003, IOPS: 19, Clat: fiolog.Latency{Percentiles: []fiolog.Percentile{{Rank: 50}}},
		}
		r = completed(r, job.Jobs)
		direction, s := "read", &r.Jobs[0].Directions[fiolog.Read]
		if r.Jobs[0].Mixed != nil {
			direction, s = "all", r.Jobs[0].Mixed
		}
		kind, ranks := "clat", s.Clat.Percentiles
		if len(ranks) == 0 {
			kind, ranks = "lat", s.Lat.Percentiles
		}
		if got := fmt.Sprintf("%s %d requests, %.3f IOPS, %s %v", direction, s.TotalIOs, s.IOPS, kind, ranks[0].Rank); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestCompleteText: normal output lacks most options, and the section of the job file has them, unless it says something
// else than what fio printed.
func TestCompleteText(t *testing.T) {
	const rest = "\nrw=randread\nbs=4k\nstartdelay=2"
	for _, c := range []struct{ name, job, want string }{
		{"the same", "[a]\nioengine=libaio\niodepth=16" + rest, "2"},
		{"an engine by its file", "[a]\nioengine=external:/opt/libaio.so\niodepth=16" + rest, "2"},
		{"another depth", "[a]\nioengine=libaio\niodepth=8" + rest, ""},
		{"the usual depth", "[a]\nioengine=libaio" + rest, ""},
		{"another job", "[b]\nioengine=libaio\niodepth=16" + rest, ""},
		{"a group", "[global]\ngroup_reporting\n[a]\nioengine=libaio\niodepth=16" + rest + "\n[b]\nrw=write", ""},
	} {
		job, err := fioargs.ReadJobFile(strings.NewReader(c.job+"\n"), "x.fio")
		if err != nil {
			t.Fatal(err)
		}
		printed := map[string]string{"rw": "randread", "bs": "4096", "ioengine": "libaio", "iodepth": "16"}
		r := &fiolog.Report{Format: fiolog.Normal, Jobs: []fiolog.Job{{Name: "a", Options: printed}}}
		r = completed(r, job.Jobs)
		if got := r.Jobs[0].Options; got["startdelay"] != c.want || got["bs"] != "4096" {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestVerify: a job that reads what it has written runs for the time of both.
func TestVerify(t *testing.T) {
	for _, numjobs := range []int64{1, 3} {
		e := assign.NewEntries(&assign.Output{Execution: evidence.Execution{Fio: &fiolog.Report{Jobs: []fiolog.Job{{
			Runtime: numjobs * 10480, Directions: [3]fiolog.DirectionStats{{Runtime: 5304}, {Runtime: 5178}},
			Options: map[string]string{"verify": "crc32c", "numjobs": fmt.Sprint(numjobs)},
		}}}}})[0]
		if e.Ran != 10480 || e.Size != int(numjobs) || e.IsGroup {
			t.Errorf("%d jobs: ran %d, size %d", numjobs, e.Ran, e.Size)
		}
	}
}

// TestRanOfVerify: a job that verifies reads after it has written. Jobs of its group may do other things at the same time.
func TestRanOfVerify(t *testing.T) {
	verify := options{"verify": "crc32c"}
	for _, c := range []struct {
		job  fiolog.Job
		want int64
	}{
		{fiolog.Job{Runtime: 4000, Elapsed: 5, Directions: [3]fiolog.DirectionStats{{Runtime: 1000}, {Runtime: 3000}}}, 4000},
		{fiolog.Job{Runtime: 16000, Elapsed: 5, Directions: [3]fiolog.DirectionStats{{Runtime: 1000}, {Runtime: 3000}}}, 4000},
		{fiolog.Job{Runtime: 27708, Elapsed: 8, Directions: [3]fiolog.DirectionStats{{Runtime: 4688}, {Runtime: 3548}, {Runtime: 7072}}}, 7072},
	} {
		c.job.Options = verify
		out := &assign.Output{Report: assign.Report{File: evidence.Of(&source.File{})}, Execution: evidence.Execution{Fio: &fiolog.Report{Jobs: []fiolog.Job{c.job}}}}
		if got := assign.NewEntries(out)[0].Ran; got != c.want {
			t.Errorf("%+v: %d ms, want %d", c.job, got, c.want)
		}
	}
}
