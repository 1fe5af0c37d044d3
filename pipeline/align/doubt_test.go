package align

import (
	"context"
	"fmt"
	"testing"

	"github.com/fio2es/fio2es/hist"
)

// TestUnsure: requests of a cut row may belong to the window beside it if the rate changed within the row.
func TestUnsure(t *testing.T) {
	type row struct {
		start, end int64
		n          uint64
	}
	for _, c := range []struct {
		name string
		rows []row
		want string // start:unsure
	}{
		{"not cut", []row{{0, 1000, 100}, {1000, 2000, 400}, {2000, 3000, 100}}, ""},
		{"some milliseconds late", []row{{0, 1030, 100}, {1030, 2040, 400}, {2040, 3000, 100}}, ""},
		{"steady", []row{{500, 1500, 100}, {1500, 2500, 104}, {2500, 3500, 98}, {3500, 3700, 20}}, ""},
		{"few requests", []row{{500, 1500, 4}, {1500, 2500, 9}, {2500, 3500, 2}}, ""},
		{"a rate grows evenly", []row{{500, 1500, 400}, {1500, 2500, 500}, {2500, 3500, 600}}, ""},
		{"after a hang at the start", []row{{1500, 2500, 1000}, {2500, 3500, 400}, {3500, 4500, 400}}, "1000:300 2000:300"},
		{"before a hang", []row{{1250, 2250, 400}, {2250, 3250, 100}, {5250, 5260, 1}, {5260, 6250, 1900}, {6250, 7250, 400}},
			"1000:75 2000:100 3000:25 5000:380 6000:480 7000:100"},
		{"higher from a moment on", []row{{500, 1500, 400}, {1500, 2500, 400}, {2500, 3500, 700}, {3500, 4500, 1200}, {4500, 5500, 1200}},
			"2000:150 3000:150"},
		{"at the end", []row{{500, 1500, 400}, {1500, 2500, 400}, {2500, 3500, 100}}, "2000:50 3000:50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, live := range []bool{true, false} {
				rows := c.rows
				stream := &Stream{Next: func() (Row, bool) {
					if len(rows) == 0 {
						return Row{}, false
					}
					r := rows[0]
					rows = rows[1:]
					return Row{Start: r.start, End: r.end, Layout: hist.Fio3(0), Bins: []hist.Bin{{Index: 100, Count: r.n}}, Total: r.n}, true
				}}
				var got []string
				for w, err := range Merged(context.Background(), []*Stream{stream}, Options{Window: 1000, Tolerance: 50, Live: live}, nil) {
					if err != nil {
						t.Fatal(err)
					}
					if sum := w.Unsure[0] + w.Unsure[1]; sum > 0 {
						got = append(got, fmt.Sprintf("%d:%.0f", w.Elapsed, sum))
					}
				}
				if text := fmt.Sprint(got); text != "["+c.want+"]" {
					t.Errorf("live %v: %s, want %s", live, text, c.want)
				}
			}
		})
	}
}
