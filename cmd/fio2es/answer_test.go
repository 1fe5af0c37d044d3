package main

import (
	"errors"
	"io"
	"testing"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestAnswer: a run that has nothing of what is wanted does not end the command. If another run was written
// completely, the output file is still replaced.
func TestAnswer(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	for _, c := range []struct {
		name    string
		empty   []bool // by run
		close   error
		partial bool
	}{
		{"all there", []bool{false, false}, nil, false},
		{"one is empty", []bool{true, false}, nil, true},
		{"all are empty", []bool{true, true}, nil, false},
		{"one is empty, and the disk is full", []bool{false, true}, full, false},
	} {
		e := newEnv(nil, io.Discard, io.Discard)
		e.cfg = config.Default()
		r := &runReader{env: e}
		read, ended := 0, 0
		err := r.answer(t.Context(), []string{exampleArchive + "/results/00000000"}, &query.Query{}, answer{
			begin:  func(*query.Run) error { read++; return nil },
			window: func(*window.Window) error { return nil },
			end: func(*query.Run, *mapping.Run) error {
				if ended++; c.empty[ended-1] {
					return query.RunError{Err: errors.New("nothing")}
				}
				return nil
			},
			close: func(error) error { return c.close },
		})
		if read != len(c.empty) || ended != read || c.close != nil && !errors.Is(err, c.close) || (err == nil && len(e.skipped) > 0) != c.partial {
			t.Errorf("%s: %d runs read, %d ended: %v", c.name, read, ended, err)
		}
		isEmpty := c.empty[0] || c.empty[1]
		if all := errors.Join(append(e.skipped, err)...); isEmpty != errors.As(all, new(query.RunError)) || isEmpty != (e.conclude(err) == exitFailed) {
			t.Errorf("%s: %v", c.name, all)
		}
	}
}
