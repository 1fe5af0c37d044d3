//go:build !unix

package record

import (
	"os"
	"os/exec"
	"syscall"
)

// Signals are the signals that end fio.
var Signals = []os.Signal{os.Interrupt}

// IgnoreClosedPipes does nothing, because on this system writing to a pipe without a reader does not end a program.
func IgnoreClosedPipes() {}

func obeyed(sig os.Signal) os.Signal { return sig }

// lockFile opens a file. There are no locks, so an entry is found even while its fio runs.
func lockFile(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o644) }

func inherit(*exec.Cmd, *Entry) {}

func ownGroup(*exec.Cmd) {}

func signaled(*os.ProcessState) syscall.Signal { return 0 }
