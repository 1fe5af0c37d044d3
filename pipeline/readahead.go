package pipeline

import "iter"

// readAhead iterates over seq, which runs in a goroutine of its own and is up to n elements
// ahead. A loop over it ends when seq has ended.
func readAhead[T any](n int, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		items, stop := make(chan item[T], n), make(chan struct{})
		go func() {
			defer close(items)
			for value, err := range seq {
				select {
				case items <- item[T]{value, err}:
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range items { // afterwards the caller may use what seq uses
			}
		}()
		for e := range items {
			if !yield(e.value, e.err) {
				return
			}
		}
	}
}
