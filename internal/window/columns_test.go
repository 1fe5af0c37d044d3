package window

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
)

// listed is a column that lists the times of its windows.
type listed []int64

func newListed(most int) *Columns[listed] {
	return NewColumns(most, func(to, from *listed) { *to = append(*to, *from...) })
}

// TestColumns: every window is in exactly one column. The columns are in order of time and not too many. If windows
// come in order of time, they are in this order in their columns, too.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]int64{1, 7, 1000}).Draw(t, "step")
		origin := rapid.Int64Range(0, step-1).Draw(t, "origin")
		times := rapid.SliceOfDistinct(rapid.Int64Range(0, 500), func(n int64) int64 { return n }).Draw(t, "times")
		isOrdered := rapid.Bool().Draw(t, "in order")
		if isOrdered {
			slices.Sort(times)
		}
		most := rapid.IntRange(2, 30).Draw(t, "most")
		c := newListed(most)
		c.Origin = origin
		for _, n := range times {
			at := max(n*step-origin, 0)
			*c.At(at) = append(*c.At(at), at)
		}
		if len(c.All()) > most || len(c.All()) != len(c.Starts()) || !slices.IsSorted(c.Starts()) {
			t.Fatalf("%d columns at %v, want %d at most", len(c.All()), c.Starts(), most)
		}
		var all []int64
		for i, column := range c.All() {
			for _, at := range *column {
				if at < c.Starts()[i] || i+1 < len(c.Starts()) && at >= c.Starts()[i+1] {
					t.Fatalf("%d is in column %d of %v", at, i, c.Starts())
				}
			}
			all = append(all, *column...)
		}
		if isOrdered && !slices.IsSorted(all) {
			t.Fatalf("not in order: %v", all)
		}
		if slices.Sort(all); len(all) != len(times) {
			t.Fatalf("%d windows, want %d", len(all), len(times))
		}
	})
}

// TestColumnsAreWide: columns are as wide as necessary, and begin at multiples of the width from the origin.
func TestColumnsAreWide(t *testing.T) {
	for _, c := range []struct {
		windows, most int
		origin        int64
		want          []int64
	}{
		{4, 4, 0, []int64{0, 10, 20, 30}},
		{5, 4, 0, []int64{0, 20, 40}},
		{5, 4, 10, []int64{-10, 10, 30}},
		{9, 4, 0, []int64{0, 40, 80}},
		{100, 2, 0, []int64{0, 640}},
	} {
		columns := newListed(c.most)
		columns.Origin = c.origin
		for i := range int64(c.windows) {
			columns.At(i * 10)
		}
		if !slices.Equal(columns.Starts(), c.want) {
			t.Errorf("%d windows: columns at %v, want %v", c.windows, columns.Starts(), c.want)
		}
	}
}

// TestStep: the first window may be cut, so its distance does not count, unless there are only two.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		times []int64
		want  int64
	}{{nil, 1}, {[]int64{5}, 1}, {[]int64{0, 300}, 300}, {[]int64{0, 300, 1300, 3300}, 1000}, {[]int64{0, 2000, 7000, 10_000}, 1000}} {
		columns := newListed(10)
		for _, at := range c.times {
			columns.At(at)
		}
		if got := columns.Step(); got != c.want {
			t.Errorf("%v: %d, want %d", c.times, got, c.want)
		}
	}
}
