package pipeline

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestLate: the first row is late by as much as it is behind the due times of the next ones.
func TestLate(t *testing.T) {
	for _, c := range []struct {
		name  string
		times []int64
		want  int64
	}{
		{"on time", []int64{9403, 9802, 10203, 10604, 11002}, 0},
		{"one row", []int64{9403}, 0},
		{"a slow request", []int64{9403, 9573, 9973, 10373, 10773}, 230},
		{"a slow one later", []int64{9403, 9802, 10350, 10602, 11002}, 1},
		{"the first a little less late", []int64{9400, 9801, 10200, 10609, 11006, 11406, 11804, 12204}, 0},
		{"two directions", []int64{9632, 9640, 9801, 9802, 10201, 10205}, 231},
		{"rows at all times", []int64{9403, 9900, 10390, 10890, 11400, 11960}, 0},
	} {
		l := &logFile{ended: true}
		for _, at := range c.times {
			l.ahead = append(l.ahead, item[*fiolog.Record]{value: &fiolog.Record{Time: at}})
		}
		if got := l.late(400); got != c.want {
			t.Errorf("%s: %d ms, want %d", c.name, got, c.want)
		}
	}
	if got := (&logFile{ended: true}).late(0); got != 0 {
		t.Errorf("without an interval: %d ms", got)
	}
}
