//go:build linux

package fiomatrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// answer is the output of one command.
type answer struct {
	args           []string
	exit           int
	stdout, stderr string
}

// window is an interval document.
type window struct {
	run, level, host, job string
	dir                   int
	from, to              int64 // in Unix milliseconds
	completed             int64
	iops                  float64
	percentiles           [4]float64 // p50, p90, p95, p99 in nanoseconds
}

func (w window) length() int64 { return w.to - w.from }

// share are the percentiles that are checked.
var share = [4]float64{0.5, 0.9, 0.95, 0.99}

// runDoc has the used parts of a run document.
type runDoc struct {
	ID, Name string
	from, to int64
	hosts    map[string]int64 // start of each host
	all      *totalDoc
	dirs     [3]*totalDoc
	missing  int64
	// clockError is by how much the program says that its start may be wrong, in milliseconds.
	clockError int64
	warnings   []string
}

// totalDoc is a direction of the whole run.
type totalDoc struct {
	Requests int64
	Bytes    int64
	IOPS     float64
	Latency  latencyDoc
}

type latencyDoc struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

func (l latencyDoc) nanoseconds() [4]float64 {
	return [4]float64{l.P50 * 1000, l.P90 * 1000, l.P95 * 1000, l.P99 * 1000}
}

// said is all output of fio2es for a case.
type said struct {
	ingest, output, percentiles, list answer
	windows                           []window
	runs                              []runDoc
	printed                           []map[string]any // output lines of percentiles
	totals                            []map[string]any // and of percentiles --total --levels host
}

// ask runs the commands of fio2es on a case.
func (s *scene) ask(ctx context.Context, program string) (*said, error) {
	var paths []string
	for _, p := range s.paths {
		paths = append(paths, s.in(p))
	}
	levels := append([]string{"--levels", "cluster,host,job"}, s.flags...)
	docs := s.in("documents.ndjson")
	a := &said{
		ingest:      s.call(ctx, program, slices.Concat([]string{"ingest", "--history", s.in("history.db")}, levels, paths)),
		output:      s.call(ctx, program, slices.Concat([]string{"ingest", "--output", docs}, levels, paths)),
		percentiles: s.call(ctx, program, slices.Concat([]string{"percentiles", "--format", "json"}, levels, paths)),
		list:        s.call(ctx, program, []string{"runs", "--history", s.in("history.db"), "--format", "document"}),
	}
	text, err := os.ReadFile(docs)
	if err != nil && !isMissing(err) {
		return nil, err
	}
	if a.windows, err = readWindows(text); err != nil {
		return nil, err
	}
	if a.runs, err = readRuns(a.list.stdout); err != nil {
		return nil, err
	}
	if a.printed, err = readLines(a.percentiles.stdout); err != nil {
		return nil, err
	}
	if s.way == "random" {
		hosts := s.call(ctx, program, slices.Concat([]string{"percentiles", "--total", "--levels", "host", "--format", "json"}, paths))
		a.totals, err = readLines(hosts.stdout)
	}
	return a, err
}

// call runs a command for at most a minute.
func (s *scene) call(ctx context.Context, program string, args []string) answer {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = s.environ()
	cmd.Dir = s.root
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	a := answer{args: args, stdout: out.String(), stderr: errs.String()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		a.exit = exit.ExitCode()
	case err != nil:
		a.exit, a.stderr = -1, err.Error()
	}
	return a
}

// readLines decodes JSON objects, one on each line.
func readLines(text string) ([]map[string]any, error) {
	var out []map[string]any
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// readWindows reads the interval documents in an NDJSON file: pairs of action and document.
func readWindows(text []byte) ([]window, error) {
	var out []window
	lines := bytes.Split(text, []byte("\n"))
	for i := 1; i < len(lines); i += 2 {
		var d struct {
			At       time.Time `json:"@timestamp"`
			Level    string
			Interval struct{ End time.Time }
			Run      struct{ ID string }
			Host     struct{ Name string }
			Fio      struct {
				Job       any
				Direction any
			}
			Latency  latencyDoc
			Requests struct{ Completed int64 }
			IOPS     float64
		}
		if err := json.Unmarshal(lines[i], &d); err != nil {
			return nil, fmt.Errorf("document %d: %w", i/2, err)
		}
		if d.Level == "" {
			continue // a run document
		}
		out = append(out, window{
			run: d.Run.ID, level: d.Level, host: d.Host.Name, job: text0(d.Fio.Job), dir: slices.Index(directions[:], text0(d.Fio.Direction)),
			from: d.At.UnixMilli(), to: d.Interval.End.UnixMilli(), completed: d.Requests.Completed, iops: d.IOPS,
			percentiles: d.Latency.nanoseconds(),
		})
	}
	return out, nil
}

func text0(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// readRuns decodes the output of "runs --format document".
func readRuns(text string) ([]runDoc, error) {
	var out []runDoc
	for line := range strings.Lines(text) {
		var d struct {
			Run struct {
				ID, Name   string
				Start, End time.Time
			}
			Hosts []struct {
				Name  string
				Start time.Time
			}
			All, Read, Write, Trim *totalDoc
			Missing                struct{ Requests int64 }
			Clock                  struct {
				Error int64 `json:"error_ms"`
			}
			Warnings []string
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		r := runDoc{
			ID: d.Run.ID, Name: d.Run.Name, from: d.Run.Start.UnixMilli(), to: d.Run.End.UnixMilli(), hosts: map[string]int64{},
			all: d.All, dirs: [3]*totalDoc{d.Read, d.Write, d.Trim}, missing: d.Missing.Requests, warnings: d.Warnings, clockError: d.Clock.Error,
		}
		for _, h := range d.Hosts {
			r.hosts[h.Name] = h.Start.UnixMilli()
		}
		out = append(out, r)
	}
	return out, nil
}
