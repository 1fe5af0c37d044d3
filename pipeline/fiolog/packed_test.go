package fiolog

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// TestPacked: a packed row is the same row, also in used memory.
func TestPacked(t *testing.T) {
	var used []hist.Bin
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.MapOf(rapid.Uint32Range(0, hist.MaxColumns), rapid.Uint64Min(1)).Draw(t, "counts")
		row := &Record{Time: rapid.Int64().Draw(t, "time"), Direction: Write, Line: 7, NewJob: true, Total: 9}
		for i, n := range counts {
			row.Bins = append(row.Bins, hist.Bin{Index: i, Count: n})
		}
		slices.SortFunc(row.Bins, func(a, b hist.Bin) int { return int(a.Index) - int(b.Index) })
		want := row.Clone()
		packed := row.Pack()
		clear(row.Bins)
		got := packed.Unpack(used)
		if used = got.Bins; !slices.Equal(got.Bins, want.Bins) {
			t.Fatalf("bins %v, want %v", got.Bins, want.Bins)
		}
		if got.Time != want.Time || got.Direction != want.Direction || got.Line != want.Line || !got.NewJob || got.Total != want.Total {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}
