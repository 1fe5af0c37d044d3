//go:build unix

package record

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Signals are the signals that end fio.
var Signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// IgnoreClosedPipes makes writing to a pipe without a reader fail, instead of ending the program. Started programs
// inherit this.
func IgnoreClosedPipes() { signal.Ignore(syscall.SIGPIPE) }

// obeyed returns a signal that makes fio end its jobs and write its report. Other signals would end only the main
// process of fio, and its jobs would continue.
func obeyed(sig os.Signal) os.Signal {
	if sig == os.Interrupt {
		return sig
	}
	return syscall.SIGTERM
}

// lockFile opens and locks a file. fio inherits the lock, so it lasts until both have ended.
func lockFile(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o644)
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrRunning
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}

// inherit makes a command keep the lock of an entry.
func inherit(cmd *exec.Cmd, e *Entry) { cmd.ExtraFiles = append(cmd.ExtraFiles, e.file) }

// ownGroup starts a command in a separate process group. So Ctrl-C reaches only fio2es, which passes it on once.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signaled returns the signal that ended a process, or 0.
func signaled(state *os.ProcessState) syscall.Signal {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}
