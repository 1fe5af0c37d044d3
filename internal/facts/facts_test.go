package facts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// latencyOf returns the latency of requests with these latencies in microseconds.
func latencyOf(us ...int64) mapping.Latency {
	h := hist.New(hist.Fio3(0))
	for _, x := range us {
		h.AddLatency(x*1000, 1)
	}
	return mapping.NewLatency(h, nil)
}

func runOf(name string, start time.Time, p99 int64) *mapping.Run {
	t := &mapping.Totals{Requests: 100, IOPS: float64(p99), Latency: latencyOf(p99)}
	return &mapping.Run{Run: mapping.RunInfo{Name: name, Start: start}, All: t, Write: t}
}

// TestLatencies: lower bounds, unknown latencies and latencies computed by fio have marks.
func TestLatencies(t *testing.T) {
	exact, open := latencyOf(100, 200), latencyOf(100, 20e6)
	fio := &mapping.FioLatency{Min: 1, Mean: 2, Max: 90.5, Percentiles: []mapping.FioPercentile{{Rank: 50, Value: 40.5}}}
	for _, c := range []struct {
		name   string
		totals *mapping.Totals
		want   string // min, mean, p50, p99.9 and max
	}{
		{"histogram", &mapping.Totals{Latency: exact}, "99.8µs 150µs 99.8µs 200µs 200µs"},
		{"open bin", &mapping.Totals{Latency: open}, "99.8µs ≥8.56s 99.8µs ≥17.0s ≥17.0s"},
		{"averages", &mapping.Totals{Latency: mapping.Latency{Mean: 42}}, "- 42.0µs - - -"},
		{"computed by fio", &mapping.Totals{Fio: fio}, "1.00µs* 2.00µs* 40.5µs* - 90.5µs*"},
		{"nothing", &mapping.Totals{}, "- - - - -"},
	} {
		a := LatenciesOfTotals(c.totals)
		var texts []string
		for _, name := range []string{"min", "mean", "p50", "p99_9", "max"} {
			texts = append(texts, a.Text(name))
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	three := latencyOf(100, 100, 100)
	a := LatenciesOf(&three)
	h, err := three.Hist()
	if err != nil {
		t.Fatal(err)
	}
	if a.UseFioMethod(h); a.Value("p99") == three.P99 || a.Value("p99") != three.P50 {
		t.Errorf("fio's p99 is %v; it is the middle of the bin, %v, and ours %v", a.Value("p99"), three.P50, three.P99)
	}
}

// TestNothingKnown: a run without totals has a line, and no number in it.
func TestNothingKnown(t *testing.T) {
	columns := table.Pick(Columns(), "direction", "requests", "iops", "p99")
	lines := LinesFor(columns, &mapping.Run{})
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	var texts []string
	for i := range columns {
		texts = append(texts, columns[i].TextOf(lines[0]))
	}
	if got := strings.Join(texts, " "); got != " - - -" {
		t.Errorf("%q", got)
	}
}

// TestSettings: each setting in a document is a column with the same name. Unknown ones are empty.
func TestSettings(t *testing.T) {
	run := &mapping.Run{CBT: mapping.CBT{Benchmark: "librbdfio", Mode: "randrw", RWMixRead: 70, OpSize: 4096, OSDReadAhead: 4096, RunSeconds: 90, Iteration: new(0)}}
	want := map[string]string{
		"Benchmark": "librbdfio", "Mode": "randrw", "Reads": "70 %", "Block size": "4KiB", "OSD read-ahead": "4MiB", "Time": "1m30s", "Iteration": "0",
	}
	document := string(run.AppendJSON(nil))
	for _, c := range Settings() {
		if got := c.TextOf(run); got != want[c.Heading] {
			t.Errorf("%s: %q, want %q", c.Heading, got, want[c.Heading])
		}
		if known := strings.Contains(document, `"`+c.Name+`":`); known != (want[c.Heading] != "") {
			t.Errorf("%s: the document has it: %v", c.Name, known)
		}
		if got := c.TextOf(&mapping.Run{}); got != "" {
			t.Errorf("%s of nothing: %q", c.Heading, got)
		}
	}
}

func TestTitle(t *testing.T) {
	for _, c := range []struct {
		name, workload, benchmark string
		want                      string
	}{
		{"0/id-7c/x/y", "", "librbdfio", "a.tar:0/id-7c randwrite 4K qd16"},
		{"0/id-7c/x/y", "seq", "librbdfio", "a.tar:0/id-7c/seq randwrite 4K qd16"},
		{"0/id-7c/x/y", "", "", "a.tar:0/id-7c/x/y randwrite 4K qd16"},
		{"0/id-7c/x/y", "", "pbench-fio", "a.tar:0/id-7c/x/y randwrite 4K qd16"},
	} {
		run := &mapping.Run{
			Run: mapping.RunInfo{ID: "0123456789", Archive: "a.tar", Name: c.name},
			CBT: mapping.CBT{Benchmark: c.benchmark, Workload: c.workload, Mode: "randwrite", OpSize: 4096, IODepth: 16},
		}
		if got := Title(run); got != c.want || ShortID(run.Run.ID) != "01234567" || Started(run) != "-" {
			t.Errorf("%s, %s, %s, want %s", got, ShortID(run.Run.ID), Started(run), c.want)
		}
	}
}

// TestSums: numbers of a run that belong to no direction are only in its first line.
func TestSums(t *testing.T) {
	run := runOf("run", time.Time{}, 100)
	run.Read, run.Hosts, run.Fio.Jobs, run.Recovered.Requests = run.Write, make([]mapping.RunHost, 3), 12, 7
	var b bytes.Buffer
	to := table.New(&b, table.CSV, table.Pick(Columns(), "direction", "hosts", "jobs", "recovered", "missing", "requests"))
	for _, l := range Lines(run) {
		if err := to.Write(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.End(); err != nil || b.String() != "direction,hosts,jobs,recovered,missing,requests\nread,3,12,7,0,100\nwrite,,,,,100\n" {
		t.Errorf("%v\n%s", err, &b)
	}
}

// stageOf returns a stage of an execution, or, with one stage, an execution of its own.
func stageOf(execution string, stage, stages int) *mapping.Run {
	run := &mapping.Run{Run: mapping.RunInfo{
		Name: fmt.Sprintf("job/s%d", stage), Archive: "a", Path: "job", Execution: execution, Stage: stage, Stages: stages,
	}}
	if stages > 1 {
		run.Run.StageName = fmt.Sprintf("s%d", stage)
	}
	return run
}

// TestStages: stages of one execution are together in lists, in their order, at the place of the first of them in the list. Runs
// in files have no ids: there the folder counts.
func TestStages(t *testing.T) {
	alone, old, night := stageOf("x", 1, 1), stageOf("o", 1, 2), []*mapping.Run{stageOf("n", 1, 3), stageOf("n", 2, 3), stageOf("n", 3, 3)}
	list := []*mapping.Run{night[2], night[1], alone, night[0], old}
	KeepTogether(list)
	if want := []*mapping.Run{night[0], night[1], night[2], alone, old}; !slices.Equal(list, want) {
		t.Error(list)
	}
	elsewhere := stageOf("", 2, 2)
	elsewhere.Run.Path = "other"
	for _, c := range []struct {
		runs []*mapping.Run
		want bool
	}{
		{night, true},
		{night[1:], true},
		{night[:1], false},
		{nil, false},
		{[]*mapping.Run{night[0], old}, false},
		{[]*mapping.Run{alone, alone}, false},
		{[]*mapping.Run{night[0], night[0]}, false}, // of two folders with the same name
		{[]*mapping.Run{stageOf("", 1, 2), stageOf("", 2, 2)}, true},
		{[]*mapping.Run{stageOf("", 1, 2), elsewhere}, false},
	} {
		if got := IsExecution(c.runs); got != c.want {
			t.Errorf("%v: %v", c.runs, got)
		}
	}
	for run, want := range map[*mapping.Run]string{alone: " job/s1 a:job, 1 stage", night[1]: "2/3 s2 a:job, 3 stages", elsewhere: "2/2 s2 a:job, 2 stages"} {
		got := StageText(run) + " " + StageName(run)
		title := strings.TrimPrefix(ExecutionTitle(run), run.Run.Execution+" ")
		if run == alone {
			title = "a:job, 1 stage" // its name has no stage
		}
		if got+" "+title != want {
			t.Errorf("%q %q, want %q", got, title, want)
		}
	}
}

// TestLinesOfAll: where nothing separates reads and writes, there is a line of both.
func TestLinesOfAll(t *testing.T) {
	all, read := &mapping.Totals{Requests: 3}, &mapping.Totals{Requests: 2}
	for _, c := range []struct {
		run  mapping.Run
		want string
	}{
		{mapping.Run{All: all}, "all 3"},
		{mapping.Run{All: all, Read: read}, "read 2"},
		{mapping.Run{}, ""},
	} {
		got := ""
		for _, l := range Lines(&c.run) {
			got += fmt.Sprint(l.Direction, " ", l.Requests)
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestPartPath: names of sections stay as they are in the names of their runs.
func TestPartPath(t *testing.T) {
	for _, tt := range []struct{ run, section, want string }{
		{"job1/mixed", "reader", "job1/mixed/reader"},
		{"job1", "..", "job1/.."},
		{"job1", "/dev/sdb", "job1//dev/sdb"},
		{"", "/dev/sdb", "/dev/sdb"},
	} {
		if got := PartPath(tt.run, tt.section); got != tt.want {
			t.Errorf("%q, %q: got %q, want %q", tt.run, tt.section, got, tt.want)
		}
	}
}
