package hist_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

func TestSubtract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Just(rapid.SampledFrom(allLayouts()).Draw(t, "layout"))
		a, b := wholes(one).Draw(t, "a"), wholes(one).Draw(t, "b")
		sum := merged(a, b)
		if !sum.Subtract(b) {
			t.Fatal("refused")
		}
		if diff := cmp.Diff(contentOf(a), contentOf(sum)); diff != "" {
			t.Fatalf("-a +a+b-b:\n%s", diff)
		}
		// Bins that became zero must not count as used, neither here nor there.
		rest := merged(a, b)
		rest.Subtract(a)
		sum = merged(a, b)
		if !sum.Subtract(rest) || !sum.Subtract(a) || !sum.IsEmpty() {
			t.Fatalf("%v is left, or refused", sum.Weights())
		}
	})
}

func TestSubtractRefuses(t *testing.T) {
	l := hist.Fio3(1)
	h := fromRow(l, []hist.Bin{{Index: 10, Count: 5}, {Index: 12, Count: 5}})
	for name, other := range map[string]*hist.Histogram{
		"too many":     fromRow(l, []hist.Bin{{Index: 10, Count: 1}, {Index: 12, Count: 6}}),
		"bin below":    fromRow(l, []hist.Bin{{Index: 9, Count: 1}}),
		"bin between":  fromRow(l, []hist.Bin{{Index: 11, Count: 1}}),
		"bin above":    fromRow(l, []hist.Bin{{Index: 12, Count: 1}, {Index: 13, Count: 1}}),
		"finer layout": fromRow(hist.Fio3(0), []hist.Bin{{Index: 10, Count: 1}}),
		"fio 2":        fromRow(hist.Fio2(1), []hist.Bin{{Index: 10, Count: 1}}),
	} {
		t.Run(name, func(t *testing.T) {
			before := contentOf(h)
			if h.Subtract(other) {
				t.Error("taken")
			}
			if diff := cmp.Diff(before, contentOf(h)); diff != "" {
				t.Errorf("changed:\n%s", diff)
			}
		})
	}
}
