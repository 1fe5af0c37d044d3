//go:build unix

package term

import (
	"os"
	"syscall"
)

// Signals of a terminal: its size has changed, or its user wants to stop the program (Ctrl-Z).
var (
	Resized os.Signal = syscall.SIGWINCH
	Stopped os.Signal = syscall.SIGTSTP
)

// Suspend stops the program until it is continued.
func Suspend() error { return syscall.Kill(os.Getpid(), syscall.SIGSTOP) }
