package report

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestHostTable: the slowest host is first, and bars are relative to the highest number. A host's cut first and last
// windows do not lower its iops.
func TestHostTable(t *testing.T) {
	fast, slow := &hostSum{host: "fast"}, &hostSum{host: "slow"}
	for second := range int64(6) {
		n := 100.0
		if second == 0 || second == 5 {
			n = 40
		}
		for _, s := range []*hostSum{fast, slow} {
			us := 100.0
			if s == slow {
				us = 400
			}
			requests := histOf(n, us)
			s.add(window.From(windowOf("read", s.host, second*1000, 1000, requests)), requests)
		}
	}
	tableOf := func(sums []*hostSum, hosts ...mapping.RunHost) hostTable {
		return (&run{Hosts: hostsOf("read", sums, hosts)}).HostTables()[0]
	}
	table := tableOf([]*hostSum{fast, slow}, mapping.RunHost{Name: "slow", SkewMS: 361})
	want := []row{
		{"slow", []cell{{Text: "480"}, {Text: "100", Bar: "100.0%"}, {Text: "399µs", Bar: "100.0%"}, {Text: "401µs", Bar: "100.0%"}, {Text: "401µs", Bar: "100.0%"}, {Text: "0.36s"}}},
		{"fast", []cell{{Text: "480"}, {Text: "100", Bar: "100.0%"}, {Text: "99.8µs", Bar: "25.0%"}, {Text: "100µs", Bar: "25.0%"}, {Text: "100µs", Bar: "25.0%"}, {}}},
	}
	for i, w := range want {
		if got := table.Rows[i]; got.Name != w.Name || !slices.Equal(got.Cells, w.Cells) {
			t.Errorf("%+v, want %+v", got, w)
		}
	}
	short := &hostSum{host: "short"}
	requests := histOf(50, 100)
	if short.add(window.From(windowOf("read", "short", 0, 500, requests)), requests); short.iops() != 100 {
		t.Errorf("%v a second", short.iops())
	}
	var many []*hostSum
	for i := range maxHosts + 7 {
		s := &hostSum{host: fmt.Sprintf("host%03d", i)}
		requests := histOf(5, 100*math.Pow(1.05, float64(i)))
		s.add(window.From(windowOf("read", s.host, 0, 1000, requests)), requests)
		many = append(many, s)
	}
	if table := tableOf(many); len(table.Rows) != maxHosts || table.Left != 7 || table.Rows[0].Name != "host106" {
		t.Errorf("%d rows, %d left out, first %s", len(table.Rows), table.Left, table.Rows[0].Name)
	}
}
