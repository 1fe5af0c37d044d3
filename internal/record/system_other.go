//go:build !unix

package record

import (
	"os"
	"os/exec"
	"syscall"
)

// Signals are those that end a fio.
var Signals = []os.Signal{os.Interrupt}

// IgnoreClosedPipes does nothing: writing to a pipe without a reader ends no program here.
func IgnoreClosedPipes() {}

func obeyed(sig os.Signal) os.Signal { return sig }

// lockFile opens a file. Without locks, an entry is found again although its fio runs.
func lockFile(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o644) }

func inherit(*exec.Cmd, *Entry) {}

func ownGroup(*exec.Cmd) {}

func signaled(*os.ProcessState) syscall.Signal { return 0 }
