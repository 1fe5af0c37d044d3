//go:build !linux

package main

import "errors"

// limitFiles is "ulimit -n"; only TestScale wants it.
func limitFiles(text string) error {
	if text == "" {
		return nil
	}
	return errors.ErrUnsupported
}
