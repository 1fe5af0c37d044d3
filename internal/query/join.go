package query

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// JoinMS returns the length in milliseconds to which the stored windows of a run are joined, or 0 if they already
// have this length. If they cannot be joined evenly, the error is a [UsageError]. text is the length as the user
// wrote it.
func JoinMS(run *mapping.Run, length time.Duration, text string) (int64, error) {
	again := "ingest its files again with --interval " + text
	ms := length.Milliseconds()
	switch {
	case length < 0:
		return 0, usagef("--interval %s: run %s is in the history, whose windows can be joined evenly only: "+
			"use a length such as %s, or %s", text, run.Run.Name, multiples(run.IntervalMS), again)
	case run.IntervalMS <= 0:
		return 0, usagef("--interval %s: run %s has no windows of an even length: leave the option out, or %s",
			text, run.Run.Name, again)
	case length%time.Millisecond != 0 || ms < run.IntervalMS || ms%run.IntervalMS != 0:
		return 0, usagef("--interval %s: run %s is stored in windows of %s, which can only be joined: "+
			"use a multiple, such as %s, or %s", text, run.Run.Name, lengthText(run.IntervalMS), multiples(run.IntervalMS), again)
	case ms == run.IntervalMS:
		return 0, nil
	}
	return ms, nil
}

// multiples lists lengths to which windows of ms milliseconds can be joined.
func multiples(ms int64) string {
	ms = max(ms, 1)
	return fmt.Sprintf("%s, %s or %s", lengthText(2*ms), lengthText(5*ms), lengthText(10*ms))
}

// lengthText returns a length as in flags, such as 1s or 1m30s.
func lengthText(ms int64) string { return unit.Short(time.Duration(ms) * time.Millisecond) }

// join joins windows to length milliseconds with [window.Join], for --interval.
func join(windows iter.Seq2[*window.Window, error], run *mapping.Run, length int64) iter.Seq2[*window.Window, error] {
	return func(yield func(*window.Window, error) bool) {
		for w, err := range window.Join(windows, run, length) {
			if errors.Is(err, window.ErrUneven) {
				err = usagef("--interval %s: the windows of run %s are not of one length (--interval auto at ingest?): "+
					"leave the option out, or ingest its files again with --interval %s", lengthText(length), run.Run.Name, lengthText(length))
			}
			if !yield(w, err) {
				return
			}
		}
	}
}
