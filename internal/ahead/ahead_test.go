package ahead

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errNothing = errors.New("nothing more")

// numbers returns the list 0, 1, 2 … with an error instead of n. It counts its items in made.
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
			if made != i+4 { // item i, two that wait, and one for which there is no room yet
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

// TestReadContext: the context of the list ends with the loop, and with the caller's context. In the second case
// there is an error: items are never missing without one.
func TestReadContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := func(ctx context.Context) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				for i := range 2 {
					if !yield(i, nil) { // the loop may end before the second one waits
						return
					}
				}
				<-ctx.Done()
				yield(0, ctx.Err())
			}
		}
		for range Read(t.Context(), 2, waiting) {
			break // Read then waits for the list, which waits for its context
		}
		for range 30 { // many times, because a wrong select fails only sometimes
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

// TestMap: results have the order of the items, n are made at the same time, and the first error is the last result.
func TestMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		for n := 1; n < 13; n++ {
			var running, most atomic.Int64
			half := func(ctx context.Context, i int) (int, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(time.Duration(10-i) * time.Second) // later items are ready sooner
				if i == 7 {
					return 0, errNothing
				}
				return i * 2, ctx.Err()
			}
			want := 0
			for got, err := range Map(t.Context(), n, items, half) {
				if want < 7 && (got != 2*want || err != nil) || want == 7 && !errors.Is(err, errNothing) || want > 7 {
					t.Fatalf("%d at a time: got %d, %v as number %d", n, got, err, want)
				}
				want++
			}
			if want != 8 || most.Load() != int64(min(n, 10)) || running.Load() != 0 {
				t.Errorf("%d at a time: %d results, %d at once, %d left", n, want, most.Load(), running.Load())
			}
		}
	})
}

// TestMapLeft: when the loop ends, the contexts of running calls and their goroutines end, too.
func TestMapLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int64
		wait := func(ctx context.Context, i int) (int, error) {
			if i == 0 {
				return 0, nil
			}
			<-ctx.Done()
			ended.Add(1)
			return 0, ctx.Err()
		}
		for range Map(t.Context(), 3, make([]int, 1), wait) {
		}
		for range Map(t.Context(), 3, []int{0, 1, 2, 3, 4}, wait) {
			break
		}
		if ended.Load() != 2 {
			t.Errorf("%d of 2 have ended", ended.Load())
		}
	})
}

// TestPush: all items come in their order, and the first error ends both sides.
func TestPush(t *testing.T) {
	for n := range 4 {
		for _, tt := range []struct {
			fail, end int // take fails with this item; produce fails after so many
			want      error
		}{{-1, 100, nil}, {7, 100, errNothing}, {-1, 50, context.DeadlineExceeded}} {
			made, got, isOver := 0, 0, false
			err := Push(t.Context(), n, func(ctx context.Context, give func(int) error) error {
				defer func() { isOver = true }()
				for made < tt.end {
					made++
					if err := give(made - 1); err != nil {
						return err
					}
				}
				if tt.end < 100 {
					return context.DeadlineExceeded
				}
				return nil
			}, func(i int) error {
				if i != got {
					t.Fatalf("%d ahead: got %d as number %d", n, i, got)
				}
				if got++; i == tt.fail {
					return errNothing
				}
				return nil
			})
			if !errors.Is(err, tt.want) || !isOver {
				t.Errorf("%d ahead: %v, want %v; over: %t", n, err, tt.want, isOver)
			}
			if tt.fail >= 0 && (got != tt.fail+1 || made > got+n+1) || tt.fail < 0 && got != tt.end {
				t.Errorf("%d ahead: %d made, %d taken", n, made, got)
			}
		}
	}
}

// TestPushCancelled: when ctx ends, produce gets its error from give.
func TestPushCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	err := Push(ctx, 2, func(_ context.Context, give func(int) error) error {
		for i := 0; ; i++ {
			if err := give(i); err != nil {
				return err
			}
		}
	}, func(i int) error {
		if i == 5 {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestEach: each number comes once, and no more goroutines work than are wanted.
func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ goroutines, n, most int }{{0, 5, 1}, {3, 10, 3}, {8, 2, 2}, {4, 0, 0}} {
			var running, most atomic.Int64
			calls := make([]atomic.Int64, c.n)
			Each(c.goroutines, c.n, func(i int) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(time.Second)
				calls[i].Add(1)
			})
			if most.Load() != int64(c.most) {
				t.Errorf("%+v: %d at once", c, most.Load())
			}
			for i := range calls {
				if n := calls[i].Load(); n != 1 {
					t.Errorf("%+v: %d calls with %d", c, n, i)
				}
			}
		}
	})
}
