package pipeline

import (
	"errors"
	"testing"
	"testing/synctest"
)

// numbers are 0, 1, 2 … and, in place of the first that is n, an error. ended is set
// when the loop over it ends.
func numbers(n int, made *int, ended *bool) func(yield func(int, error) bool) {
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

func TestReadAhead(t *testing.T) {
	made, ended, want := 0, false, 0
	for i, err := range readAhead(3, numbers(100, &made, &ended)) {
		switch {
		case want < 100 && (i != want || err != nil), want == 100 && !errors.Is(err, errNothing), want > 100:
			t.Fatalf("got %d, %v as number %d", i, err, want)
		}
		want++
	}
	if want != 101 || !ended {
		t.Errorf("got %d elements, ended: %t; want 101, and the end", want, ended)
	}
}

func TestReadAheadLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, ended := 0, false
		for i := range readAhead(3, numbers(100, &made, &ended)) {
			synctest.Wait()
			if made != i+5 { // i, three that wait, and one that cannot be given out yet
				t.Fatalf("%d elements are made when number %d is looked at", made, i)
			}
			if i == 7 {
				break
			}
		}
		if !ended || made > 7+6 {
			t.Errorf("after the loop: %d elements, ended: %t; want about 12, and the end", made, ended)
		}
	})
}
