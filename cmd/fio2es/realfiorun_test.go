//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRealFioRun runs the fio that FIO2ES_TEST_FIO names, with several command lines. All requests in fio's own
// report must be in the history, in windows.
func TestRealFioRun(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	t.Parallel()
	files := map[string]string{
		"part.inc": "runtime=4\ntime_based\nrate_iops=400\n",
		"own.fio":  "[global]\nioengine=null\nsize=1t\ninclude part.inc\n[a]\nrw=randread\nwrite_hist_log=mine\n[b]\nrw=randwrite\nbs=8k\n",
		"more.fio": "[global]\nioengine=null\nsize=1t\ninclude part.inc\n[c]\nrw=randrw\nnumjobs=3\ngroup_reporting\n",
	}
	engine := func(name string) string {
		return "fio --name=" + name + " --ioengine=" + name + " --filename=data --size=8m --rw=randrw --iodepth=4 --rate_iops=500 --time_based --runtime=4"
	}
	for name, line := range map[string]string{
		"psync": engine("psync"), "libaio": engine("libaio"), "mmap": engine("mmap"), "io_uring": engine("io_uring"),
		"null at full speed":        "fio --name=n --ioengine=null --size=1t --rw=randread --time_based --runtime=4 --numjobs=2",
		"a log of its own, include": "own.fio", "several job files": "own.fio more.fio", "stonewall": "more.fio --section=c own.fio",
		"a log of averages": "fio --name=l --ioengine=null --size=1t --rw=read --time_based --runtime=4 --rate_iops=500 --write_lat_log=l --log_avg_msec=500",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range files {
				check(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			words := append([]string{fio, "--output-format=json"}, strings.Fields(strings.TrimPrefix(line, "fio "))...)
			home := t.TempDir()
			with := func(args ...string) ([]byte, error) {
				p := exec.Command("fio2es", args...)
				p.Dir, p.Env = dir, append(os.Environ(), "XDG_DATA_HOME="+home)
				var errs strings.Builder
				p.Stderr = &errs
				out, err := p.Output()
				if err != nil {
					err = fmt.Errorf("%w\n%s", err, &errs)
				}
				return out, err
			}
			out, err := with(append([]string{"run", "--"}, words...)...)
			if err != nil && strings.Contains(name, "io_uring") {
				t.Skip(err) // containers may forbid it
			}
			check(t, err)
			if strings.Contains(string(out), `"bins"`) {
				t.Error("fio's report has bins, which were not asked for")
			}
			want := map[string]float64{}
			for _, j := range reportIn(t, string(out[bytes.IndexByte(out, '{'):])) {
				want["read"] += j.Read.Total
				want["write"] += j.Write.Total
			}
			listed, err := with("percentiles", "--levels", "cluster", "--format", "json", "latest-execution")
			check(t, err)
			got := requestsIn(t, string(listed))
			for _, direction := range []string{"read", "write"} {
				if float64(got[direction]) != want[direction] {
					t.Errorf("%s: %d in windows, %.0f in fio's report", direction, got[direction], want[direction])
				}
			}
		})
	}
}

// TestRealFioSweep sweeps options with the fio that FIO2ES_TEST_FIO names. In fio's report all jobs have the values of the
// sweep, whether they come from a job file, a file that it includes, or the command line. Values that fio does not accept are
// refused before the first run.
func TestRealFioSweep(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"own.fio":  "[global]\nioengine=null\nsize=1m\nblocksize=8k\n[a]\nrw=randread\nbs=1k\n[b]\ninclude part.inc\n",
		"part.inc": "bs=2k\niodepth=7\n",
	} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := func(args ...string) (string, error) {
		p := exec.Command("fio2es", append([]string{"run", "--reports", "none"}, args...)...)
		p.Dir, p.Env = dir, append(os.Environ(), "XDG_DATA_HOME="+home)
		text, err := p.CombinedOutput()
		return string(text), err
	}
	for _, command := range []string{"own.fio", "--name=a --ioengine=null --size=1m --bs=1k --name=b --rw=write --iodepth=7 --ioengine=null --size=1m"} {
		words := strings.Fields(command)
		if text, err := run(append([]string{"--sweep", "bs=16k,32k", "--sweep", "iodepth=1,9", "--", fio, "--output-format=json", "--output=out.json"}, words...)...); err != nil {
			t.Fatal(err, text)
		}
		reports, err := filepath.Glob(filepath.Join(home, "fio2es", "runs", "*", "*.json"))
		check(t, err)
		counts := map[string]int{}
		for _, name := range reports {
			text := readText(t, name)
			for _, m := range regexp.MustCompile(`"(bs|iodepth)" : "(\w+)"`).FindAllStringSubmatch(text[strings.Index(text, `"jobs"`):], -1) {
				counts[m[1]+"="+m[2]]++
			}
			check(t, os.Remove(name))
		}
		want := map[string]int{"bs=16k": 4, "bs=32k": 4, "iodepth=1": 4, "iodepth=9": 4} // two jobs in four runs
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
	for sweep, want := range map[string]string{"rw=wrong": "failed parsing rw=wrong", "ioengine=wrong": "wrong", "iodepth=0": "out of range"} {
		text, err := run("--sweep", sweep, "--", fio, "own.fio")
		if err == nil || !strings.Contains(text, sweep+": fio refuses it: ") || !strings.Contains(text, want) {
			t.Errorf("%s: %v, %s", sweep, err, text)
		}
	}
}

// fioJob is an entry of fio's report.
type fioJob struct {
	Read, Write struct {
		Total float64 `json:"total_ios"`
	}
}

// reportIn returns the entries of the report in fio's output.
func reportIn(t *testing.T, text string) []fioJob {
	t.Helper()
	var report struct{ Jobs []fioJob }
	check(t, json.NewDecoder(strings.NewReader(text)).Decode(&report))
	return report.Jobs
}
