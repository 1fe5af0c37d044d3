//go:build linux

package fiomatrix

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hangLoads are loads that stop for a while.
var hangLoads = []struct {
	name string
	draw func(*scene, *process)
}{
	{"hang", func(s *scene, p *process) { hang(s, p, 0) }},
	{"one of two hangs", func(s *scene, p *process) {
		p.sections[0].jobs = 2
		hang(s, p, 1)
	}},
	{"hangs at the start", func(s *scene, p *process) {
		hang(s, p, 0)
		p.signals[0].after = time.Duration(s.between(200, 700)) * time.Millisecond
	}},
	{"sleep", func(_ *scene, p *process) {
		x := p.sections[0]
		x.rate = "20000" // so that the first requests take some milliseconds
		// It ends after a request, not after a sleep, because only requests show when it began.
		x.timed, x.options = false, options{"number_ios=3100", "thinktime=900ms", "thinktime_blocks=200"}
	}},
}

// hang stops the first jobs of a process, or all (0), in the middle.
func hang(s *scene, p *process, jobs int) {
	p.signals = []signal{{
		after: time.Duration(s.between(2200, 2900)) * time.Millisecond, name: "stall", jobs: jobs,
		length: time.Duration(s.between(2000, 3500)) * time.Millisecond,
	}}
}

// hangRuns are ways to run such a load. Each returns what fio2es says about it, by source.
var hangRuns = []struct {
	name string
	run  func(h *hanging, ctx context.Context) error
}{{"files", (*hanging).files}, {"run", (*hanging).recorded}, {"shim", (*hanging).shimmed}}

// TestHang: a hang of storage looks like one in all that fio2es reads: logs, periodic reports, both, or a run that is not
// over. In each window are the requests that completed between its start and its end. The package comment has the
// settings.
func TestHang(t *testing.T) {
	fio := os.Getenv("FIO2ES_TEST_FIO")
	if fio == "" {
		t.Skip("FIO2ES_TEST_FIO names no fio")
	}
	t.Parallel()
	program := os.Getenv("FIO2ES_TEST_PROGRAM")
	if program == "" {
		program = build(t)
	}
	seed, tries := number(t, "FIO2ES_TEST_FIO_SEED", 1), int(number(t, "FIO2ES_TEST_FIO_TRIES", 1))
	for i, load := range hangLoads {
		for _, how := range hangRuns {
			t.Run(load.name+"/"+how.name, func(t *testing.T) {
				t.Parallel()
				for try := 1; ; try++ {
					h := &hanging{scene: &scene{way: load.name, rnd: rand.New(rand.NewPCG(seed, uint64(i)))}, fio: fio, program: program}
					err := h.try(t.Context(), load.draw, how.run)
					switch {
					case err == nil:
						t.Logf("%s", &h.text)
						return
					case try < tries:
						t.Logf("try %d: %v", try, err)
					default:
						t.Fatalf("%v\n%s", err, &h.text)
					}
				}
			})
		}
	}
}

// hanging is a run of a load that stops for a while.
type hanging struct {
	*scene
	fio, program string
	process      *process
	text         strings.Builder // what was seen
}

func (h *hanging) try(ctx context.Context, draw func(*scene, *process), run func(*hanging, context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	root, err := os.MkdirTemp(tempFolder(), "fiohang")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	h.root, h.histMS = root, 1000
	x := &section{name: "a", rw: "randread", rate: "400", jobs: 1, runtime: 8 * time.Second, timed: true}
	h.process = &process{dir: h.in("run"), sections: []*section{x}, global: options{"ioengine=null", "size=1t", "norandommap", "disable_lat=1"}}
	h.processes = []*process{h.process}
	h.adopt(h.process, 0, x)
	draw(h.scene, h.process)
	err = run(h, ctx)
	if err != nil {
		h.keep()
	}
	return err
}

// keep copies the files of a failed case.
func (h *hanging) keep() {
	if dir := os.Getenv("FIO2ES_TEST_FIO_KEEP"); dir != "" {
		_ = os.MkdirAll(dir, 0o755)
		_ = exec.Command("cp", "-a", h.root, dir).Run()
	}
}

// files has logs and periodic reports in one folder, which follow watches. Later one kind is removed.
func (h *hanging) files(ctx context.Context) error {
	p := h.process
	p.report, p.args = "out.json", []string{"--output-format=json+", "--status-interval=1"}
	p.global = p.global.with("write_hist_log=out", "log_hist_msec=1000")
	followed, err := h.followed(ctx, h.fio)
	if err != nil {
		return err
	}
	both := h.check("both", fromRows, h.percentiles(ctx, h.in("run")))
	for _, name := range []string{"log", "reports"} {
		if err := os.CopyFS(h.in(name), os.DirFS(h.in("run"))); err != nil {
			return err
		}
	}
	report := h.in("log", "out.json")
	text, err := os.ReadFile(report)
	if err == nil {
		err = os.WriteFile(report, text[bytes.LastIndex(text, []byte("\n{\n"))+1:], 0o644)
	}
	for _, name := range []string{"out.json", "out_clat_hist.1.log", "out_clat_hist.2.log"} {
		err = errors.Join(err, keepTime(h.in("run", name), h.in("log", name)))
		if name != "out.json" {
			_ = os.Remove(h.in("reports", name))
		}
	}
	return errors.Join(err, followed, both, h.check("log", fromRows, h.percentiles(ctx, h.in("log"))), h.check("reports", fromReports, h.percentiles(ctx, h.in("reports"))))
}

// keepTime gives a copy the time of the original, if there is one.
func keepTime(original, copied string) error {
	info, err := os.Stat(original)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.Chtimes(copied, time.Time{}, info.ModTime()))
}

// recorded runs fio with fio2es run, and looks at the run while it is live.
func (h *hanging) recorded(ctx context.Context) error {
	wrapper, err := h.wrapper("exec env FIO2ES_WEIGHTING=completion '%s' run --quiet --history '%s' -- '%s' \"$@\"\n", h.program, h.in("history.db"), h.fio)
	if err != nil {
		return err
	}
	h.process.sections[0].runtime = 14 * time.Second // windows of a live run are stored some seconds late
	answers, ends := []answer{}, []int64{}
	over, seen := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(seen)
		for {
			select {
			case <-over:
				return
			case <-time.After(500 * time.Millisecond):
				answers, ends = append(answers, h.latest(ctx)), append(ends, time.Now().UnixMilli())
			}
		}
	}()
	err = h.launch(ctx, wrapper)
	close(over)
	<-seen
	if err != nil {
		return err
	}
	last, _ := slices.BinarySearch(ends, boundsOf(h.truth).endLo)
	if last == 0 {
		return errors.New("no answer while fio ran")
	}
	live := answers[last-1]
	return errors.Join(h.check("live", tailing, live), h.check("stored", fromReports, h.latest(ctx)))
}

// shimmed runs fio with the script for CBT, which also writes periodic reports for follow.
func (h *hanging) shimmed(ctx context.Context) error {
	script, err := exec.CommandContext(ctx, h.program, "shim").Output()
	if err != nil {
		return err
	}
	wrapper, err := h.wrapper("%s", strings.Replace(string(script), "#!/bin/sh\n", "#!/bin/sh\nFIO2ES_SHIM_LIVE=1 FIO2ES_SHIM_FIO='"+h.fio+"'\n", 1))
	if err != nil {
		return err
	}
	h.process.redirect, h.process.report, h.process.args = ">", "output.0", []string{"--output-format=json,normal"}
	followed, err := h.followed(ctx, wrapper)
	if err != nil {
		return err
	}
	return errors.Join(followed, h.check("shim", fromReports, h.percentiles(ctx, h.in("run"))))
}

// wrapper writes a script that runs in place of fio.
func (h *hanging) wrapper(format string, args ...any) (string, error) {
	text := fmt.Sprintf(format, args...)
	if !strings.HasPrefix(text, "#!") {
		text = "#!/bin/sh\n" + text
	}
	return h.in("fio"), os.WriteFile(h.in("fio"), []byte(text), 0o755)
}

// followed runs fio while fio2es follow watches its folder. wrong is what the lines of windows and the stored ones have
// wrong.
func (h *hanging) followed(ctx context.Context, fio string) (wrong, err error) {
	if err := os.MkdirAll(h.in("run"), 0o755); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, h.program, "follow", "--history", h.in("history.db"), "--every", "500ms", "--quiet", "8s", "--levels", "cluster", "--format", "json", h.in("run"))
	cmd.Env = h.environ()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	err = h.launch(ctx, fio)
	_ = cmd.Process.Signal(syscall.SIGINT) // what was read is stored
	if ended := cmd.Wait(); ended != nil && err == nil {
		err = fmt.Errorf("follow: %w\n%s", ended, &errs)
	}
	if err != nil {
		return nil, err
	}
	return errors.Join(h.check("follow", tailing, answer{stdout: out.String(), stderr: errs.String()}), h.check("follow, stored", tailing, h.latest(ctx))), nil
}

func (h *hanging) percentiles(ctx context.Context, path string) answer {
	return h.call(ctx, h.program, []string{"percentiles", "--levels", "cluster", "--format", "json", path})
}

// latest returns the windows of the run in the history.
func (h *hanging) latest(ctx context.Context) answer {
	return h.call(ctx, h.program, []string{"percentiles", "latest", "--history", h.in("history.db"), "--levels", "cluster", "--format", "json"})
}

// tailing is the source of a run that is not over: reports, of which later ones may lack.
const tailing = fromReports + 1

// check compares windows with the completions.
func (h *hanging) check(name string, from source, a answer) error {
	windows, err := hangWindows(a)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(windows) < 2 {
		return fmt.Errorf("%s: %d windows\n%s", name, len(windows), a.stderr)
	}
	var done []int64
	for _, j := range h.truth {
		for _, c := range j.done[0] {
			done = append(done, c.at)
		}
	}
	slices.Sort(done)
	slack := int64(60) // in ms: rows and reports are written somewhat late
	if from != fromRows {
		slack = 120
	}
	c := &comparison{scene: h.scene, verdict: &verdict{}, jobs: h.truth}
	start, best := boundsOf(h.truth), []string(nil)
	off := (start.startLo+start.startHi)/2 - windows[0].from // of the start; later times may be right, such as those of reports
	for i := range int64(11) {
		if wrong := hangErrors(windows, done, off*i/10, slack); i == 0 || len(wrong) < len(best) {
			best = wrong
		}
	}
	c.within("start", windows[0].from, start.startLo, start.startHi)
	if end := windows[len(windows)-1].to; from != tailing {
		c.within("end", end, done[len(done)-1], start.endHi) // windows without requests at the end are not printed
	}
	if long := func(w window) bool { return w.length() > 1900 }; from == fromReports && slices.ContainsFunc(windows, long) && !strings.Contains(a.stderr, "late") {
		best = append(best, "no word of reports that came late")
	}
	for _, f := range c.failures {
		best = append(best, fmt.Sprintf("%s: %s, expected %s", f.check, f.got, f.want))
	}
	var sum int64
	for _, w := range windows {
		sum += w.completed
	}
	if from != tailing && sum != int64(len(done)) || sum > int64(len(done)) {
		best = append(best, fmt.Sprintf("%d requests, not %d", sum, len(done)))
	}
	fmt.Fprintf(&h.text, "%s:\n%s", name, table(windows, done))
	if len(best) > 0 {
		return fmt.Errorf("%s: %s", name, strings.Join(best, "; "))
	}
	return nil
}

// hangErrors returns the windows that have other requests than those that completed in them.
func hangErrors(windows []window, done []int64, shift, slack int64) (wrong []string) {
	for _, w := range windows {
		from, to := w.from+shift, w.to+shift
		least, most := max(0, between(done, from+slack, to-slack)-1), between(done, from-slack, to+slack)+1
		if w.completed < least || w.completed > most {
			wrong = append(wrong, fmt.Sprintf("%d requests, not %d to %d, from %d to %d ms", w.completed, least, most, w.from-windows[0].from, w.to-windows[0].from))
		}
		if n := w.iops * float64(w.length()) / 1000; n < 0.97*float64(w.completed)-3 || n > 1.03*float64(w.completed)+3 {
			wrong = append(wrong, fmt.Sprintf("%.0f IOPS for %d requests in %d ms", w.iops, w.completed, w.length()))
		}
	}
	return wrong
}

// between counts the times in (from, to].
func between(times []int64, from, to int64) int64 {
	upTo := func(at int64) int {
		i, _ := slices.BinarySearch(times, at+1)
		return i
	}
	return int64(max(0, upTo(to)-upTo(from)))
}

// hangWindows reads the windows of the cluster from lines of JSON.
func hangWindows(a answer) ([]window, error) {
	lines, err := readLines(a.stdout)
	var out []window
	for _, l := range lines {
		if l["level"] != "cluster" {
			continue
		}
		var w window
		for key, into := range map[string]*int64{"start": &w.from, "end": &w.to} {
			at, failed := time.Parse(time.RFC3339, text0(l[key]))
			*into, err = at.UnixMilli(), errors.Join(err, failed)
		}
		requests, _ := l["requests"].(float64)
		w.completed = int64(requests)
		w.iops, _ = l["iops"].(float64)
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	return out, err
}

// table has a line for each window: its times, its requests, and those that completed.
func table(windows []window, done []int64) string {
	var b strings.Builder
	for _, w := range windows {
		fmt.Fprintf(&b, "%8d to %5d ms: %5d, truth %5d\n", w.from-windows[0].from, w.to-windows[0].from, w.completed, between(done, w.from, w.to))
	}
	return b.String()
}

// environ keeps the user's settings and history out of the way.
func (s *scene) environ() []string {
	return append(os.Environ(), "HOME="+s.in("home"), "XDG_DATA_HOME="+s.in("home"), "XDG_CONFIG_HOME="+s.in("home"), "XDG_STATE_HOME="+filepath.Join(s.in("home"), "state"))
}
