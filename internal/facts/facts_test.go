package facts

import (
	"bytes"
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

// TestOrders: each order has the highest first, and equal runs keep their order.
func TestOrders(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	slow, fast := runOf("slow", start, 900), runOf("fast", start.Add(time.Hour), 100)
	parts := runOf("parts", start.Add(-time.Hour), 500) // only its directions have latencies
	parts.All = &mapping.Totals{}
	for _, o := range Orders {
		want := "slow parts fast"
		switch o.Name {
		case "start":
			want = "fast slow parts"
		case "requests": // all have the same
			want = "parts fast slow"
		}
		runs := []*mapping.Run{fast, parts, slow}
		if o.Name == "requests" {
			runs = []*mapping.Run{parts, fast, slow}
		}
		o.Sort(runs, false)
		if got := runs[0].Run.Name + " " + runs[1].Run.Name + " " + runs[2].Run.Name; got != want {
			t.Errorf("%s: %s, want %s", o.Name, got, want)
		}
		o.Sort(runs, true)
		if runs[2].Run.Name != strings.Fields(want)[0] && o.Name != "requests" {
			t.Errorf("%s, the lowest first: %s is last", o.Name, runs[2].Run.Name)
		}
	}
	if _, err := OrderOf("size", nil); err == nil || !strings.HasPrefix(err.Error(), "want one of start, requests, iops, p50, p95, p99, p99.9, max, run, archive, ") || !strings.HasSuffix(err.Error(), ", iteration, interval, or a field of --where (fio2es help fields)") {
		t.Error(err)
	}
}

// TestNothingKnown: a run without totals has a line, and no number in it.
func TestNothingKnown(t *testing.T) {
	columns := table.Pick(Columns, "direction", "requests", "iops", "p99")
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
		"Benchmark": "librbdfio", "Mode": "randrw", "Reads": "70 %", "Op size": "4KiB", "OSD read-ahead": "4MiB", "Time": "1m30s", "Iteration": "0",
	}
	document := string(run.AppendJSON(nil))
	for _, c := range Settings {
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
	to := table.New(&b, table.CSV, table.Pick(Columns, "direction", "hosts", "jobs", "recovered", "missing", "requests"))
	for _, l := range Lines(run) {
		if err := to.Write(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.End(); err != nil || b.String() != "direction,hosts,jobs,recovered,missing,requests\nread,3,12,7,0,100\nwrite,,,,,100\n" {
		t.Errorf("%v\n%s", err, &b)
	}
}

// TestOrdersOfColumns: the highest numbers are first, texts are sorted from A to Z, and unknown values are last.
func TestOrdersOfColumns(t *testing.T) {
	runs := map[string]*mapping.Run{}
	for name, settings := range map[string]mapping.CBT{"a": {Mode: "write", OpSize: 4096}, "b": {Mode: "randread", OpSize: 65536}, "c": {}} {
		run := runOf(name, time.Time{}, 100)
		run.CBT, run.All.Bandwidth = settings, float64(settings.OpSize)
		runs[name] = run
	}
	for order, want := range map[string]string{"op_size": "b a c", "mode": "b a c", "name": "a b c", "bandwidth": "b a c", "p99_9": "a b c"} {
		o, err := OrderOf(order, nil)
		if err != nil {
			t.Fatal(err)
		}
		list := []*mapping.Run{runs["a"], runs["b"], runs["c"]}
		o.Sort(list, false)
		if got := list[0].Run.Name + " " + list[1].Run.Name + " " + list[2].Run.Name; got != want {
			t.Errorf("%s: %s, want %s", order, got, want)
		}
	}
}

// TestChoose: columns come in the order of the names, settings as text, and latencies with their marks for programs.
func TestChoose(t *testing.T) {
	run := runOf("a", time.Time{}, 100)
	run.CBT, run.Run.ID, run.Run.Archive = mapping.CBT{OpSize: 4096, Pool: "rbd"}, "0123456789", "n"
	for _, c := range []struct{ format, names, want string }{
		{table.CSV, "pool_profile,op_size,run,p99.9", "pool_profile,op_size,run,direction,p99_9_us,open,source\nrbd,4096,0123456789,write,99.84,,\n"},
		{table.Text, "Pool_profile,op_size,run,p99.9", "POOL  OP SIZE  RUN       DIR     P99.9\nrbd   4KiB     01234567  write  99.8µs\n"},
		{table.Text, "archive,name,benchmark", "ARCHIVE  NAME\nn        n:a 4K\n"},
	} {
		var b bytes.Buffer
		columns, err := Choose(strings.Split(c.names, ","), nil)
		if err != nil {
			t.Fatal(err)
		}
		to := table.New(&b, c.format, columns)
		for _, l := range Lines(run) {
			if err := to.Write(l); err != nil {
				t.Fatal(err)
			}
		}
		if err := to.End(); err != nil || b.String() != c.want {
			t.Errorf("%s: %v\n%swant\n%s", c.names, err, &b, c.want)
		}
	}
	for _, name := range ColumnNames() {
		if _, err := Choose([]string{name}, nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := Choose([]string{"size"}, nil); err == nil || !strings.HasPrefix(err.Error(), `no column is called "size": want some of run, archive, name, start, `) {
		t.Error(err)
	}
}
