package plan

import (
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// recordOf is a row with some counts in its first bins.
func recordOf(counts []uint64) *fiolog.Record {
	rec := &fiolog.Record{}
	for i, n := range counts {
		if n > 0 {
			rec.Bins = append(rec.Bins, hist.Bin{Index: uint32(i), Count: n})
			rec.Total += n
		}
	}
	return rec
}

// TestUndouble: what fio --client does to rows is undone, and nothing else is taken for it.
func TestUndouble(t *testing.T) {
	own := [][]uint64{{5, 0, 1}, {4, 2, 0}, {0, 3, 3}, {6, 1, 0}, {2, 2, 2}}
	for lag := 1; lag <= 2; lag++ {
		undo := Undoubler{Lag: lag}
		var written [][]uint64
		for k, row := range own {
			w := append([]uint64(nil), row...)
			if k >= lag {
				for i := range w {
					w[i] += written[k-lag][i]
				}
			}
			written = append(written, w)
			rec := recordOf(w)
			if err := undo.Row(rec); err != nil {
				t.Fatal(err)
			}
			got := [3]uint64{}
			for _, b := range rec.Bins {
				got[b.Index] = b.Count
			}
			if got != [3]uint64(row) || rec.Total != row[0]+row[1]+row[2] {
				t.Errorf("lag %d, row %d: %v, want %v", lag, k, got, row)
			}
		}
	}
	undo := Undoubler{Lag: 1}
	if undo.Row(recordOf([]uint64{5, 0, 1})) != nil || undo.Row(recordOf([]uint64{4, 2, 0})) == nil {
		t.Error("a row that lacks requests of the one before was taken for a doubled one")
	}
}
