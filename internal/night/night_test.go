package night

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/mapping"
)

var began = time.Date(2026, 11, 1, 2, 0, 0, 0, time.UTC)

// made returns a test of a night of CBT: its mode, size and total depth, and its requests per second.
func made(day int, mode string, size, depth int64, iops float64) *mapping.Run {
	run := &mapping.Run{CBT: mapping.CBT{Benchmark: "librbdfio", Mode: mode, OpSize: size, TotalIODepth: depth, Volumes: 2, Clients: 2}}
	run.Run.Archive, run.Run.Name = fmt.Sprintf("night-%02d", day), fmt.Sprint(mode, size, depth)
	run.Run.ID = run.Run.Archive + run.Run.Name
	run.Run.Start = began.AddDate(0, 0, day).Add(time.Duration(depth) * time.Minute)
	run.Run.End, run.Run.Complete = run.Run.Start.Add(time.Minute), true
	totals := func(iops float64) *mapping.Totals {
		return &mapping.Totals{
			Requests: int64(iops * 60), IOPS: iops, DurationMS: 60_000,
			Fio: &mapping.FioLatency{Min: 1, Mean: 1e6 * float64(depth) / iops, Max: 1e6, Percentiles: []mapping.FioPercentile{{Rank: 99, Value: 2e6 * float64(depth) / iops}}},
		}
	}
	switch {
	case strings.HasSuffix(mode, "read"):
		run.Read = totals(iops)
	case strings.HasSuffix(mode, "write"):
		run.Write = totals(iops)
	default:
		run.Read, run.Write = totals(iops*0.7), totals(iops*0.3)
	}
	return run
}

// text returns the rows of a night with the depths of their tests; that of the best has a mark.
func text(n *Night) string {
	var lines []string
	for _, r := range n.Rows {
		line := r.Title + " " + r.Direction + ":"
		for _, t := range r.Tests {
			line += fmt.Sprintf(" %d", t.Depth)
			if len(t.Runs) > 1 {
				line += fmt.Sprintf("x%d", len(t.Runs))
			}
			if t == r.Best() {
				line += "*"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestRows: a row is a workload without its depth, in one direction; runs of one workload are repetitions.
func TestRows(t *testing.T) {
	live, sync := made(1, "randread", 4096, 32, 1e6), made(1, "randread", 4096, 1, 700)
	live.Run.Ingest = mapping.LiveIngest(began)
	sync.CBT = mapping.CBT{Mode: "randread", OpSize: 4096, IODepth: 8}
	sync.Fio = mapping.FioInfo{Jobs: 1, Options: map[string]string{"rw": "randread", "bs": "4k", "iodepth": "8", "direct": "1"}}
	procs := made(1, "randread", 4096, 4, 900)
	procs.CBT.NumJobs = 4
	again, unknown := made(1, "randread", 4096, 4, 2000), made(1, "write", 65536, 1, 0)
	again.Run.ID = "again"
	prepares := made(1, "write", 65536, 4, 3000)
	prepares.Run.Path = "results/00000000/id-1/precondition/total_iodepth-4"
	n := New("x", []*mapping.Run{
		prepares, made(1, "randread", 4096, 16, 1900), made(1, "randread", 4096, 4, 1000), made(1, "randrw", 4096, 4, 500), made(1, "randread", 1<<20, 2, 10), live, sync, procs, again, unknown,
	})
	want := `randread 4K, direct 1, jobs 1 read: 8*
randread 4K, librbdfio, numjobs 4, volumes a client 2, clients 2 read: 4*
randread 4K, librbdfio, volumes a client 2, clients 2 read: 4x2 16*
randread 1M read: 2*
randrw 4K read: 4*
randrw 4K write: 4*
write 64K write: 1`
	if got := text(n); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n.Note != "1 run left out: precondition, as in CBT's reports" || len(n.Runs) != 10 {
		t.Errorf("%d runs, %q", len(n.Runs), n.Note)
	}
	four := n.Tests()[slices.IndexFunc(n.Tests(), func(t *Test) bool { return len(t.Runs) == 2 })]
	if got := four.Number(facts.IOPS); got.Median != facts.Known(1500) || got.Low != 1000 || four.DepthText() != "total-qd4" {
		t.Errorf("%+v %s", got, four.DepthText())
	}
}

// TestDivide: a night is an archive, or archives without a common workload that CBT did not make.
func TestDivide(t *testing.T) {
	alone := func(day int, depth int64) *mapping.Run { // as of fio2es run, which makes a folder for each run
		run := made(day, "read", 4096, depth, 100)
		run.Run.Archive = fmt.Sprint(run.Run.Start.Unix())
		run.CBT = mapping.CBT{Mode: run.CBT.Mode, OpSize: run.CBT.OpSize, IODepth: depth}
		return run
	}
	sweep := []*mapping.Run{alone(1, 1), alone(1, 4), alone(1, 16)}
	nights := []*mapping.Run{made(2, "read", 4096, 1, 9), made(2, "read", 4096, 4, 9), made(1, "read", 4096, 4, 9), made(1, "read", 4096, 1, 9), made(3, "read", 4096, 4, 9)}
	for _, c := range []struct {
		name string
		runs []*mapping.Run
		want string
	}{
		{"an archive", nights[:2], "night-02 2"},
		{"archives", nights, "night-01 2, night-02 2, night-03 1"},
		{"archives of different tests", []*mapping.Run{nights[0], nights[2]}, "night-01 1, night-02 1"},
		{"an archive and a sweep", append(nights[3:4:4], alone(2, 16)), "night-01 1, " + alone(2, 16).Run.Archive + " 1"},
		{"a sweep", sweep, sweep[0].Run.Archive + " and 2 other archives 3"},
		{"a sweep, twice", append(slices.Clone(sweep), alone(2, 1), alone(2, 4)), sweep[0].Run.Archive + " and 2 other archives 3, " + alone(2, 1).Run.Archive + " and 1 other archive 2"},
		{"iterations", []*mapping.Run{nights[0], nights[0], nights[1]}, "night-02 3"},
	} {
		var got []string
		for _, n := range Divide(c.runs) {
			got = append(got, fmt.Sprint(n.Name, " ", len(n.Runs)))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
}

// TestAgainst: tests are compared with those of the same workload alone, in their direction, and not if files are missing.
func TestAgainst(t *testing.T) {
	base := New("base", []*mapping.Run{made(1, "randrw", 4096, 4, 1000), made(1, "read", 4096, 4, 1000), made(1, "read", 4096, 8, 1000), made(1, "write", 4096, 1, 50)})
	partial := made(2, "write", 4096, 1, 50)
	partial.Run.Partial = true
	n := New("n", []*mapping.Run{made(2, "randrw", 4096, 4, 800), made(2, "read", 4096, 4, 1000), made(2, "read", 4096, 16, 2000), partial})
	c := n.Against(base)
	c.Compare(func(run *mapping.Run) *compare.Run {
		one := &compare.Run{Name: run.Run.Name}
		one.End(run)
		if err := one.AddTotals(run, nil); err != nil {
			t.Fatal(err)
		}
		return one
	}, compare.Options{Metrics: []facts.Metric{facts.IOPS, facts.Mean}, Confidence: 0.95, Within: compare.Within})
	var got []string
	for _, test := range n.Tests() {
		p := c.Of(test)
		switch {
		case p == nil:
			got = append(got, test.Name()+" -")
		case p.Line(facts.IOPS) == nil:
			got = append(got, test.Name()+" "+p.Why)
		default:
			got = append(got, fmt.Sprintf("%s %s %s %s", test.Name(), test.Direction, p.Line(facts.IOPS).Text(), p.Verdict()))
		}
	}
	want := "randrw 4K total-qd4 read -20.0 % no interval; randrw 4K total-qd4 write -20.0 % no interval; read 4K total-qd4 read 0.0 % no interval; read 4K total-qd16 -; write 4K total-qd1 without some of its files"
	if strings.Join(got, "; ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "; "), want)
	}
	if len(c.Absent) != 1 || c.Absent[0].Name() != "read 4K total-qd8" {
		t.Errorf("absent: %v", c.Absent)
	}
}

// TestBefore: the night before is the newest archive that began earlier and has one of the workloads, with all its tests.
func TestBefore(t *testing.T) {
	live := made(4, "read", 4096, 1, 100)
	live.Run.Ingest = mapping.LiveIngest(began)
	undated := made(4, "read", 4096, 1, 100)
	undated.Run.Start = time.Time{}
	history := []*mapping.Run{
		made(6, "read", 4096, 1, 100), made(5, "read", 4096, 1, 100), live, undated, made(3, "write", 4096, 1, 100),
		made(2, "read", 4096, 1, 100), made(2, "write", 65536, 1, 100), made(1, "read", 4096, 1, 100),
	}
	n := New("n", []*mapping.Run{made(5, "read", 4096, 1, 100), made(5, "read", 4096, 64, 100)})
	before := Before(n, history)
	if before == nil || before.Name != "night-02" || len(before.Runs) != 2 {
		t.Fatalf("%+v", before)
	}
	for _, runs := range [][]*mapping.Run{nil, history[:2], history[4:5]} {
		if before := Before(n, runs); before != nil {
			t.Errorf("%v: %+v", runs, before)
		}
	}
}

// TestLevels: the level of a test is that of the runs up to its night; a night in files counts once.
func TestLevels(t *testing.T) {
	var history []*mapping.Run
	for day := range 12 {
		iops := 1000.0
		if day >= 6 {
			iops = 800
		}
		history = append(history, made(day+1, "read", 4096, 4, iops))
	}
	for _, c := range []struct {
		night int
		want  string
	}{{12, "worse"}, {6, "no change"}, {3, "too few runs"}} {
		run := *history[c.night-1]
		run.Run.ID = "" // of files
		n := New("n", []*mapping.Run{&run})
		row := Levels(n, history)[n.Tests()[0]]
		if row == nil || row.Verdict() != c.want || len(row.Runs) != c.night {
			t.Errorf("night %d: %+v, want %s", c.night, row, c.want)
		}
	}
}
