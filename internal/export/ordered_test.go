package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// exportWindow returns a document of a host with n requests of 1 ms.
func exportWindow(elapsed, late int64, host, direction string, n int64) *mapping.Interval {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	at := start.Add(time.Duration(elapsed+late) * time.Millisecond)
	return &mapping.Interval{
		Time: at, Level: mapping.Host, Window: mapping.Window{End: at.Add(time.Second), MS: 1000, ElapsedMS: elapsed},
		Run: mapping.RunRef{ID: "1", Name: "r", Start: start}, Host: mapping.HostRef{Name: host}, Fio: mapping.FioRef{Direction: direction},
		Latency: mapping.Latency{Layout: "fio3/0", Bins: mapping.Bins{Values: []float64{1003.519}, Counts: []int64{n}}},
	}
}

// TestOrdered: windows of one time are written in the same order, for any order of their documents. Parts of a split
// document become one window again.
func TestOrdered(t *testing.T) {
	const many = 3 * mapping.MaxCount
	docs := []*mapping.Interval{
		exportWindow(0, 0, "b", "read", 1), exportWindow(0, 0, "b", "write", 2), exportWindow(0, 3, "a", "read", 3), exportWindow(0, 0, "c", "trim", 4),
	}
	big := exportWindow(1000, 0, "a", "read", 1)
	big.Latency.Bins = mapping.Bins{Values: []float64{1003.519, 1003.519, 1003.519}, Counts: []int64{mapping.MaxCount, mapping.MaxCount, mapping.MaxCount}}
	parts := big.Split()
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	text := func(docs []*mapping.Interval) string {
		var out bytes.Buffer
		to := NewBins(&out, table.CSV)
		e := NewOrdered(to, nil)
		for _, w := range window.RejoinAll(docs) {
			if err := e.Add(w); err != nil {
				t.Fatal(err)
			}
		}
		if hasRequests, err := e.End(); !hasRequests || err != nil {
			t.Fatal(hasRequests, err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		if hasRequests, err := e.End(); hasRequests || err != nil {
			t.Error("a run without windows", hasRequests, err)
		}
		return out.String()
	}
	got := text(append(slices.Clone(docs), parts...))
	slices.Reverse(docs)
	if other := text(append(docs, parts...)); other != got {
		t.Errorf("%s\nand in another order\n%s", got, other)
	}
	var lines []string
	for _, row := range strings.Split(strings.TrimSpace(got), "\n")[1:] {
		f := strings.Split(row, ",")
		lines = append(lines, strings.Join([]string{f[4], f[6], f[7], f[13]}, " "))
	}
	want := []string{"b read 0 1", "b write 0 2", "c trim 0 4", "a read 3 3", fmt.Sprint("a read 1000 ", many)}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}
