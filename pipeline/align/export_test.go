package align

import (
	"context"
	"errors"
	"iter"
)

var errStopped = errors.New("the test has seen enough")

// Merged is [Merge] as an iterator, which tests can leave.
func Merged(ctx context.Context, streams []*Stream, opt Options, stats *Stats) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		of, err := Merge(ctx, streams, opt, given(yield))
		if stats != nil {
			*stats = of
		}
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// Joined passes windows through a [Joiner].
func Joined(windows iter.Seq2[*Window, error], p Precision) iter.Seq2[*Window, error] {
	return func(yield func(*Window, error) bool) {
		j := NewJoiner(p, given(yield))
		for w, err := range windows {
			if err != nil {
				yield(nil, err)
				return
			}
			if j.Add(w) != nil {
				return
			}
		}
		j.End()
	}
}

func given(yield func(*Window, error) bool) func(*Window) error {
	return func(w *Window) error {
		if !yield(w, nil) {
			return errStopped
		}
		return nil
	}
}
