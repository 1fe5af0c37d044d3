package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/shim"
)

// sharedHost is a fio that takes part in a run of several hosts.
type sharedHost struct {
	host, unit string // unit is the volume, if CBT's script starts it
	after      time.Duration
	killed     time.Duration // fio and fio2es are killed so long after they began; 0: they end
}

// sharedRate is how many requests a job serves in a second.
const sharedRate = 300

// TestRealFioShared: several hosts, each with the fio that FIO2ES_TEST_FIO names, send one run while these run. The windows of the cluster are
// those of an ingest of the same reports, its totals are those of fio's last reports, and a dead host is missing and named.
func TestRealFioShared(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	t.Parallel()
	load := func(seconds int) string {
		return fmt.Sprintf("[global]\nioengine=null\nsize=1t\nrate_iops=%d\ntime_based\nruntime=%d\n", sharedRate, seconds)
	}
	one := load(6) + "[a]\nrw=randread\nnumjobs=2\n"
	two := []sharedHost{{host: "a"}, {host: "b", after: 1300 * time.Millisecond}}
	for name, c := range map[string]struct {
		job    string
		hosts  []sharedHost
		stages int
		again  bool
	}{
		"three stages": {job: load(4) + "[first]\nrw=randread\n[second]\nstonewall\nrw=randwrite\n[third]\nstonewall\nrw=randrw\n", hosts: two, stages: 3},
		"two volumes a host, by the script": {job: one, stages: 1, hosts: []sharedHost{
			{host: "a", unit: "0"}, {host: "a", unit: "1", after: 300 * time.Millisecond}, {host: "b", unit: "0"}, {host: "b", unit: "1", after: 700 * time.Millisecond},
		}},
		"again":       {job: one, hosts: two, stages: 1, again: true},
		"a late host": {job: one, hosts: []sharedHost{{host: "a"}, {host: "b", after: 4 * time.Second}}, stages: 1},
		"a dead host": {job: one, hosts: append(slices.Clone(two), sharedHost{host: "c", killed: 4 * time.Second}), stages: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const tries = 3 // a busy machine makes reports late, which are cut in an ingest of several hosts
			for try := 1; ; try++ {
				err := share(t, fio, c.job, c.hosts, c.stages, c.again)
				if err == nil {
					return
				}
				if try == tries {
					t.Fatal(err)
				}
				t.Logf("try %d: %v", try, err)
			}
		})
	}
}

// share runs fio on all hosts, and compares what they sent.
func share(t *testing.T, fio, job string, hosts []sharedHost, stages int, again bool) error {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "job.fio"), []byte(job), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "fio2es-fio"), []byte(shim.Script), 0o700))
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "h.db"))
	check(t, err, store.Close())
	s := &sharing{t: t, dir: dir, fio: fio}
	s.all(hosts)
	first := s.windows("night", "h.db", stages)
	if !again {
		return s.compare(hosts, first, stages)
	}
	s.all(hosts)
	if diff := cmp.Diff(first, s.windows("night", "h.db", stages)); diff == "" {
		return errors.New("the second attempt is the first")
	}
	return nil
}

type sharing struct {
	t        *testing.T
	dir, fio string
	rounds   int
}

// command returns a command of fio2es on a host, which has a folder. All hosts have one history.
func (s *sharing) command(host string, words ...string) *exec.Cmd {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = filepath.Join(s.dir, host)
	if os.Mkdir(cmd.Dir, 0o700) == nil {
		check(s.t, os.Symlink(filepath.Join("..", "h.db"), filepath.Join(cmd.Dir, "h.db")))
	}
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "FIO2ES_HOST="+host, "FIO2ES_HISTORY=h.db",
		"FIO2ES_WEIGHTING=completion", "FIO2ES_SHIM_RUN=night", "FIO2ES_SHIM_FIO="+s.fio)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// all runs fio on all hosts until all have ended, and finishes the run.
func (s *sharing) all(hosts []sharedHost) {
	s.rounds++
	said := make([]string, len(hosts)) // the file with what fio2es says of each
	var running []*exec.Cmd
	begun := time.Now()
	for i, h := range hosts {
		time.Sleep(time.Until(begun.Add(h.after)))
		words := []string{"fio2es", "run", "--quiet", "--run", "night", "--", s.fio, "../job.fio"}
		said[i] = filepath.Join(s.dir, fmt.Sprintf("said.%d.%d", s.rounds, i))
		if h.unit != "" {
			words = []string{"sh", "-c", "../fio2es-fio --output-format=json,normal ../job.fio > output." + h.unit}
			said[i] = filepath.Join(s.dir, h.host, "fio2es_output."+h.unit+".err")
		}
		cmd := s.command(h.host, words...)
		if h.unit == "" {
			out, err := os.Create(said[i])
			check(s.t, err)
			defer out.Close()
			cmd.Stderr = out
		}
		check(s.t, cmd.Start())
		s.t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		running = append(running, cmd)
	}
	for i, h := range hosts {
		if h.killed > 0 {
			time.Sleep(time.Until(begun.Add(h.after + h.killed)))
			killIn(filepath.Join(s.dir, h.host))
			_ = running[i].Process.Kill()
		}
	}
	for i, h := range hosts {
		for h.killed == 0 && s.reads(said[i], "all hosts have ended", "still run", "stored run", "error: ") == "" {
			time.Sleep(50 * time.Millisecond)
		}
		if text := s.reads(said[i], "error: "); text != "" && h.killed == 0 {
			s.t.Errorf("%s: %s", h.host, text)
		}
	}
	for { // it fails while a host that is dead is not silent
		text, err := s.command("a", "fio2es", "finish", "night").CombinedOutput()
		if err == nil || bytes.Contains(text, []byte("is not complete")) {
			break
		}
		if !bytes.Contains(text, []byte("still send")) {
			s.t.Fatalf("finish: %v\n%s", err, text)
		}
		time.Sleep(200 * time.Millisecond)
	}
	for i, cmd := range running {
		_ = cmd.Wait()
		if s.t.Failed() {
			s.t.Logf("%s: %s", hosts[i].host, s.reads(said[i], ""))
		}
	}
}

// reads returns the text of a file if one of some words is in it.
func (s *sharing) reads(name string, words ...string) string {
	text, _ := os.ReadFile(name)
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(string(text), w) }) {
		return string(text)
	}
	return ""
}

// second is what completed in a second, or in all.
type second struct {
	Level, Start, Direction string
	Requests                int64
	P99                     float64 `json:"p99_us"`
}

// windows returns the seconds of each stage and direction, in order, and then its total, of the newest stages with a name in a history.
func (s *sharing) windows(name, history string, stages int) map[string][]second {
	all := map[string][]second{}
	out, err := s.command("a", "fio2es", "runs", "--history", history, "--format", "csv", "--columns", "id,stage,name,requests,state").Output()
	check(s.t, err)
	seen := map[string]bool{}
	for _, row := range strings.Split(strings.TrimSpace(string(out)), "\n")[1:] {
		cells := strings.Split(row, ",")
		if id := cells[0]; !seen[id] && len(seen) < stages && strings.HasPrefix(cells[2], name) {
			seen[id] = true
			text, err := s.command("a", "fio2es", "percentiles", id, "--history", history, "--levels", "cluster", "--format", "json").Output()
			check(s.t, err)
			for one := range bytes.Lines(text) {
				var w second
				check(s.t, json.Unmarshal(one, &w))
				at, err := time.Parse(time.RFC3339, w.Start)
				check(s.t, err)
				if w.Start = at.Add(50 * time.Millisecond).Truncate(time.Second).Format(time.TimeOnly); w.Level == "run" {
					w.Start = "" // a first second is whole, if several hosts share it
				}
				of := "stage " + cells[1] + ", " + w.Direction
				all[of] = append(all[of], w)
			}
		}
	}
	if len(seen) != stages {
		s.t.Errorf("%d stages, want %d:\n%s", len(seen), stages, out)
	}
	return all
}

// compare compares the windows with those of an ingest of the same reports.
func (s *sharing) compare(hosts []sharedHost, sent map[string][]second, stages int) error {
	words := []string{"fio2es", "ingest", "--history", "../again.db", "--one-run"}
	for i, h := range hosts {
		if i == 0 || hosts[i-1].host != h.host {
			words = append(words, h.host+"="+s.reportsOf(h))
		}
	}
	text, err := s.command("a", words...).CombinedOutput()
	if err != nil && !bytes.Contains(text, []byte("killed")) {
		return fmt.Errorf("ingest: %w\n%s", err, text)
	}
	lost := int64(0) // what a host that was killed had not sent: at most what its fio served between two updates, each 2 s, and in a second
	if slices.ContainsFunc(hosts, func(h sharedHost) bool { return h.killed > 0 }) {
		lost = 3 * 2 * sharedRate
	}
	for of, want := range s.windows("", "../again.db", stages) {
		if err := same(want, sent[of], lost); err != nil {
			return fmt.Errorf("%s: %w: of the reports, and sent:\n%s\n%s", of, err, cmp.Diff(want, sent[of]), text)
		}
	}
	return nil
}

// same compares the seconds of an ingest with those that were sent. A report that came late is cut at the edges of seconds where several
// fios are read, and not where its host sends them: so a few seconds may have requests of those beside, at most those of a second of a fio.
// lost is how many may not have been sent.
func same(want, sent []second, lost int64) error {
	most := 2*sharedRate + lost
	byStart := map[string]second{}
	for _, w := range sent {
		byStart[w.Start] = w
	}
	equal, moved := 0, int64(0)
	for _, w := range want {
		got := byStart[w.Start]
		delete(byStart, w.Start)
		switch moved += w.Requests - got.Requests; {
		case w.Level == "run" && (got.Requests > w.Requests || got.Requests < w.Requests-lost):
			return fmt.Errorf("%d requests, want %d", got.Requests, w.Requests)
		case w.Level == "run":
		case moved > most || moved < -2*sharedRate:
			return fmt.Errorf("until %s %d requests too few", w.Start, moved)
		case w.Requests == got.Requests && math.Abs(w.P99-got.P99) < w.P99/100:
			equal++
		}
	}
	if n := len(want) - 1; equal < n*2/3 {
		return fmt.Errorf("%d of %d seconds are equal", equal, n)
	}
	return nil
}

// reportsOf returns a folder with the reports of a host alone.
func (s *sharing) reportsOf(h sharedHost) string {
	to := filepath.Join(s.dir, "reports", h.host)
	check(s.t, os.MkdirAll(to, 0o700))
	for _, form := range []string{"runs/*/*.grid1s.json", "live_output.grid1s.*"} {
		names, _ := filepath.Glob(filepath.Join(s.dir, h.host, form))
		for _, name := range names {
			text, err := os.ReadFile(name)
			check(s.t, err)
			check(s.t, os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o600))
		}
	}
	return to
}
