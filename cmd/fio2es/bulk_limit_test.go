//go:build !linux

package main

import "errors"

// limitFiles fails if there is a limit, because this system has no "ulimit -n". Only TestScale sets one.
func limitFiles(text string) error {
	if text == "" {
		return nil
	}
	return errors.ErrUnsupported
}
