// Package ahead works on the items of a list in several goroutines: on the next ones while the caller works on the current one, or on
// all at once.
package ahead

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

type item[T any] struct {
	value T
	err   error
}

// Read returns the items of a list. It reads up to n items ahead in another goroutine; with n = 0 the caller's
// goroutine reads the list. When the loop over the result ends, Read cancels the context of the list and waits until
// list has returned. So the caller may then change what list reads from.
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
				case <-stop: // not ctx.Done: a list must return the error of its ended context as an item
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

// Push calls take with the items that produce gives, in their order. produce runs in another goroutine and is up to n items
// ahead; with n = 0 it runs in the caller's goroutine. The error is the first one of take, or that of produce. After an
// error of take, Push cancels the context of produce, whose next item fails. Push waits until produce has returned.
func Push[T any](ctx context.Context, n int, produce func(ctx context.Context, give func(T) error) error, take func(T) error) error {
	list := func(ctx context.Context) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			isLeft := false // by the loop below
			err := produce(ctx, func(item T) error {
				if isLeft || ctx.Err() != nil {
					return cmp.Or(ctx.Err(), context.Canceled)
				}
				if isLeft = !yield(item, nil); isLeft {
					return context.Canceled
				}
				return nil
			})
			if err != nil && !isLeft {
				yield(*new(T), err)
			}
		}
	}
	for item, err := range Read(ctx, n, list) {
		if err == nil {
			err = take(item)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Map returns do(item) for each item, in the order of the items. It works on n items at the same time, each in its
// own goroutine. It ends at the first error. When the loop over the result ends, Map cancels the context of do and
// waits for all goroutines.
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

// Each calls do with 0 to n-1, from at least one and at most so many goroutines. It returns after all calls.
func Each(goroutines, n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range max(1, min(goroutines, n)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}
