//go:build linux

package fiomatrix

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// launch runs all processes of a case, phase by phase. It reads the rows of each log right after its process has
// ended.
func (s *scene) launch(ctx context.Context, fio string) error {
	for phase := 0; ; phase++ {
		var wg sync.WaitGroup
		var failed error
		var mu sync.Mutex
		n := 0
		for _, p := range s.processes {
			if p.phase != phase {
				continue
			}
			n++
			wg.Go(func() {
				if err := s.run(ctx, fio, p); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if failed != nil || n == 0 {
			return failed
		}
		for _, p := range s.processes {
			if p.phase == phase {
				if err := s.readTruth(p); err != nil {
					return err
				}
			}
		}
		if s.after != nil {
			if err := s.after(phase); err != nil {
				return err
			}
		}
	}
}

// run runs one fio to its end.
func (s *scene) run(ctx context.Context, fio string, p *process) error {
	if err := s.prepare(p); err != nil {
		return err
	}
	stop, err := s.serve(ctx, fio, p)
	defer stop()
	if err != nil {
		return err
	}
	time.Sleep(p.delay)
	args, err := s.command(p)
	if err != nil {
		return err
	}
	line := p.shell + "exec " + quote(append([]string{fio}, args...))
	if p.redirect != "" {
		line += " " + p.redirect + p.report
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = p.dir
	cmd.Cancel = func() error { return killTree(cmd.Process.Pid) }
	var text strings.Builder
	cmd.Stderr = &text
	if p.redirect == "" {
		cmd.Stdout = &text
	}
	p.started, p.boot = time.Now(), bootTime()
	if err := cmd.Start(); err != nil {
		return err
	}
	over := make(chan struct{})
	killed := s.signal(p, cmd.Process.Pid, over)
	err = cmd.Wait()
	p.ended = time.Now()
	close(over)
	wasKilled := <-killed
	os.WriteFile(s.in("truth", fmt.Sprintf("fio.%d.txt", p.number)), []byte(line+"\n"+text.String()), 0o644)
	if err != nil && ctx.Err() == nil && !wasKilled && p.shell == "" {
		return fmt.Errorf("fio: %v\n%s\n%s", err, line, &text)
	}
	return ctx.Err()
}

// prepare makes the folders, and the file for the requests.
func (s *scene) prepare(p *process) error {
	folders := []string{p.dir, s.in("truth"), s.in("data")}
	for _, f := range p.folders {
		folders = append(folders, filepath.Join(p.dir, f))
	}
	for _, dir := range folders {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	data := s.in("data", fmt.Sprintf("file.%d", p.number))
	return os.WriteFile(data, make([]byte, 4<<20), 0o644)
}

// sectionOptions returns all options of a section except its name.
func (s *scene) sectionOptions(p *process, i int) options {
	x := p.sections[i]
	mark := s.in("truth", fmt.Sprintf("%d.%d", p.number, i))
	o := options{"rw=" + x.rw, "rate_iops=" + x.rate, fmt.Sprintf("numjobs=%d", x.jobs), "write_lat_log=" + x.raw}
	if x.timed {
		o = append(o, "time_based", fmt.Sprintf("runtime=%dms", x.runtime.Milliseconds()))
		if x.runtime%time.Second == 0 {
			o = o.with(fmt.Sprintf("runtime=%d", x.runtime/time.Second))
		}
	}
	o = append(o, "exec_prerun=date +%s%N >>"+mark+".pre &&true", "exec_postrun=date +%s%N >>"+mark+".post &&true")
	return o.with(x.options...)
}

// command returns fio's command line, and writes the job file if there is one.
func (s *scene) command(p *process) ([]string, error) {
	args := slices.Clone(p.args)
	if p.redirect == "" && p.report != "" {
		args = append(args, "--output="+p.report)
	}
	if p.jobFile == "" && len(p.servers) == 0 {
		for i, x := range p.sections {
			args = append(args, "--name="+x.name)
			for _, o := range p.global.with(s.sectionOptions(p, i)...) {
				args = append(args, "--"+o)
			}
		}
		return args, nil
	}
	if p.jobFile == "" {
		p.jobFile = s.in("truth", "job.fio")
	}
	var text strings.Builder
	fmt.Fprintf(&text, "[global]\n%s\n", strings.Join(p.global, "\n"))
	for i, x := range p.sections {
		fmt.Fprintf(&text, "\n[%s]\n%s\n", x.name, strings.Join(s.sectionOptions(p, i), "\n"))
	}
	for _, server := range p.servers {
		args = append(args, "--client="+server, p.jobFile)
	}
	if len(p.servers) == 0 {
		args = append(args, p.jobFile)
	}
	if err := os.MkdirAll(filepath.Dir(p.jobFile), 0o755); err != nil {
		return nil, err
	}
	return args, os.WriteFile(p.jobFile, []byte(text.String()), 0o644)
}

func quote(args []string) string {
	var out []string
	for _, a := range args {
		out = append(out, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	return strings.Join(out, " ")
}

// serve starts the servers of a client, and waits until they listen.
func (s *scene) serve(ctx context.Context, fio string, p *process) (stop func(), err error) {
	var running []*exec.Cmd
	stop = func() {
		for _, c := range running {
			killTree(c.Process.Pid)
			c.Wait()
		}
	}
	for i, server := range p.servers {
		dir := s.in("truth", fmt.Sprintf("server.%d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return stop, err
		}
		cmd := exec.CommandContext(ctx, fio, "--server="+server)
		cmd.Cancel = func() error { return killTree(cmd.Process.Pid) }
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			return stop, err
		}
		running = append(running, cmd)
		if err := waitFor(strings.Replace(server, ",", ":", 1)); err != nil {
			return stop, err
		}
	}
	return stop, nil
}

// signal sends the signals of a process until it is over. The channel gets whether one of them ended it early.
func (s *scene) signal(p *process, pid int, over <-chan struct{}) <-chan bool {
	done := make(chan bool, 1)
	go func() {
		ended := false
		for _, sig := range p.signals {
			if !s.await(p, sig, over) {
				break
			}
			switch sig.name {
			case "stall":
				jobs := jobsOf(pid)
				if sig.jobs > 0 {
					jobs = jobs[:min(sig.jobs, len(jobs))]
				}
				for _, job := range jobs {
					syscall.Kill(job, syscall.SIGSTOP)
				}
				time.Sleep(sig.length)
				for _, job := range jobs {
					syscall.Kill(job, syscall.SIGCONT)
				}
			case "interrupt":
				syscall.Kill(pid, syscall.SIGINT)
				ended = true
			case "kill":
				killTree(pid)
				ended = true
			}
		}
		done <- ended
	}()
	return done
}

// await waits until a signal is due. The time counts from the start of the first job, because a busy machine starts
// it late. A kill also waits for two reports, because otherwise nothing would be left of the run. await returns
// false if the process is over.
func (s *scene) await(p *process, sig signal, over <-chan struct{}) bool {
	for {
		select {
		case <-over:
			return false
		case <-time.After(5 * time.Millisecond):
		}
		begun, _ := readMarks(s.in("truth", fmt.Sprintf("%d.0.pre", p.number)))
		if len(begun) == 0 || time.Since(time.UnixMilli(slices.Min(begun))) < sig.after {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(p.dir, p.report))
		if sig.name != "kill" || strings.Count(string(text), "\n}\n") >= 2 {
			return true
		}
	}
}

// killTree kills a process and everything that it started. fio's jobs have their own sessions, so a signal to its
// group does not reach them.
func killTree(pid int) error {
	jobs := children(pid)
	err := syscall.Kill(pid, syscall.SIGKILL)
	for _, job := range jobs {
		killTree(job)
	}
	return err
}

// jobsOf returns fio's jobs in their order: the processes below one that started none.
func jobsOf(pid int) (jobs []int) {
	for _, child := range children(pid) {
		if below := jobsOf(child); len(below) > 0 {
			jobs = append(jobs, below...)
		} else {
			jobs = append(jobs, child)
		}
	}
	slices.Sort(jobs)
	return jobs
}

// children returns the processes that a process started.
func children(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // any thread of fio2es may start fio
	var out []int
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, f := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}
