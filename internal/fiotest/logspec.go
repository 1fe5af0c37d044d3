package fiotest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// LogSpec describes a synthetic histogram log. The zero value is a job of one minute that only reads, with fio's
// defaults. Equal specs give equal bytes.
type LogSpec struct {
	// Seed makes logs differ; every value is equally good.
	Seed uint64
	// Seconds is the job's run time. Its last second is in no row, as with fio. Default 60; with MaxBytes, no limit.
	Seconds int
	// MaxBytes ends the job with the first interval that makes the log this long.
	MaxBytes int64
	// Directions are Read, Write and Trim, in the order of their rows in an interval. Default: only Read.
	Directions []int
	// Coarseness is log_hist_coarseness, 0 to 6. Each step halves the number of columns.
	Coarseness int
	// Fio2 writes the layout of fio 2: 1216 columns of microseconds.
	Fio2 bool
	// Groups is the number of groups of a rebuilt fio, 17 to 58, each with 64 columns. Default 29, or 19 with Fio2.
	Groups int
	// IOPS is the number of requests per second and direction. Unless Steady, it is up to a fifth less when the load
	// is high. Default 3000.
	IOPS int
	// Scale multiplies all latencies. Default 1.
	Scale float64
	// BlockSize is the third column. Default 4096.
	BlockSize int
	// QueueDepth is how many requests wait during a stall. Default 16.
	QueueDepth int
	// StallEvery is the mean number of intervals between two stalls. Default 600; negative means no stalls.
	StallEvery int
	// LongestStall is the longest stall in intervals. Default 4.
	LongestStall int
	// Steady keeps the load constant. This is much faster for many short logs.
	Steady bool
}

func (s LogSpec) withDefaults() LogSpec {
	if s.Seconds == 0 && s.MaxBytes == 0 {
		s.Seconds = 60
	}
	if len(s.Directions) == 0 {
		s.Directions = []int{Read}
	}
	setDefault(&s.IOPS, 3000)
	setDefault(&s.BlockSize, 4096)
	setDefault(&s.QueueDepth, 16)
	setDefault(&s.StallEvery, 600)
	setDefault(&s.LongestStall, 4)
	if s.Scale == 0 {
		s.Scale = 1
	}
	return s
}

func setDefault(field *int, value int) {
	if *field == 0 {
		*field = value
	}
}

// Columns returns the number of bin columns in the rows of the log.
func (s LogSpec) Columns() int {
	return s.axis().bins() >> s.Coarseness
}

func (s LogSpec) axis() axis { return newAxis(s.Fio2, s.Groups) }

// Write writes the log, and returns its contents.
func (s LogSpec) Write(w io.Writer) (Truth, error) {
	return s.write(w, models{})
}

// Truth returns the contents of the log that [LogSpec.Write] would write.
func (s LogSpec) Truth() (Truth, error) { return s.Write(io.Discard) }

// WriteDir writes n logs of one fio into a folder, which it makes if necessary. Each has the next seed. It returns their
// size in bytes.
func (s LogSpec) WriteDir(dir string, n int) (logs int64, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, fmt.Errorf("make folder for logs: %w", err)
	}
	shared := models{}
	for i := range n {
		var log bytes.Buffer
		t, err := s.write(&log, shared)
		if err := errors.Join(err, os.WriteFile(filepath.Join(dir, fmt.Sprintf("out_clat_hist.%d.log", i+1)), log.Bytes(), 0o644)); err != nil {
			return logs, fmt.Errorf("write logs: %w", err)
		}
		s.Seed++
		logs += t.Bytes
	}
	return logs, nil
}

// write is Write, with tables that logs share.
func (s LogSpec) write(w io.Writer, m models) (Truth, error) {
	s = s.withDefaults()
	t := newTruth(s)
	g := newRowGen(s, m)
	var text []byte
	for (s.MaxBytes == 0 || t.Bytes < s.MaxBytes) && (s.Seconds == 0 || g.k+1 < int64(s.Seconds)) {
		text = text[:0]
		for _, r := range g.next(false) {
			text = appendRow(text, r, s.Columns(), s.Coarseness)
			t.add(r)
		}
		n, err := w.Write(text)
		t.Bytes += int64(n)
		if err != nil {
			return t, fmt.Errorf("write log: %w", err)
		}
	}
	for _, r := range g.next(true) {
		t.addTail(r)
	}
	t.RuntimeMs = g.k * 1000
	return t, nil
}
