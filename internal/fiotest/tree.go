package fiotest

import (
	"bufio"
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

// WriteDir writes the logs to dir, which it creates if necessary. It checks ctx before each log.
func (s TreeSpec) WriteDir(ctx context.Context, dir string) (Summary, error) {
	var sum Summary
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return sum, fmt.Errorf("make folder for logs: %w", err)
	}
	shared := models{}
	for i := range s.files() {
		if err := ctx.Err(); err != nil {
			return sum, fmt.Errorf("write logs: %w", err)
		}
		t, err := writeLogFile(filepath.Join(dir, s.Name(i)), s.Spec(i), shared)
		if err != nil {
			return sum, err
		}
		sum.addLog(t)
	}
	return sum, nil
}

func (s *Summary) addLog(t Truth) {
	s.Files++
	s.Logs++
	s.Bytes += t.Bytes
	s.LogBytes += t.Bytes
	s.Truth.Merge(t)
}

func writeLogFile(path string, s LogSpec, shared models) (t Truth, err error) {
	f, err := os.Create(path)
	if err != nil {
		return t, fmt.Errorf("create log: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if t, err = s.write(w, shared); err != nil {
		return t, fmt.Errorf("write %s: %w", path, err)
	}
	if err = w.Flush(); err != nil {
		return t, fmt.Errorf("write %s: %w", path, err)
	}
	return t, nil
}

// hostName returns the name of host h, counted from 0.
func hostName(h int) string { return fmt.Sprintf("client%02d", h+1) }
