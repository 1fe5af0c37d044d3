package fiotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// TreeSpec describes a folder of logs, one for each job.
type TreeSpec struct {
	// Files is the number of logs. Default 32.
	Files int
	// Bytes is the total size of the logs. Each ends with the first interval beyond its share. Zero means Log.Seconds
	// instead.
	Bytes int64
	// Hosts is the number of hosts among which the logs are divided, with names as in a CBT archive. Zero means names
	// as from fio.
	Hosts int
	// Log describes each log. Its Seed is that of the first log.
	Log LogSpec
}

// Summary says what a generator wrote.
type Summary struct {
	// Files and Bytes count everything, Logs and LogBytes only histogram logs.
	Files, Logs     int
	Bytes, LogBytes int64
	// Truth is the sum over all logs.
	Truth Truth
}

// Name returns the file name of log i, counted from 0.
func (s TreeSpec) Name(i int) string {
	if s.Hosts > 0 {
		return fmt.Sprintf("output.0_clat_hist.%d.log.%s", i/s.Hosts+1, hostName(i%s.Hosts))
	}
	return fmt.Sprintf("out_clat_hist.%d.log", i+1)
}

// Spec returns the spec of log i, counted from 0.
func (s TreeSpec) Spec(i int) LogSpec {
	one := s.Log
	one.Seed += uint64(i)
	if s.Bytes > 0 {
		one.Seconds, one.MaxBytes = 0, s.Bytes/int64(max(1, s.files()))
	}
	return one
}

func (s TreeSpec) files() int {
	if s.Files == 0 {
		return 32
	}
	return s.Files
}

// WriteDir writes the logs to dir, which it creates if necessary. It checks ctx after each log.
func (s TreeSpec) WriteDir(ctx context.Context, dir string) (Summary, error) {
	var sum Summary
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return sum, fmt.Errorf("make folder for logs: %w", err)
	}
	shared := models{}
	for i := range s.files() {
		var log bytes.Buffer
		t, err := s.Spec(i).write(&log, shared)
		if err := errors.Join(err, ctx.Err(), os.WriteFile(filepath.Join(dir, s.Name(i)), log.Bytes(), 0o644)); err != nil {
			return sum, fmt.Errorf("write logs: %w", err)
		}
		sum.Files++
		sum.Logs++
		sum.Bytes += t.Bytes
		sum.LogBytes += t.Bytes
		sum.Truth.Merge(t)
	}
	return sum, nil
}

// hostName returns the name of host h, counted from 0.
func hostName(h int) string { return fmt.Sprintf("client%02d", h+1) }
