package pipeline

import "iter"

// readAhead is seq, but what it takes to make an element is done by a goroutine of its own,
// up to n elements before they are asked for. A loop over it ends when seq has.
func readAhead[T any](n int, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	type element struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		elements, stop := make(chan element, n), make(chan struct{})
		go func() {
			defer close(elements)
			for value, err := range seq {
				select {
				case elements <- element{value, err}:
				case <-stop:
					return
				}
			}
		}()
		defer func() {
			close(stop)
			for range elements { // what seq uses is the caller's again
			}
		}()
		for e := range elements {
			if !yield(e.value, e.err) {
				return
			}
		}
	}
}
