package fiotest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Completion is a line of a raw completion log: one request.
type Completion struct {
	// Time is when the request completed, since the job's start, in whole milliseconds.
	Time time.Duration
	// Latency is its completion latency.
	Latency time.Duration
	// Direction is Read, Write or Trim.
	Direction int
}

// ReadRaw reads a raw completion log of fio 3 (write_lat_log without log_avg_msec). Its columns are time in ms,
// latency in ns, direction, block size and, in newer versions, priority. Empty lines are skipped. Any other line is
// an error.
func ReadRaw(r io.Reader) ([]Completion, error) {
	var out []Completion
	in := bufio.NewScanner(r)
	for line := 1; in.Scan(); line++ {
		text := strings.TrimSpace(in.Text())
		if text == "" {
			continue
		}
		c, err := parseRaw(text)
		if err != nil {
			return nil, fmt.Errorf("read raw log: line %d: %w", line, err)
		}
		out = append(out, c)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read raw log: %w", err)
	}
	return out, nil
}

func parseRaw(line string) (Completion, error) {
	fields := strings.Split(line, ",")
	if len(fields) < 4 {
		return Completion{}, fmt.Errorf("%d fields instead of at least 4", len(fields))
	}
	var v [5]int64
	for i := range min(len(fields), len(v)) {
		n, err := strconv.ParseInt(strings.TrimSpace(fields[i]), 0, 64)
		if err != nil {
			return Completion{}, fmt.Errorf("field %d: %w", i+1, err)
		}
		v[i] = n
	}
	if v[2] < 0 || v[2] >= directions {
		return Completion{}, fmt.Errorf("direction %d is none of fio's", v[2])
	}
	return Completion{
		Time: time.Duration(v[0]) * time.Millisecond, Latency: time.Duration(v[1]),
		Direction: int(v[2]),
	}, nil
}
