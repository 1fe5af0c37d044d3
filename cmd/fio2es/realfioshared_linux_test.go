package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/shim"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// sharedHost is a fio that takes part in a run of several hosts.
type sharedHost struct {
	host, unit string // unit is the volume, if CBT's script starts it
	after      time.Duration
	killed     bool // fio and fio2es are killed when windows of them have come
}

// sharedRate is how many requests a job serves in a second.
const sharedRate = 300

// TestRealFioShared: several hosts, each with the fio that FIO2ES_TEST_FIO names, send one run while these run. The run has exactly what fio's last
// reports have, bin by bin, and so has an ingest of them. So have the sums of windows up to each second whose reports came in time, and
// of others they are between the reports around. A dead host has what it sent, and is named.
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
		"a dead host": {job: load(8) + "[a]\nrw=randread\nnumjobs=2\n", hosts: append(slices.Clone(two), sharedHost{host: "c", killed: true}), stages: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const tries = 3 // on a busy machine fio may end itself, and what an ingest makes of reports that come seconds late is not known to a second
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
	if err := s.all(hosts); err != nil || !again {
		if err == nil {
			err = s.compare(hosts, stages)
		}
		return err
	}
	first := s.table("runs", "--columns", "id,name")
	if err := s.all(hosts); err != nil {
		return err
	}
	if runs := s.table("runs", "--columns", "id,name"); len(runs) != len(first)+stages {
		return fmt.Errorf("%v after the second attempt, and %v before", runs, first)
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
func (s *sharing) all(hosts []sharedHost) error {
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
		if h.killed {
			for s.command("a", "fio2es", "percentiles", "night", "--levels", "host", "--host", h.host).Run() != nil {
				time.Sleep(200 * time.Millisecond)
			}
			killIn(filepath.Join(s.dir, h.host))
			_ = running[i].Process.Kill()
		}
	}
	for i, h := range hosts {
		for !h.killed && s.reads(said[i], "all hosts have ended", "still run", "stored run", "error: ") == "" {
			time.Sleep(50 * time.Millisecond)
		}
		if text := s.reads(said[i], "error: "); text != "" && !h.killed {
			return fmt.Errorf("%s: %s", h.host, text)
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
	return nil
}

// reads returns the text of a file if one of some words is in it.
func (s *sharing) reads(name string, words ...string) string {
	text, _ := os.ReadFile(name)
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(string(text), w) }) {
		return string(text)
	}
	return ""
}

// bins are requests by the lower edges of their bins in ns.
type bins map[string]int64

func (b bins) add(more bins) {
	for low, n := range more {
		b[low] += n
	}
}

func (b bins) total() (sum int64) {
	for _, n := range b {
		sum += n
	}
	return sum
}

// sharedWindow is a window: its time in milliseconds since 1970, and its requests.
type sharedWindow struct {
	start, end int64
	bins       bins
}

// sharedRun is what a history has of a stage in one direction.
type sharedRun struct {
	Run     string // requests and latencies of the whole run
	windows []sharedWindow
}

// until returns what completed before a moment, and false if a window does not end there.
func (s *sharedRun) until(at int64) (bins, bool) {
	const near = 50 // the first and the last window may have other edges
	sum := bins{}
	for _, w := range s.windows {
		if w.end <= at+near {
			sum.add(w.bins)
		} else if w.start < at-near {
			return nil, false
		}
	}
	return sum, true
}

// stored returns what the newest stages with a name in a history have, by stage and direction.
func (s *sharing) stored(name, history string, stages int, part ...string) map[string]*sharedRun {
	all := map[string]*sharedRun{}
	seen := map[string]bool{}
	for _, run := range s.table("runs", "--history", history, "--columns", "id,stage,name") {
		if seen[run["id"]] || len(seen) == stages || !strings.HasPrefix(run["name"], name) {
			continue
		}
		seen[run["id"]] = true
		of := func(row map[string]string) *sharedRun {
			key := fmt.Sprintf("stage %d, %s", max(1, s.number(run["stage"])), row["direction"])
			if all[key] == nil {
				all[key] = &sharedRun{}
			}
			return all[key]
		}
		for _, row := range s.table(append([]string{"percentiles", run["id"], "--history", history}, part...)...) {
			if row["level"] == "run" {
				of(row).Run = fmt.Sprintln(row["requests"], row["min_us"], row["p50_us"], row["p99_us"], row["p99_9_us"], row["max_us"])
			}
		}
		for _, row := range s.table(append([]string{"export", run["id"], "--history", history, "--as", "csv"}, part...)...) {
			one, start := of(row), s.time(row["start"])
			if n := len(one.windows); n == 0 || one.windows[n-1].start != start {
				one.windows = append(one.windows, sharedWindow{start, s.time(row["end"]), bins{}})
			}
			one.windows[len(one.windows)-1].bins[row["low_ns"]] += s.number(row["count"])
		}
	}
	return all
}

// table returns the rows that a command writes as CSV.
func (s *sharing) table(words ...string) (rows []map[string]string) {
	if words[0] != "export" {
		words = append(words, "--format", "csv")
	}
	cmd := s.command("a", append([]string{"fio2es"}, words...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%s: %v\n%s", words, err, &said)
	}
	all, err := csv.NewReader(&out).ReadAll()
	check(s.t, err)
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, cell := range cells {
			row[all[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *sharing) number(text string) int64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	check(s.t, err)
	return n
}

func (s *sharing) time(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	check(s.t, err)
	return at.UnixMilli()
}

// compare compares what was sent, and an ingest of the same reports, with these.
func (s *sharing) compare(hosts []sharedHost, stages int) error {
	words := []string{"fio2es", "ingest", "--history", "../again.db", "--one-run"}
	var fios []fioCounts
	dead := map[string]*sharedRun{} // the windows that came from a host that was killed
	isDead := false
	for i, h := range hosts {
		if i == 0 || hosts[i-1].host != h.host {
			words = append(words, h.host+"="+s.reportsOf(h))
			fios = append(fios, s.counted(h)...)
		}
		if isDead = isDead || h.killed; h.killed {
			dead = s.stored("night", "h.db", stages, "--levels", "host", "--host", h.host)
		}
	}
	text, err := s.command("a", words...).CombinedOutput()
	if err != nil && !bytes.Contains(text, []byte("killed")) {
		return fmt.Errorf("ingest: %w\n%s", err, text)
	}
	sent, again := s.stored("night", "h.db", stages, "--levels", "cluster"), s.stored("", "../again.db", stages, "--levels", "cluster")
	for _, f := range fios {
		for of := range f.sums[len(f.sums)-1] {
			if again[of] == nil {
				return fmt.Errorf("%s: not ingested\n%s", of, text)
			}
		}
	}
	for of, want := range again {
		got := sent[of]
		if got == nil || len(got.windows) == 0 != (len(want.windows) == 0) {
			return fmt.Errorf("%s: %v was sent, want %v", of, got, want)
		}
		until := int64(math.MaxInt64) // which windows came of a dead host
		if isDead {
			if dead[of] == nil {
				return fmt.Errorf("%s: nothing came from the dead host", of)
			}
			until = dead[of].windows[len(dead[of].windows)-1].end
		} else if want.Run != got.Run {
			return fmt.Errorf("%s: the run of the reports, and as sent:\n%s%s", of, want.Run, got.Run)
		}
		if len(want.windows) == 0 { // all directions together have none
			continue
		}
		if err := s.follows(want, of, fios, math.MaxInt64); err != nil {
			return fmt.Errorf("%s: ingest: %w\n%s\n%s", of, err, text, timeline(want, of, fios))
		}
		if err := s.follows(got, of, fios, until); err != nil {
			return fmt.Errorf("%s: sent: %w\n%s\n%s", of, err, text, timeline(got, of, fios))
		}
	}
	return nil
}

// follows compares the sums of windows, up to each second, with fio's reports. A report that came late is cut at a second in an ingest of
// several fios, and lies beside it as its host sends it, so single seconds differ. Of a host that was killed come windows up to a moment.
func (s *sharing) follows(got *sharedRun, of string, fios []fioCounts, until int64) error {
	first, last := got.windows[0].start, got.windows[len(got.windows)-1].end
	exact := 0
	for at := first - first%1000 + 1000; at < last+1000; at += 1000 {
		sum, isEdge := got.until(at)
		if !isEdge {
			continue
		}
		least, most := bins{}, bins{}
		for _, f := range fios {
			low, high := f.around(of, at)
			if f.isDead && at > until {
				low, high = f.around(of, until)
			}
			least.add(low)
			most.add(high)
		}
		for low := range most {
			if n := sum[low]; n < least[low] || n > most[low] {
				return fmt.Errorf("%s: until %s %d requests from %s ns on, want %d to %d", of, time.UnixMilli(at).UTC().Format(time.TimeOnly), n, low, least[low], most[low])
			}
		}
		if sum.total() > most.total() {
			return fmt.Errorf("%s: until %s %d requests, want %d", of, time.UnixMilli(at).UTC().Format(time.TimeOnly), sum.total(), most.total())
		}
		if least.total() == most.total() {
			exact++
		}
	}
	s.t.Logf("%s: exact at %d edges of %d s", of, exact, (last-first)/1000)
	return nil
}

// fioCounts is what a fio reports: sums since its start, by stage and direction.
type fioCounts struct {
	isDead bool
	times  []int64 // of its reports
	sums   []map[string]bins
}

// counted reads the reports of a host.
func (s *sharing) counted(h sharedHost) (all []fioCounts) {
	names, err := filepath.Glob(filepath.Join(s.dir, "reports", h.host, "*"))
	check(s.t, err)
	for _, name := range names {
		file, err := os.Open(name)
		check(s.t, err)
		defer file.Close()
		one := fioCounts{isDead: h.killed}
		for rep, err := range fiolog.ReadReports(file, name) {
			if err != nil {
				if !one.isDead { // killed while it wrote
					check(s.t, err)
				}
				break
			}
			sums := map[string]bins{}
			var sections []string
			for i := range rep.Jobs {
				if j := &rep.Jobs[i]; !slices.Contains(sections, j.Name) {
					sections = append(sections, j.Name)
				}
				for d := range fiolog.Directions {
					of := fmt.Sprintf("stage %d, %s", len(sections), fiolog.Direction(d))
					clat := &rep.Jobs[i].Directions[d].Clat
					for _, b := range clat.Bins {
						low, _ := clat.Layout.Bounds(int(b.Index))
						if sums[of] == nil {
							sums[of] = bins{}
						}
						sums[of][strconv.FormatInt(low, 10)] += int64(b.Count)
					}
				}
			}
			one.times, one.sums = append(one.times, rep.Timestamp), append(one.sums, sums)
		}
		all = append(all, one)
	}
	return all
}

// around returns what had completed at a moment, at least and at most. Both are what the report says that came in time for it. A late one,
// the first, and what follows the end of jobs, are placed where they came, or in the second beside that.
func (c *fioCounts) around(of string, at int64) (least, most bins) {
	const inTime, apart, beside = 50, 500, 1500
	last := len(c.times) - 1
	total := func(i int) int64 { return c.sums[min(i, last)][of].total() }
	next := slices.IndexFunc(c.times, func(t int64) bool { return t >= at })
	switch {
	case next < 0:
		return c.sums[last][of], c.sums[last][of]
	case next > 0 && c.times[next] <= at+inTime && c.times[next-1] <= at-apart && c.times[last] >= at+1000 &&
		(len(c.sums[next-1][of]) > 0 || len(c.sums[next][of]) == 0) &&
		(total(next) == total(last) || total(next+1) < total(last)): // an end shortly after an edge counts as the edge
		return c.sums[next][of], c.sums[next][of]
	}
	most = c.sums[last][of]
	for i, t := range c.times {
		if t <= at-beside {
			least = c.sums[i][of]
		}
		if t >= at+beside {
			return least, c.sums[i][of]
		}
	}
	return least, most
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

// timeline is the windows, and what fio had reported when, for messages: seconds and requests.
func timeline(got *sharedRun, of string, fios []fioCounts) string {
	var b strings.Builder
	for _, w := range got.windows {
		fmt.Fprintf(&b, "window %.3f-%.3f %d\n", float64(w.start%100000)/1000, float64(w.end%100000)/1000, w.bins.total())
	}
	for i, f := range fios {
		fmt.Fprintf(&b, "fio %d:", i)
		for k, t := range f.times {
			fmt.Fprintf(&b, " %.3f=%d", float64(t%100000)/1000, f.sums[k][of].total())
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
