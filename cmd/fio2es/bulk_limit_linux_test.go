package main

import (
	"strconv"
	"syscall"
)

// limitFiles limits the number of open files, like "ulimit -n".
func limitFiles(text string) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n})
}
