package ahead

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
)

var errNothing = errors.New("nothing more")

// numbers lists 0, 1, 2 … and an error in place of n. It sets ended when the loop over it ends.
func numbers(n int, made *int, ended *bool) func(context.Context) iter.Seq2[int, error] {
	return func(context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			defer func() { *ended = true }()
			for i := range n {
				*made = i + 1
				if !yield(i, nil) {
					return
				}
			}
			yield(0, errNothing)
		}
	}
}

func TestRead(t *testing.T) {
	for n := range 4 {
		made, ended, want := 0, false, 0
		for i, err := range Read(t.Context(), n, numbers(100, &made, &ended)) {
			switch {
			case want < 100 && (i != want || err != nil), want == 100 && !errors.Is(err, errNothing), want > 100:
				t.Fatalf("%d ahead: got %d, %v as number %d", n, i, err, want)
			}
			want++
		}
		if want != 101 || !ended {
			t.Errorf("%d ahead: got %d elements, ended: %t; want 101, and the end", n, want, ended)
		}
	}
}

func TestReadLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, ended := 0, false
		for i := range Read(t.Context(), 3, numbers(100, &made, &ended)) {
			synctest.Wait()
			if made != i+4 { // i, two that wait, and one that cannot be given out yet
				t.Fatalf("%d elements are made when number %d is looked at", made, i)
			}
			if i == 7 {
				break
			}
		}
		if !ended || made > 7+6 {
			t.Errorf("after the loop: %d elements, ended: %t; want about 11, and the end", made, ended)
		}
	})
}

// TestReadContext: the list's context ends with the loop, and when the caller's ends. Then the error comes: items are
// never missing without an error.
func TestReadContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := func(ctx context.Context) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				for i := 0; i < 2 && yield(i, nil); i++ {
				}
				<-ctx.Done()
				yield(0, ctx.Err())
			}
		}
		for range Read(t.Context(), 2, waiting) {
			break // waits for the list, which waits for its context
		}
		for range 30 { // what a wrong select does is chance
			ctx, cancel := context.WithCancel(t.Context())
			items, last := 0, error(nil)
			for i, err := range Read(ctx, 2, waiting) {
				if last = err; err == nil {
					items += i + 1
				}
				if i == 1 {
					cancel()
				}
			}
			cancel()
			if items != 3 || !errors.Is(last, context.Canceled) {
				t.Fatalf("%d, %v", items, last)
			}
		}
	})
}
