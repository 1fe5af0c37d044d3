// Package ahead reads lists ahead of those who use them, in other goroutines.
package ahead

import (
	"context"
	"iter"
	"sync"
)

type item[T any] struct {
	value T
	err   error
}

// Read gives the items of a list that another goroutine reads, n items ahead; with n = 0 none does. When the loop over
// it ends, the list's context ends, and then the list: afterwards the caller may use what the list uses.
func Read[T any](ctx context.Context, n int, list func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	if n == 0 {
		return list(ctx)
	}
	return func(yield func(T, error) bool) {
		inner, cancel := context.WithCancel(ctx)
		items, stop := make(chan item[T], n-1), make(chan struct{})
		go func() {
			defer close(items)
			for value, err := range list(inner) {
				select {
				case items <- item[T]{value, err}:
				case <-stop: // not the context: a list whose context ends must give that as its error
					return
				}
			}
		}()
		defer func() {
			cancel()
			close(stop)
			for range items {
			}
		}()
		for i := range items {
			if !yield(i.value, i.err) {
				return
			}
		}
	}
}

// Map gives what do makes of each item, in their order. It works on n items at a time, each in a goroutine of its own. It
// ends at the first error. When the loop over it ends, the context of do ends, and then all goroutines.
func Map[A, B any](ctx context.Context, n int, items []A, do func(context.Context, A) (B, error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		inner, cancel := context.WithCancel(ctx)
		var wait sync.WaitGroup
		defer wait.Wait()
		defer cancel()
		made := make([]chan item[B], len(items))
		begun := 0
		for i := range items {
			for ; begun < min(i+n, len(items)); begun++ {
				of, to := items[begun], make(chan item[B], 1)
				made[begun] = to
				wait.Go(func() {
					value, err := do(inner, of)
					to <- item[B]{value, err}
				})
			}
			one := <-made[i]
			if !yield(one.value, one.err) || one.err != nil {
				return
			}
		}
	}
}
