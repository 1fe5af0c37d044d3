package pipeline

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// TestAverages reads logs of means (log_avg_msec): rate, bandwidth and mean latency of
// two jobs, one twice as fast and half as slow as the other, with a slow second.
func TestAverages(t *testing.T) {
	dir := t.TempDir()
	for job, speed := range map[int]int{1: 1, 2: 2} {
		var clat, iops, bw strings.Builder
		for ms := 250; ms <= 4000; ms += 250 {
			latency, rate := 200_000/speed, 1000*speed
			if ms > 2000 && ms <= 3000 {
				latency, rate = latency*10, rate/10
			}
			fmt.Fprintf(&clat, "%d, %d, 0, 0, 0\n", ms, latency)
			fmt.Fprintf(&iops, "%d, %d, 0, 0, 0\n", ms, rate)
			fmt.Fprintf(&bw, "%d, %d, 0, 0, 0\n", ms, rate*4)
		}
		for kind, text := range map[string]string{"clat": clat.String(), "iops": iops.String(), "bw": bw.String()} {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("out_%s.%d.log", kind, job)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	docs, res := readRun(t, dir, "", Options{Levels: []mapping.Level{mapping.Cluster, mapping.Job}, Start: time.Unix(1.8e9, 0)})
	if len(res.Skipped) > 0 || len(res.Notes) == 0 || !strings.Contains(res.Notes[0].Error(), "averages") {
		t.Errorf("lost %v, notes %v", res.Skipped, res.Notes)
	}
	if len(docs) != 4*3 {
		t.Fatalf("%d documents", len(docs))
	}
	for _, d := range docs {
		slow := d.Window.ElapsedMS == 2000
		speed := map[string]float64{"": 3, "1": 1, "2": 2}[d.Fio.Job]
		rate, mean := 1000*speed, 200/speed
		if d.Level == mapping.Cluster {
			mean = (1000*200 + 2000*100) / 3000.0
		}
		if slow {
			rate, mean = rate/10, mean*10
		}
		if d.IOPS != rate || d.Bandwidth != rate*4096 || math.Abs(d.Latency.Mean-mean) > 0.001 || !d.Latency.Bins.IsZero() || d.Latency.P99 != 0 {
			t.Errorf("job %q at %d ms: %v IOPS, %v B/s, mean %v µs; want %v, %v, %v", d.Fio.Job, d.Window.ElapsedMS, d.IOPS, d.Bandwidth, d.Latency.Mean, rate, rate*4096, mean)
		}
	}
}

// TestBandwidth adds up the bandwidth over all windows: fio's bytes, exactly where all
// requests are of one size, and from the bw logs where they are not.
func TestBandwidth(t *testing.T) {
	for _, c := range []struct {
		name   string
		within float64 // of the bytes
	}{{"two-jobs-rw", 1e-6}, {"mixed-bs", 0.001}} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyCorpus(t, c.name)
			for _, job := range []string{"1", "2"} { // single requests: as in clat logs, but for the value
				text, err := os.ReadFile(filepath.Join(dir, "out_clat."+job+".log"))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "out_bw."+job+".log"), text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			docs, res := readRun(t, dir, "out", Options{Levels: []mapping.Level{mapping.Cluster}})
			bytes := map[string]float64{}
			for _, d := range docs {
				length := float64(d.Window.MS)
				if c.name == "mixed-bs" && d.Window.MS > 950 {
					length = 1000
				}
				bytes[d.Fio.Direction] += d.Bandwidth * length / 1000
			}
			for name, want := range map[string]int64{"read": res.Run.Read.Bytes, "write": res.Run.Write.Bytes} {
				if got := bytes[name]; math.Abs(got-float64(want)) > c.within*float64(want) {
					t.Errorf("%s: %.0f bytes, want %d", name, got, want)
				}
			}
		})
	}
}
