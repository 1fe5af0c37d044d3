package align

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestWhole: rows that are never cut. Windows follow them, and a row that spans several makes one window of these.
func TestWhole(t *testing.T) {
	type row struct {
		start, end int64
		n          uint64
	}
	for _, tt := range []struct {
		name string
		rows [][]row // of each stream
		want string  // start-end:completed
	}{
		{"regular", [][]row{{{0, 893, 9}, {893, 1893, 10}, {1893, 2900, 10}}}, "0-893:9 893-1893:10 1893-2900:10"},
		{"a hang", [][]row{{{0, 893, 9}, {893, 1893, 10}, {1893, 5804, 30}, {5804, 6893, 40}}}, "0-893:9 893-1893:10 1893-5804:30 5804-6893:40"},
		{"a hang at the start", [][]row{{{0, 5500, 30}, {5500, 6893, 14}, {6893, 7893, 10}}}, "0-5500:30 5500-6893:14 6893-7893:10"},
		{"a hang at the end", [][]row{{{0, 893, 9}, {893, 4893, 30}}}, "0-893:9 893-4893:30"},
		{"one after another", [][]row{{{0, 893, 9}, {893, 3893, 30}, {3893, 6893, 10}}}, "0-893:9 893-3893:30 3893-6893:10"},
		{"of two streams", [][]row{{{0, 893, 9}, {893, 3893, 30}, {3893, 4893, 1}}, {{0, 893, 9}, {893, 1893, 5}, {1893, 2893, 5}, {2893, 3893, 5}, {3893, 4893, 1}}},
			"0-893:18 893-3893:45 3893-4893:2"},
		{"a short one at the start", [][]row{{{602, 893, 3}, {893, 1893, 10}, {1893, 2100, 2}}}, "602-893:3 893-1893:10 1893-2100:2"},
		{"that begin at one moment", [][]row{{{393, 394, 8}}, {{393, 2393, 9}}}, "393-394:8 394-2393:9"}, // documents are stored by it
		{"that overlap", [][]row{{{0, 893, 9}, {893, 2893, 30}, {2893, 4893, 2}}, {{0, 1893, 9}, {1893, 3893, 5}, {3893, 4893, 5}}},
			"0-4893:60"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, workers := range []int{1, 3} {
				const shift = 107 // so that windows follow the rows
				var streams []*Stream
				for i, rows := range tt.rows {
					streams = append(streams, &Stream{Job: fmt.Sprint(i), Next: func() (Row, bool) {
						if len(rows) == 0 {
							return Row{}, false
						}
						r := rows[0]
						rows = rows[1:]
						return Row{Start: r.start + shift, End: r.end + shift, Whole: true, Layout: hist.Fio3(0),
							Bins: []hist.Bin{{Index: 100, Count: r.n}}, Total: r.n}, true
					}})
				}
				var got []string
				for w, err := range Merged(context.Background(), streams, Options{Window: 1000, Workers: workers, Live: workers == 1}, nil) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprintf("%d-%d:%d", max(w.Start-shift, 0), w.End-shift, w.Completed))
				}
				if text := fmt.Sprint(got); text != "["+tt.want+"]" {
					t.Errorf("%d workers: %s, want %s", workers, text, tt.want)
				}
			}
		})
	}
}

// TestWholeInOneWindow: a row with a moment is in the window of that moment alone, which has its times, and changes no window of
// others. A late row does not join theirs.
func TestWholeInOneWindow(t *testing.T) {
	stream := func(d fiolog.Direction, rows ...Row) *Stream {
		return &Stream{Next: func() (row Row, ok bool) {
			if len(rows) == 0 {
				return row, false
			}
			row, rows = rows[0], rows[1:]
			row.Direction, row.Layout, row.Bins, row.Total = d, hist.Fio3(0), []hist.Bin{{Index: 100, Count: 8}}, 8
			return row, true
		}}
	}
	whole := func(start, end int64) Row { return Row{Start: start, End: end, Whole: true, At: end - 100} }
	streams := []*Stream{
		stream(fiolog.Write, Row{Start: 0, End: 1000}, Row{Start: 1000, End: 2000}, Row{Start: 2000, End: 3000}, Row{Start: 3000, End: 4000}),
		stream(fiolog.Sync, whole(0, 600), whole(600, 1600), whole(1600, 3600), whole(3600, 4000)),
	}
	var got []string
	for w, err := range Merged(context.Background(), streams, Options{Window: 1000, Workers: 1}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %d-%d:%d", w.Key.Direction, w.Start, w.End, w.Completed))
		if w.Unsure != [2]float64{} {
			t.Errorf("%s: unsure %v", got[len(got)-1], w.Unsure)
		}
	}
	want := []string{
		"write 0-1000:8", "sync 0-600:8", "write 1000-2000:8", "sync 600-1600:8", "write 2000-3000:8", "write 3000-4000:8", "sync 1600-4000:16",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
