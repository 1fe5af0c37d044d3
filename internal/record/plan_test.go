package record

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/fioargs"
)

var jobFiles = map[string]string{
	"job.fio":     "[a]\nruntime=1m\nramp_time=5\n[b]\nruntime=30\n[c]\nstonewall\nruntime=10\nstartdelay=2\n",
	"logs.fio":    "[a]\nwrite_bw_log=x\n",
	"packed.fio":  "[a]\nlog_store_compressed=1\n",
	"reduced.fio": "[a]\ngtod_reduce=1\n",
	"hours.fio":   "[a]\nruntime=10h\nnumjobs=16\n",
	"stages.fio":  "[a]\nruntime=1m\n[b]\nstonewall\n[c]\nstonewall\nruntime=20\nramp_time=5\n",
	"night.fio":   "[a]\nruntime=1d\nnumjobs=4\n",
	"many.fio":    "[a]\nnumjobs=64\n",
	"grouped.fio": "[a]\nnumjobs=64\ngroup_reporting\n",
	"more.fio":    "[a]\ninclude sub/part.inc # x\nbs=4k\n", "sub/part.inc": "rw=read\n",
}

func readJob(name string) ([]byte, error) {
	text, ok := jobFiles[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func planOf(t *testing.T, line string, s Settings) (*Plan, error) {
	t.Helper()
	s.Folder, s.Name, s.ReadFile = "/runs/x", "job", readJob
	if s.Reports == "" {
		s.Reports = "auto"
	}
	if s.Version == (fioargs.Version{}) {
		s.Version = fioargs.Version{Major: 3, Minor: 33}
	}
	s.CPUs = 2
	c, err := fioargs.Parse(strings.Fields(line), readJob)
	if err != nil {
		t.Fatal(err)
	}
	s.Signals = len(c.Before) == 0
	return Of(c, s)
}

func TestPlan(t *testing.T) {
	const logs = "--write_hist_log=/runs/x/job --log_hist_msec=1000 "
	short := strings.Replace(logs, "1000", "100 --log_hist_coarseness=2", 1)
	for _, tt := range []struct {
		name, line string
		settings   Settings
		want       string
		every      time.Duration
		note       string
	}{
		{"a job file", "fio job.fio", Settings{},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ -- job.fio", time.Second, ""},
		{"what has job_start", "fio job.fio", Settings{Version: fioargs.Version{Major: 3, Minor: 36}, Reports: "none"},
			"fio " + short + "--output-format=normal,json+ -- job.fio", 0, ""},
		{"what writes half of its logs", "fio job.fio", Settings{Version: fioargs.Version{Major: 3, Minor: 16}, Reports: "none"},
			"fio " + short + "--log_unix_epoch=1 --output-format=normal,json+ -- job.fio", 0, "fio-3.16 writes memory in place of the counts"},
		{"what starts fio, and its output", "sudo -E fio --output out --output-format=terse,json --eta=always --name=a --write_hist_log=mine",
			Settings{Quiet: true, Reports: "5s"},
			"sudo -E fio " + logs + "--output-format=terse,json+ --output=/runs/x/job.json --status-interval=5 --eta=always --name=a --write_hist_log=mine",
			5 * time.Second, "cannot send signals to this fio"},
		{"output of a fio that gets signals", "fio --output=out --name=a", Settings{},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ --output=/runs/x/job.grid1s.json --name=a", time.Second, ""},
		{"no progress of fio", "fio --minimal --append-terse --name=a", Settings{Quiet: true, Reports: "none"},
			"fio " + logs + "--log_unix_epoch=1 --output-format=terse,terse,json+ --eta=never --name=a", 0, ""},
		{"reports of the user", "fio --status-interval=7 --name=a", Settings{},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ --status-interval=7 --name=a", 7 * time.Second, ""},
		{"rows of the user", "fio --name=a --runtime=9 --log_hist_msec=2000", Settings{Reports: "none"},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ --name=a --runtime=9 --log_hist_msec=2000", 0, ""},
		{"logs of the user", "fio logs.fio", Settings{Reports: "none"}, "fio " + logs + "--output-format=normal,json+ -- logs.fio", 0, ""},
		{"logs that fio writes wrongly", "fio packed.fio", Settings{Reports: "none"},
			"fio --log_unix_epoch=1 --output-format=normal,json+ -- packed.fio", 0, "packed.fio:2: log_store_compressed"},
		{"no latencies", "fio reduced.fio", Settings{Reports: "none"},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ -- reduced.fio", 0, "reduced.fio:2: [a] has no latencies, because gtod_reduce is on"},
		{"logs that need memory", "fio hours.fio", Settings{Reports: "none"},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ -- hours.fio", 0, "up to 8 GiB for 16 jobs in 10h0m0s"},
		{"many jobs", "fio many.fio", Settings{},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ -- many.fio", 12 * time.Second, "a report each 12s"},
		{"many jobs in a group", "fio grouped.fio", Settings{},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ -- grouped.fio", time.Second, ""},
		{"a long run", "fio night.fio", Settings{},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ -- night.fio", 5 * time.Second, "up to the last 5s are lost"},
		{"too many jobs", "fio --name=a --numjobs=1000", Settings{},
			"fio " + logs + "--log_unix_epoch=1 --output-format=normal,json+ --name=a --numjobs=1000", 0, "all is lost if fio is killed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := planOf(t, tt.line, tt.settings)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.Join(p.Words, " ")); diff != "" {
				t.Error(diff)
			}
			asks := !slices.ContainsFunc(p.Words, func(word string) bool { return strings.HasPrefix(word, "--status-interval") })
			if p.Grid != (asks && p.Every > 0) {
				t.Errorf("asks fio for reports: %v", p.Grid)
			}
			if notes := strings.Join(p.Notes, "\n"); p.Every != tt.every || !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
				t.Errorf("every %v, notes %q", p.Every, notes)
			}
		})
	}
}

// TestCopies: job files after the first are copies that begin with the added options. If options are swept, all are.
func TestCopies(t *testing.T) {
	p, err := planOf(t, "fio job.fio grouped.fio more.fio", Settings{Reports: "none"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"/runs/x/job-2.fio": []byte(
		"[global]\nwrite_hist_log=/runs/x/job\nlog_hist_msec=1000\nlog_unix_epoch=1\n" + jobFiles["grouped.fio"]),
		"/runs/x/job-3.fio": []byte("[global]\nwrite_hist_log=/runs/x/job\nlog_hist_msec=1000\nlog_unix_epoch=1\n" +
			"[a]\nrw=read\nbs=4k\n")}
	if diff := cmp.Diff(want, p.Copies); diff != "" || p.Words[len(p.Words)-1] != "/runs/x/job-3.fio" {
		t.Error(diff, p.Words)
	}
	c, err := fioargs.Parse([]string{"job.fio"}, readJob)
	if err != nil {
		t.Fatal(err)
	}
	set := []fioargs.Option{{Name: "runtime", Value: "7"}}
	p, err = Of(c.With(set), Settings{Folder: "/runs/x", Name: "job", Version: fioargs.HasJobStart, Reports: "none", ReadFile: readJob})
	if err != nil {
		t.Fatal(err)
	}
	want = map[string][]byte{"/runs/x/job-1.fio": []byte("[a]\nramp_time=5\nruntime=7\n[b]\nruntime=7\n[c]\nstonewall\nstartdelay=2\nruntime=7\n")}
	if diff := cmp.Diff(want, p.Copies); diff != "" || p.Words[len(p.Words)-1] != "/runs/x/job-1.fio" || p.Length != 19*time.Second {
		t.Error(diff, p.Words, p.Length)
	}
}

func TestRefused(t *testing.T) {
	for line, want := range map[string]string{
		"fio --client=h job.fio":      "run fio2es on each host",
		"fio --server":                "a server runs no jobs of its own",
		"fio --showcmd job.fio":       "fio runs no jobs with it",
		"fio --bs=4k":                 "fio --bs=4k has no jobs",
		"fio --section=none job.fio":  "has no jobs",
		"fio --parse-only --name=one": "--parse-only",
	} {
		if _, err := planOf(t, line, Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	if _, err := planOf(t, "fio job.fio", Settings{Version: fioargs.Version{Major: 2, Minor: 2}}); err == nil {
		t.Error("fio-2.2 has no histogram logs")
	}
	if _, err := planOf(t, "fio job.fio", Settings{Reports: "1ms"}); err == nil {
		t.Error("reports each millisecond")
	}
}

func TestLength(t *testing.T) {
	for file, want := range map[string]time.Duration{"job.fio": 75 * time.Second, "hours.fio": 10 * time.Hour, "many.fio": 0} {
		if p, err := planOf(t, "fio "+file, Settings{}); err != nil || p.Length != want {
			t.Errorf("%s: %v, %v", file, p.Length, err)
		}
	}
	for file, want := range map[string][]Stage{
		"job.fio":    {{65 * time.Second, 10 * time.Second}, {10 * time.Second, 0}},
		"stages.fio": {{time.Minute, 0}, {0, 25 * time.Second}, {20 * time.Second, 0}},
	} {
		if p, err := planOf(t, "fio "+file, Settings{}); err != nil || !slices.Equal(p.Stages, want) {
			t.Errorf("%s: stages %v, %v", file, p.Stages, err)
		}
	}
}

func TestName(t *testing.T) {
	for line, want := range map[string]string{
		"fio job.fio": "job", "fio --name=a.b/c --name=x": "a-b-c", "fio --profile=act": "fio",
		fmt.Sprintf("fio --name=%060d", 1): strings.Repeat("0", 40),
	} {
		c, err := fioargs.Parse(strings.Fields(line), readJob)
		if err != nil {
			t.Fatal(err)
		}
		if got := NameOf(c); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}
