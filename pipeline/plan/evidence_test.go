package plan

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestLate: the first row is late by as much as it is behind the due times of the next ones.
func TestLate(t *testing.T) {
	for _, c := range []struct {
		name   string
		times  []int64
		writes []int64
		want   int64
	}{
		{"on time", []int64{9403, 9802, 10203, 10604, 11002}, nil, 1},
		{"one row", []int64{9403}, nil, 0},
		{"a slow request", []int64{9403, 9573, 9973, 10373, 10773}, nil, 230},
		{"a slow one later", []int64{9403, 9802, 10350, 10602, 11002}, nil, 1},
		{"others a little later", []int64{9400, 9801, 10201, 10609, 11006, 11406, 11804, 12204}, nil, 0},
		{"two directions", []int64{9632, 9801, 10201}, []int64{9640, 9802, 10205}, 231},
		{"a row is missing", []int64{9403, 10203, 10602, 11001}, nil, 0},
	} {
		var rows FirstRows
		for _, at := range c.times {
			rows = append(rows, &fiolog.Record{Time: at})
		}
		for _, at := range c.writes {
			rows = append(rows, &fiolog.Record{Time: at, Direction: fiolog.Write})
		}
		if got := rows.late(400); got != c.want {
			t.Errorf("%s: %d ms, want %d", c.name, got, c.want)
		}
	}
	if got := FirstRows(nil).late(0); got != 0 {
		t.Errorf("without an interval: %d ms", got)
	}
}
