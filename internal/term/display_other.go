//go:build !unix

package term

import "os"

// Resized and Stopped are no signals here.
var Resized, Stopped os.Signal

// Suspend does nothing.
func Suspend() error { return nil }
