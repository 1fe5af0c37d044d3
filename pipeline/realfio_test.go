package pipeline_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// realFioJobs are runs of some seconds; each has its raw completions logged.
var realFioJobs = map[string][]string{
	"two jobs":            {"--rw=randrw", "--numjobs=2", "--rate_iops=900,500"},
	"coarse":              {"--rw=randrw", "--numjobs=2", "--rate_iops=900,500", "--log_hist_coarseness=2"},
	"quarter second rows": {"--rw=randwrite", "--rate_iops=2000", "--log_hist_msec=250"},
	"group report":        {"--rw=randrw", "--numjobs=3", "--rate_iops=300,200", "--group_reporting"},
	"one log for all":     {"--rw=randrw", "--numjobs=3", "--rate_iops=300,200", "--per_job_logs=0"},
	"epoch":               {"--rw=randread", "--numjobs=2", "--rate_iops=500", "--log_unix_epoch=1"},
	"trim":                {"--rw=randtrim", "--rate_iops=500", "--ioengine=null"},
	"status":              {"--rw=randrw", "--numjobs=2", "--rate_iops=500,500", "--status-interval=1"},
	"stonewall":           {"--rw=randread", "--rate_iops=500", "--status-interval=1", "--name=next", "--stonewall", "--rw=randwrite", "--filename=file", "--size=16m", "--ioengine=psync", "--time_based", "--runtime=4", "--bs=4k", "--rate_iops=300"},
}

// TestRealFio runs the fio that FIO2ES_TEST_FIO names. Every request that fio counts
// must be in the documents.
func TestRealFio(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	for name, args := range realFioJobs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(fio, append([]string{
				"--name=job", "--ioengine=psync", "--filename=file", "--size=16m", "--norandommap", "--randrepeat=0",
				"--time_based", "--runtime=4", "--bs=4k", "--write_hist_log=out", "--log_hist_msec=1000",
				"--write_lat_log=out", "--disable_slat=1", "--disable_lat=1", "--output-format=json+,normal", "--output=out.txt",
			}, args...)...)
			cmd.Dir = dir
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("fio: %v\n%s", err, text)
			}
			stages, results := readStages(t, dir, "out", pipeline.Options{Levels: []mapping.Level{mapping.Cluster, mapping.Job}})
			if want := 1 + strings.Count(name, "stonewall"); len(stages) != want {
				t.Errorf("%d stages, want %d", len(stages), want)
			}
			docs, recovered := slices.Concat(stages...), int64(0)
			for _, res := range results {
				if len(res.Skipped) > 0 {
					t.Errorf("lost: %v", res.Skipped)
				}
				recovered += res.Run.Recovered.Requests
			}
			want := reportedByFio(t, dir)
			for _, level := range []mapping.Level{mapping.Cluster, mapping.Job} {
				got := [fiolog.Directions]int64{}
				for _, d := range docs {
					if d.Level == level {
						got[directionOf(d)] += d.DocCount
					}
				}
				if got != want {
					t.Errorf("%s: %v requests, fio counts %v", level, got, want)
				}
			}
			t.Logf("%v requests, %d recovered; %d documents", want, recovered, len(docs))
		})
	}
}

// reportedByFio is what the last report in out.txt counts for each direction.
func reportedByFio(t *testing.T, dir string) [fiolog.Directions]int64 {
	t.Helper()
	f, err := os.Open(dir + "/out.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var last [fiolog.Directions]int64
	for rep, err := range fiolog.ReadReports(f, "out.txt") {
		if err != nil {
			t.Fatal(err)
		}
		last = [fiolog.Directions]int64{}
		for _, j := range rep.Jobs {
			for d := range j.Directions {
				last[d] += int64(j.Directions[d].TotalIOs)
			}
		}
	}
	return last
}

func directionOf(d *mapping.Interval) fiolog.Direction {
	return map[string]fiolog.Direction{"read": fiolog.Read, "write": fiolog.Write, "trim": fiolog.Trim}[d.Fio.Direction]
}
