package matrix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// made returns a run of reads, all of which took us microseconds. options are those of fio: "bs=4k iodepth=16".
func made(options string, us, iops float64) *mapping.Run {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(int64(us*1000), 1000)
	run := &mapping.Run{
		Run:  mapping.RunInfo{ID: fmt.Sprintf("%s:%g", options, us), Name: "job", Complete: true, Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		Fio:  mapping.FioInfo{Options: map[string]string{"direct": "1"}, Jobs: 1},
		Read: &mapping.Totals{Requests: 1000, IOPS: iops, Latency: mapping.NewLatency(h, nil)},
	}
	run.All = run.Read
	for _, option := range strings.Fields(options) {
		name, value, _ := strings.Cut(option, "=")
		run.Fio.Options[name] = value
		switch name {
		case "bs":
			run.CBT.OpSize = map[string]int64{"4k": 4096, "64k": 65536, "1m": 1 << 20}[value]
		case "iodepth":
			fmt.Sscan(value, &run.CBT.IODepth)
		case "rw":
			run.CBT.Mode = value
		}
	}
	return run
}

// As in CBT's reports, what prepared volumes is no result, unless it is all there is.
func TestMeasured(t *testing.T) {
	test, prepares := made("rw=randwrite", 100, 10), made("rw=randwrite", 200, 20)
	for _, run := range []*mapping.Run{test, prepares} {
		run.CBT.Benchmark, run.Run.Path = "librbdfio", "results/00000000/id-1/4krandomwrite/total_iodepth-8"
	}
	prepares.Run.Path = "results/00000000/id-2/precondition/total_iodepth-8"
	if list, note := Measured([]*mapping.Run{prepares, test}); len(list) != 1 || list[0] != test || note != "1 run left out: precondition, as in CBT's reports" {
		t.Errorf("%d runs, %q", len(list), note)
	}
	if list, note := Measured([]*mapping.Run{prepares}); len(list) != 1 || note != "" {
		t.Errorf("of preconditions alone: %d runs, %q", len(list), note)
	}
}

// TestCollect: of runs with the same settings one document is kept, also if labels differ that no setting of the matrix is.
func TestCollect(t *testing.T) {
	var runs []*mapping.Run
	for i, label := range []string{"a", "b", "a"} {
		run := made("bs=4k iodepth=4", float64(100+i), 10)
		run.Run.Labels = map[string]string{"x": label}
		runs = append(runs, run)
	}
	live, cut, prepares := made("bs=4k", 1, 1), made("bs=64k", 2, 1), made("bs=1m", 3, 1)
	live.Run.Ingest = mapping.LiveIngest(time.Now())
	cut.Run.Complete = false
	prepares.CBT.Benchmark, prepares.Run.Path = "librbdfio", "id-2/precondition"
	for _, c := range []struct {
		by    string
		likes int
	}{{"bs", 2}, {"bs,label.x", 3}} {
		by, _ := Settings(strings.Split(c.by, ","))
		collected := Collect(by, nil)
		collected.Add(append(runs, live, cut, prepares)...)
		list, note := collected.Runs()
		if n := len(likesOf(list)); n != c.likes || len(list) != 4 || list[1].ID != runs[1].Run.ID || list[1].Of("read") != runs[1].Read {
			t.Errorf("by %s: %d documents of %d runs", c.by, n, len(list))
		}
		if collected.Read != 6 || collected.Live != 1 || len(collected.Incomplete()) != 1 || note != "1 run left out: precondition, as in CBT's reports" {
			t.Errorf("by %s: %+v, %q", c.by, collected, note)
		}
	}
	collected := Collect(nil, nil)
	collected.Add(prepares)
	if list, note := collected.Runs(); len(list) != 1 || note != "" {
		t.Errorf("of preconditions alone: %d runs, %q", len(list), note)
	}
}

// grid returns the table of p99 of reads.
func grid(t *testing.T, by string, runs ...*mapping.Run) string {
	t.Helper()
	settings, err := Settings(strings.Split(by, ","))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	collected := Collect(settings, nil)
	collected.Add(runs...)
	list, _ := collected.Runs()
	for _, m := range New(settings, "read", list) {
		if err := m.Write(&b, table.Text, false, workload.MustNumbers("p99")...); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestGrid(t *testing.T) {
	open := made("bs=4k", 20e6, 1) // in fio's last bin
	noReads := made("bs=1m", 1, 1)
	noReads.Write, noReads.Read = noReads.Read, nil
	byFio := made("bs=4k", 1, 1)
	byFio.Read.Latency, byFio.Read.Fio = mapping.Latency{}, &mapping.FioLatency{Mean: 300, Max: 600, Percentiles: []mapping.FioPercentile{{Rank: 99, Value: 500}}}
	unset := made("", 100, 1)
	unknown := made("bs=4k", 300, 1)
	unknown.Fio.Options, unknown.CBT = nil, mapping.CBT{Mode: "read"}
	for _, c := range []struct {
		name, by string
		runs     []*mapping.Run
		want     string
	}{
		{"natural order, a gap", "bs,iodepth", []*mapping.Run{
			made("bs=64k iodepth=16", 500, 1), made("bs=4k iodepth=16", 200, 1), made("bs=64k iodepth=4", 300, 1), made("bs=1m iodepth=4", 900, 1), made("bs=4k iodepth=4", 100, 1),
		}, `p99 of reads by bs and iodepth
BS\IODEPTH      4     16
4K          100µs  201µs
64K         303µs  504µs
1M          901µs
`},
		{"one setting", "iodepth", []*mapping.Run{made("iodepth=16", 200, 1), made("iodepth=4", 100, 1)}, `p99 of reads by iodepth
IODEPTH    P99
4        100µs
16       201µs
`},
		{"repeats", "bs", []*mapping.Run{made("bs=4k", 100, 1), made("bs=4k", 110, 1), made("bs=4k", 120, 1)}, `p99 of reads by bs
BS          P99
4K  111µs ±9.3%
A cell is the median of 3 runs; ± is the farthest of them.
`},
		{"unequal repeats", "bs", []*mapping.Run{made("bs=4k", 100, 1), made("bs=64k", 110, 1), made("bs=4k", 120, 1)}, `p99 of reads by bs
BS              P99
4K   111µs ±9.3% ×2
64K           111µs
A cell with ×N is the median of N runs; ± is the farthest of them.
`},
		{"no cell mixes workloads", "bs", []*mapping.Run{made("bs=4k iodepth=4", 100, 1), made("bs=4k iodepth=16", 110, 1), made("bs=64k iodepth=4", 500, 1)}, `p99 of reads by bs
BS     P99
4K   mixed
64K  504µs
mixed: runs of one cell also differ in iodepth, so it has no number: choose with conditions, or add it to --by.
Among these runs also differ: iodepth (4, 16).
`},
		{"another setting differs from row to row", "bs", []*mapping.Run{made("bs=4k rw=randread", 100, 1), made("bs=64k ioengine=io_uring rw=read", 500, 1)}, `p99 of reads by bs
BS     P99
4K   100µs
64K  504µs
Among these runs also differ: option.ioengine (io_uring, psync); mode (randread, read).
`},
		{"options that are not set have fio's default", "bs,iodepth", []*mapping.Run{unset, made("bs=4k iodepth=4", 200, 1), made("bs=64k iodepth=1", 300, 1)}, `p99 of reads by bs and iodepth
BS\IODEPTH      1      4
4K          100µs  201µs
64K         303µs
`},
		{"a setting that is not known", "bs", []*mapping.Run{unknown, made("bs=4k rw=read", 100, 1)}, `p99 of reads by bs
BS    P99
4K  100µs
-   303µs
Among these runs also differ: option.direct (1, none); jobs (1, none).
`},
		{"a table for each value of a third setting", "bs,iodepth,rw", []*mapping.Run{
			made("bs=4k iodepth=4 rw=read", 100, 1), made("bs=4k iodepth=16 rw=read", 200, 1), made("bs=64k iodepth=4 rw=randread", 300, 1),
		}, `p99 of reads by bs and iodepth, rw randread
BS\IODEPTH      4
64K         303µs
p99 of reads by bs and iodepth, rw read
BS\IODEPTH      4     16
4K          100µs  201µs
`},
		{"lower bounds and latencies of fio", "bs,option.direct", []*mapping.Run{open}, "p99 of reads by bs and option.direct\nBS\\OPTION.DIRECT       1\n4K                ≥17.0s\n"},
		{"computed by fio", "bs", []*mapping.Run{byFio, noReads}, "p99 of reads by bs\nBS     P99\n4K  500µs*\n" + facts.FioNote + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, grid(t, c.by, c.runs...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMedian: the median of a cell is that of its runs in any order, and the spread is that of the farthest run.
func TestMedian(t *testing.T) {
	by, _ := Settings([]string{"bs"})
	runs := []*mapping.Run{made("bs=4k", 1, 100), made("bs=4k", 2, 400), made("bs=4k", 3, 200), made("bs=4k", 4, 220)}
	for range len(runs) {
		runs = append(runs[1:], runs[0])
		n := New(by, "read", RunsOf(runs))[0].Cells()[0].Number(facts.IOPS)
		if n.N() != 210 || n.Low != 100 || n.High != 400 || n.Runs != 4 || n.Spread() != 190.0/210 {
			t.Errorf("%+v, spread %v", n, n.Spread())
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"bs,iodepth", ""}, {"rw", ""}, {"label.release,option.ioengine", ""}, {"ceph,host", ""},
		{"bs,iodepth,rw", ""}, {"size", `no setting is called "size"`}, {"p99", "p99 is a result or a time"},
		{"write.iops", "write.iops is a result"}, {"start", "start is a result or a time"}, {"bs,op_size", "bs and op_size are the same setting"},
	} {
		_, err := Settings(strings.Split(c.names, ","))
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.names, err, c.want)
		}
	}
}

// TestDepths: the depth of runs with a total is that total, if no run has another.
func TestDepths(t *testing.T) {
	total, own := made("bs=4k", 100, 10), made("bs=4k iodepth=4", 100, 10)
	total.CBT.TotalIODepth = 3
	for _, c := range []struct {
		by, want string
		runs     []*mapping.Run
	}{
		{"bs,qd", "bs,total_iodepth", []*mapping.Run{total, total}},
		{"bs,qd", "bs,qd", []*mapping.Run{total, own}},
		{"iodepth,total_iodepth", "iodepth,total_iodepth", []*mapping.Run{total}},
		{"bs", "bs", []*mapping.Run{total}},
		{"bs,iodepth", "bs,iodepth", nil},
	} {
		by, err := Settings(strings.Split(c.by, ","))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range Depths(by, RunsOf(c.runs)) {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, ","); got != c.want {
			t.Errorf("%s of %d runs: %s, want %s", c.by, len(c.runs), got, c.want)
		}
	}
}

func textsOf(values []Value) (list []string) {
	for _, v := range values {
		list = append(list, v.Text)
	}
	return list
}

// TestOrder: values are in natural order, and what is not known is last.
func TestOrder(t *testing.T) {
	by, _ := Settings([]string{"label.x"})
	want := []string{"2", "10", "4k", "16k", "1m", "reef", "squid", "-"}
	for i := range want {
		var runs []*mapping.Run
		for _, text := range append(slices.Clone(want[i:]), want[:i]...) {
			run := made("bs=4k", 1, 1)
			if text != "-" {
				run.Run.Labels = map[string]string{"x": text}
			}
			runs = append(runs, run)
		}
		if got := textsOf(New(by, "read", RunsOf(runs))[0].Rows); !slices.Equal(got, want) {
			t.Errorf("from %s on: %q", want[i], got)
		}
	}
}
