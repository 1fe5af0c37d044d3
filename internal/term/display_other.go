//go:build !unix

package term

import "os"

// Resized and Stopped are nil, because this system has no such signals.
var Resized, Stopped os.Signal

// Suspend does nothing on this system.
func Suspend() error { return nil }
