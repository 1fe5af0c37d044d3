package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// Streams are the streams of fio. Its output first goes to the folder of the run.
type Streams struct {
	Stdin  *os.File  // nil: none
	Stdout io.Writer // what fio writes besides its output, such as its progress with --output
	Stderr io.Writer
	Shared bool // fio stays in the process group of fio2es, because the program that starts it asks for a password
}

// Process is a running fio.
type Process struct {
	cmd     *exec.Cmd
	passed  int    // number of signals passed to fio
	release func() // ends asking for reports
}

// Start starts the fio of a plan, for the run of an entry.
func (p *Plan) Start(e *Entry, s Streams) (*Process, error) {
	if err := p.writeCopies(); err != nil {
		return nil, err
	}
	if e.Grid = p.grid(); e.Grid > 0 {
		if err := e.append(); err != nil { // with the name of the report
			return nil, err
		}
	}
	cmd := exec.Command(p.Words[0], p.Words[1:]...)
	cmd.Stdout, cmd.Stderr = s.Stdout, s.Stderr
	if s.Stdin != nil {
		cmd.Stdin = s.Stdin
	}
	if p.Output.File == "" {
		out, err := os.Create(e.Report())
		if err != nil {
			return nil, err
		}
		defer out.Close()
		cmd.Stdout = out
	}
	if !s.Shared {
		ownGroup(cmd)
	}
	inherit(cmd, e)
	cmd.WaitDelay = time.Second // jobs of a killed fio keep its stderr open
	if err := cmd.Start(); err != nil {
		return nil, missing(p.Words[0], err)
	}
	return &Process{cmd: cmd, release: askOnGrid(cmd.Process, p.grid())}, nil
}

// missing explains that a program does not exist.
func missing(program string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed, or not in PATH: install the package fio (Debian, Ubuntu: apt install fio; "+
			"Fedora, RHEL: dnf install fio; macOS: brew install fio), or name it: fio2es run -- /path/to/fio ARGS", program)
	}
	return err
}

// VersionOf runs program --version.
func VersionOf(ctx context.Context, program string) (fioargs.Version, error) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "--version")
	ownGroup(cmd) // Ctrl-C ends it through ctx
	text, err := cmd.Output()
	if errors.Is(ctx.Err(), context.Canceled) {
		return fioargs.Version{}, ctx.Err()
	}
	if err != nil {
		return fioargs.Version{}, missing(program, fmt.Errorf("%s --version: %w", program, err))
	}
	return fioargs.ParseVersion(string(text))
}

// Check lets fio parse the command of a plan, without what starts fio, and fails with fio's messages if fio refuses it.
// Files of fio would be in the folder of the plan, which is for nothing else.
func (p *Plan) Check(ctx context.Context, c *fioargs.Command) error {
	if err := p.writeCopies(); err != nil {
		return err
	}
	args := []string{"--parse-only"}
	for _, o := range c.Set {
		if o.Name == "ioengine" { // which fio looks up here only on the command line
			args = append(args, "--ioengine="+o.Value)
		}
	}
	cmd := exec.CommandContext(ctx, c.Program, append(args, p.Words[len(c.Before)+1:]...)...)
	ownGroup(cmd) // Ctrl-C ends it through ctx
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil || err == nil {
		return ctx.Err()
	}
	var said []string
	for line := range strings.Lines(string(text)) {
		if text := strings.TrimSpace(line); text != "" && line[0] != ' ' { // such lines list all values that are valid
			said = append(said, text)
		}
	}
	return fmt.Errorf("fio refuses it: %s", cmp.Or(strings.Join(said, "; "), err.Error()))
}

// writeCopies writes the files that the command of the plan reads.
func (p *Plan) writeCopies() error {
	for path, text := range p.Copies {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Signal passes a signal to fio, which then ends its jobs and writes its report. The third signal kills fio.
func (p *Process) Signal(sig os.Signal) {
	const patience = 3
	sig = obeyed(sig)
	if p.passed++; p.passed >= patience {
		sig = os.Kill
	}
	_ = p.cmd.Process.Signal(sig) // an error means that fio has ended
}

// Ending says how fio ended.
type Ending struct {
	Code   int            // exit code as in a shell
	Signal syscall.Signal // signal that ended it; 0 if it ended by itself
}

// Wait waits until fio has ended.
func (p *Process) Wait() (Ending, error) {
	err := p.cmd.Wait()
	p.release()
	if err != nil && !errors.As(err, new(*exec.ExitError)) && !errors.Is(err, exec.ErrWaitDelay) {
		return Ending{}, err
	}
	state := p.cmd.ProcessState
	if sig := signaled(state); sig != 0 {
		return Ending{Code: 128 + int(sig), Signal: sig}, nil
	}
	return Ending{Code: state.ExitCode()}, nil
}

// CollectLogs copies histogram logs that fio wrote elsewhere into the folder of the run, so that the folder is
// complete. It copies only logs that were written since the run began. Then it adds the host to the names of all
// logs, as CBT does, so that the host stays known if the folder is moved.
func (e *Entry) CollectLogs(c *fioargs.Command) error {
	seen := map[string]bool{}
	for _, section := range c.Jobs {
		prefix, ok := section.HistogramLog()
		if !ok || seen[prefix] {
			continue
		}
		seen[prefix] = true
		names, _ := filepath.Glob(escape(prefix) + logNames) // fails only for a wrong pattern
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				continue
			}
			began := e.Started
			if info.ModTime().Nanosecond() == 0 { // a file system with whole seconds
				began = began.Truncate(time.Second)
			}
			if info.ModTime().Before(began) { // of a run that may have ended in the same second
				continue
			}
			if err := copyFile(filepath.Join(e.Folder, filepath.Base(name)), name); err != nil {
				return err
			}
		}
	}
	var err error
	names, _ := filepath.Glob(filepath.Join(escape(e.Folder), "*"+logNames))
	for _, name := range names {
		if e.Host != "" {
			err = errors.Join(err, os.Rename(name, name+"."+e.Host))
		}
	}
	return err
}

// logNames is the pattern of the ends of histogram logs' names.
const logNames = "_clat_hist*.log"

// escape returns a pattern that matches exactly this path.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	// O_EXCL: never overwrite a log with the same name
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Relay passes signals to fio while it runs. When no fio runs, a signal ends the command.
type Relay struct {
	Context context.Context // ends with a signal while no fio runs
	Stop    func()          // ends the relay

	mu      sync.Mutex
	fio     *Process
	stopped bool // a signal came
}

// NewRelay returns a relay that takes all [Signals] until Stop is called. A signal that ended parent counts as one that came.
func NewRelay(parent context.Context) *Relay {
	// not with parent, which the first signal ends, because fio needs time to end
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	incoming := make(chan os.Signal, 8)
	signal.Notify(incoming, Signals...)
	s := &Relay{Context: ctx, stopped: parent.Err() != nil}
	s.Stop = func() {
		signal.Stop(incoming)
		cancel()
	}
	go func() {
		for {
			select {
			case sig := <-incoming: // to fio, or it ends the command
				s.mu.Lock()
				if s.stopped = true; s.fio != nil {
					s.fio.Signal(sig)
				} else {
					cancel()
				}
				s.mu.Unlock()
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

// PassTo sets the fio that gets the signals. nil means that none runs.
func (s *Relay) PassTo(fio *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fio = fio; fio != nil && s.stopped { // the signal came before fio was started
		fio.Signal(os.Interrupt)
	}
}

// Pause waits for d. It returns false if a signal came, also to the last fio, and then does not wait.
func (s *Relay) Pause(d time.Duration) bool {
	if s.Stopped() {
		return false
	}
	select {
	case <-time.After(d):
	case <-s.Context.Done():
	}
	return !s.Stopped()
}

// Stopped reports whether a signal came.
func (s *Relay) Stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}
