package alike

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func texts[T any](l *List[T]) string {
	var all []string
	l.Each(func(message string, _ T, more int) { all = append(all, And(message, more)) })
	return strings.Join(all, "; ")
}

func TestList(t *testing.T) {
	l := List[int]{Shown: 2}
	kept := 0
	for i := range 100_000 {
		if l.Add(fmt.Sprintf("a/x%d.log: link is not followed", i), i) {
			kept++
		}
	}
	l.Add("job 3 (rand): is empty", 0)
	l.Add("job 2 (seq): is empty", 0)
	l.Sort()
	want := "a/x0.log: link is not followed; a/x1.log: link is not followed (and 99998 more like this); job 2 (seq): is empty; job 3 (rand): is empty"
	if got := texts(&l); got != want || kept != 2 {
		t.Errorf("%d kept: %s", kept, got)
	}
}

// TestOfLists: a message that stands for others counts as these.
func TestOfLists(t *testing.T) {
	l := List[int]{Shown: 1}
	cause := errors.New("x: b")
	for _, err := range []error{cause, Wrap(cause, 0), Wrap(cause, 3), Wrap(cause, 2)} {
		if l.Add(err.Error(), 0); !errors.Is(err, cause) {
			t.Errorf("%v is another error", err)
		}
	}
	if got := texts(&l); got != "x: b (and 8 more like this)" {
		t.Error(got)
	}
}

func TestManyKinds(t *testing.T) {
	l := List[int]{Shown: 10}
	for i := range 100_000 {
		word := []rune{}
		for n := i; n > 0; n /= 26 {
			word = append(word, rune('a'+n%26))
		}
		l.Add(string(word), 0)
	}
	if len(l.kinds) > maxKinds+1 || len(l.kept) > 10*(maxKinds+1) {
		t.Errorf("%d kinds, %d kept", len(l.kinds), len(l.kept))
	}
}
