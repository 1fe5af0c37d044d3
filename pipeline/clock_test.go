package pipeline_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// hostsOf are the hosts of corpus/cbt-archive with what their starts were delayed by.
var hostsOf = map[string]time.Duration{
	"hostA": 0, "hostB": 300 * time.Millisecond, "hostC": 900 * time.Millisecond, "hostD": 1700 * time.Millisecond,
}

// firstSlow is, for each host, when the first window begins whose p95 is above 1 ms.
func firstSlow(t *testing.T, opt pipeline.Options) (map[string]time.Duration, *mapping.Run) {
	t.Helper()
	opt.Levels = []mapping.Level{mapping.Host}
	path := filepath.Join("..", "testdata", "corpus", "cbt-archive")
	docs, res := readRun(t, path, "results/00000000/id-7c1f03ab", opt)
	slow := map[string]time.Duration{}
	for _, d := range docs {
		if _, ok := slow[d.Host.Name]; !ok && d.Latency.P95 > 1000 {
			slow[d.Host.Name] = time.Duration(d.Window.ElapsedMS) * time.Millisecond
		}
	}
	return slow, res.Run
}

// TestClock reads four hosts that shared a disk, which became slow at one moment. They
// started up to 1.7 s apart: by their own clocks they became slow in different seconds,
// by the wall clock in the same one.
func TestClock(t *testing.T) {
	own, _ := firstSlow(t, pipeline.Options{Align: pipeline.AlignJob})
	wall, run := firstSlow(t, pipeline.Options{})
	same, differ := true, false
	for host := range hostsOf {
		same = same && wall[host] == wall["hostA"]
		differ = differ || own[host] != own["hostA"]
	}
	if !same || !differ {
		t.Errorf("slow from: by the wall clock %v, by their own clocks %v", wall, own)
	}
	for _, h := range run.Hosts {
		skew := time.Duration(h.SkewMS) * time.Millisecond
		if off := skew - hostsOf[h.Name]; off < -100*time.Millisecond || off > 100*time.Millisecond || h.Clock != "report" {
			t.Errorf("%s started %v late by %s, in truth %v", h.Name, skew, h.Clock, hostsOf[h.Name])
		}
	}
	t.Logf("slow from: by the wall clock %v, by their own clocks %v", wall, own)
}

// TestOffset gives the hosts' true delays, because no file contains a time.
func TestOffset(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 12, 0, 0, time.UTC)
	for _, known := range []bool{false, true} {
		offsets := hostsOf
		if !known {
			offsets = nil
		}
		dir := withoutReports(t)
		docs, res := readRun(t, dir, "results/00000000/id-7c1f03ab", pipeline.Options{Start: start, Offsets: offsets, Levels: []mapping.Level{mapping.Host}})
		if res.Run.Clock.Source != "user" || !res.Run.Run.Start.Equal(start) {
			t.Errorf("start %v by %s", res.Run.Run.Start, res.Run.Clock.Source)
		}
		slow := map[string]int64{}
		for _, d := range docs {
			if _, ok := slow[d.Host.Name]; !ok && d.Latency.P95 > 1000 {
				slow[d.Host.Name] = d.Window.ElapsedMS
			}
		}
		same := slow["hostA"] == slow["hostB"] && slow["hostA"] == slow["hostC"] && slow["hostA"] == slow["hostD"]
		if same != known {
			t.Errorf("offsets known %v: slow from %v", known, slow)
		}
	}
}

// withoutReports is the archive without fio's JSON output, links to the rest.
func withoutReports(t *testing.T) string {
	t.Helper()
	from := filepath.Join("..", "testdata", "corpus", "cbt-archive", "results", "00000000", "id-7c1f03ab")
	dir := t.TempDir()
	to := filepath.Join(dir, "results", "00000000", "id-7c1f03ab")
	copyTree(t, from, to, "_output.", "output.0.host")
	return dir
}
