package pipeline_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
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
	docs, res := readRun(t, dir, "", pipeline.Options{Levels: []mapping.Level{mapping.Cluster, mapping.Job}, Start: time.Unix(1.8e9, 0)})
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

// TestUnknownAverages: fio does not write the last row of rates, and none of intervals without requests. Means of an
// interval may be missing. What is not known is not 0.
func TestUnknownAverages(t *testing.T) {
	const epoch = 1_800_000_000_000
	for _, c := range []struct {
		name string
		logs map[string]string // lines of time and value, by the rest of the name
		want string            // of each window: start-end, IOPS, mean latency in µs; of the run also B/s
	}{
		{"the last row of rates is missing", map[string]string{"iops.1": "1002 400 2003 400", "clat.1": "1002 5000 2003 5000 2900 7000"},
			"0-1000 400 5, 1000-2000 400 5, 2000-2900 0 7, all 0-2900 400 5 0"},
		{"of one job of two", map[string]string{"iops.1": "1002 400 2003 400", "iops.2": "1001 100 2002 100 3004 100", "clat.1": "1002 5000 2003 5000 3001 7000"},
			"0-1000 500 0, 1000-2000 500 0, 2000-3000 0 0, all 0-3000 500 0 0"},
		{"no log of rates", map[string]string{"clat.1": "1002 5000 2003 5000"}, "0-1000 0 5, 1000-2000 0 5, all 0-2000 0 5 0"},
		{"long rows", map[string]string{"iops.1": "3002 400 6005 300 9005 200", "clat.1": "3010 5000 6003 6000 9002 7000"},
			"0-3000 400 5, 3000-6000 300 6, 6000-9000 200 7, all 0-9000 300 5.778 0"},
		{"nothing completes for a while", map[string]string{"iops.1": "1001 400 2001 400 5000 1000 6000 400 7000 400", "clat.1": "1001 5000 2001 5000 4800 9000 5002 6000 6000 5000 7000 5000"},
			"0-1000 400 5, 1000-2000 400 5, 4000-5000 1000 0, 5000-6000 400 5, 6000-7000 400 5, all 0-7000 371.429 5 0"},
		{"total latency alone", map[string]string{"lat.1": "1002 5000 2003 6000", "iops.1": "1002 400 2003 400"}, "0-1000 400 5, 1000-2000 400 6, all 0-2000 400 5.5 0"},
		{"total latency beside that of completions", map[string]string{"lat.1": "1002 9000 2003 9000", "clat.1": "1002 5000 2003 6000"}, "0-1000 0 5, 1000-2000 0 6, all 0-2000 0 5.5 0"},
		{"absolute times", map[string]string{"iops.1": fmt.Sprint(epoch+1002, " 400 ", epoch+2001, " 300 ", epoch+3000, " 200")},
			"0-1000 400 0, 1000-2000 300 0, 2000-3000 200 0, all 0-3000 300 0 0"},
		{"rates end before latencies, and bandwidth before both", map[string]string{"iops.1": "1000 0 2000 100 3000 300", "bw.1": "1000 0 2000 400", "clat.1": "1000 0 2000 10000 3000 30000 4000 50000"},
			"1000-2000 100 10, 2000-3000 300 30, 3000-4000 0 50, all 0-4000 133.333 25 204800"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, lines := range c.logs {
				var text strings.Builder
				for i, field := range strings.Fields(lines) {
					text.WriteString(field + []string{", ", ", 0, 0, 0\n"}[i%2])
				}
				if err := os.WriteFile(filepath.Join(dir, "out_"+name+".log"), []byte(text.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			docs, res := readRun(t, dir, "", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}, Start: time.UnixMilli(epoch)})
			got := ""
			for _, d := range docs {
				got += fmt.Sprintf("%d-%d %v %v, ", d.Window.ElapsedMS, d.Window.ElapsedMS+d.Window.MS, d.IOPS, d.Latency.Mean)
			}
			all := res.Run.Read
			got += fmt.Sprintf("all 0-%d %v %v %v", all.DurationMS, all.IOPS, all.Latency.Mean, all.Bandwidth)
			if got != c.want || len(res.Skipped) > 0 {
				t.Errorf("%s\nwant %s\n%v", got, c.want, res.Skipped)
			}
		})
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
			docs, res := readRun(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
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

// TestAveragesOfShortRun: a run that is shorter than a row of its histogram log has the bins of its report, and no window twice, as
// averages too.
func TestAveragesOfShortRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"out.json": `{"fio version":"fio-3.33","timestamp":1800000001,"timestamp_ms":1800000001000,"time":"Fri Jan 15 08:00:01 2027",
"jobs":[{"jobname":"a","groupid":0,"error":0,"elapsed":1,"job options":{"name":"a","rw":"read","write_hist_log":"out","log_hist_msec":"1000","write_lat_log":"out","log_avg_msec":"100"},
"read":{"io_bytes":1228800,"total_ios":300,"runtime":900,"iops":333.3,"bw":1333,"short_ios":0,"drop_ios":0,
"slat_ns":{"min":0,"max":0,"mean":0,"stddev":0,"N":0},
"clat_ns":{"min":100000,"max":200000,"mean":133333.3,"stddev":47140.4,"N":300,"percentile":{"50.000000":100864,"99.000000":199680},"bins":{"100864":200,"199680":100}},
"lat_ns":{"min":100000,"max":200000,"mean":133333.3,"stddev":47140.4,"N":300}},"job_runtime":900,"usr_cpu":1,"sys_cpu":1,"ctx":300}]}`,
		"out_clat_hist.1.log": "",
		"out_clat.1.log":      "100, 133000, 0, 0, 0\n200, 133000, 0, 0, 0\n300, 133000, 0, 0, 0\n400, 133000, 0, 0, 0\n",
		"out_iops.1.log":      "100, 330, 0, 0, 0\n200, 330, 0, 0, 0\n300, 330, 0, 0, 0\n400, 330, 0, 0, 0\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	docs, res := readRun(t, dir, "", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
	if len(docs) != 1 || docs[0].Requests.Completed != 300 || docs[0].Latency.Bins.Total() != 300 {
		t.Errorf("%d documents, %+v; skipped %v, notes %v", len(docs), docs, res.Skipped, res.Notes)
	}
}
