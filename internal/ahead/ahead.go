// Package ahead reads lists ahead of those who use them, in another goroutine.
package ahead

import (
	"context"
	"iter"
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
