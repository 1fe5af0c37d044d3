// Package compat answers as the tools beside fio's source do (tools/hist), from the same options and logs: scripts that
// read their output change one word. The arithmetic is theirs, operation by operation, so the digits are equal, also where
// fio2es itself computes more exactly. Where a tool fails, or loses requests, these do not: docs/compatibility.md lists it.
package compat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Names of the tools.
const (
	FiologparserHist   = "fiologparser_hist"
	FioHistoLogPctiles = "fio-histo-log-pctiles"
)

// Tools are the names of all tools.
var Tools = []string{FiologparserHist, FioHistoLogPctiles}

// ErrUsage means that the arguments are not those of the tool.
var ErrUsage = errors.New("wrong arguments")

// Call is a call of a tool.
type Call struct {
	Files []string // paths of logs, in the order of the arguments
	Help  string   // not empty if the arguments ask for it
	print func(*bufio.Writer, *logs) error
}

// Parse reads the arguments of a tool, and the job file that they name. It fails with [ErrUsage].
func Parse(tool string, args []string) (*Call, error) {
	flags := pflag.NewFlagSet(tool, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	var t interface {
		check() error
		print(*bufio.Writer, *logs) error
	}
	if tool == FiologparserHist {
		t = addLogparserFlags(flags)
	} else {
		args = joinPercentiles(args)
		t = addPctilesFlags(flags)
	}
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return &Call{Help: fmt.Sprintf("usage: %s [options] FILE...\n%s", tool, flags.FlagUsages())}, nil
	}
	if err == nil && flags.NArg() == 0 {
		err = errors.New("want the files of logs")
	}
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", tool, ErrUsage, err)
	}
	return &Call{Files: flags.Args(), print: t.print}, nil
}

// Print prints what the tool prints for the logs. warn is called for lines that are skipped. bins is what the user says
// about the bins of logs.
func (c *Call) Print(ctx context.Context, to io.Writer, files []*source.File, bins hist.Hint, warn func(error)) error {
	w := bufio.NewWriter(to)
	err := c.print(w, &logs{ctx, files, bins, warn})
	return errors.Join(err, w.Flush())
}

// logs are the logs of a call.
type logs struct {
	ctx   context.Context
	files []*source.File
	bins  hist.Hint
	warn  func(error)
}

// rows returns the rows of a log. An error is the last element. A row is valid until the next one.
func (l *logs) rows(f *source.File) iter.Seq2[*fiolog.Record, error] {
	return func(yield func(*fiolog.Record, error) bool) {
		in, err := f.Open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close()
		log := fiolog.NewReader(in, f.Name(), fiolog.ClatHist)
		log.Hint = l.bins
		for {
			row, err := log.Next()
			switch {
			case err == nil:
				if !yield(row, nil) {
					return
				}
			case errors.As(err, new(*fiolog.SyntaxError)):
				l.warn(err)
			case errors.Is(err, io.EOF):
				return
			case errors.Is(err, source.ErrDamaged): // what came before is used
				l.warn(err)
				return
			default:
				yield(nil, err)
				return
			}
		}
	}
}

// mostEmpty is how many intervals may pass without a row. More mean that a time is damaged.
const mostEmpty = 1_000_000

// ordered returns the rows of all logs: of the next row of each log the earliest one, and the first log's if times are
// equal. Rows are copies, which can be kept.
func (l *logs) ordered() iter.Seq2[*fiolog.Record, error] {
	return func(yield func(*fiolog.Record, error) bool) {
		type reader struct {
			row  *fiolog.Record
			next func() (*fiolog.Record, error, bool)
		}
		var open []*reader
		advance := func(r *reader) (more bool, err error) {
			row, err, ok := r.next()
			if ok && err == nil {
				r.row = row.Clone()
			}
			return ok, err
		}
		for _, f := range l.files {
			next, stop := iter.Pull2(l.rows(f))
			defer stop()
			r := &reader{next: next}
			if more, err := advance(r); err != nil {
				yield(nil, err)
				return
			} else if more {
				open = append(open, r)
			}
		}
		for len(open) > 0 {
			first := 0
			for i, r := range open {
				if r.row.Time < open[first].row.Time {
					first = i
				}
			}
			if !yield(open[first].row, nil) {
				return
			}
			more, err := advance(open[first])
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				open = slices.Delete(open, first, first+1)
			}
		}
	}
}
