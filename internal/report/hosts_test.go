package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
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
	tableOf := func(sums []*hostSum, hosts ...mapping.RunHost) *view {
		return (&run{Hosts: hostsOf("read", sums, hosts)}).HostTables()[0]
	}
	var got []string
	for _, cells := range tableOf([]*hostSum{fast, slow}, mapping.RunHost{Name: "slow", SkewMS: 361}).Rows {
		text := ""
		for _, c := range cells {
			text += strings.TrimSuffix(c.Text+"|"+c.Bar, "|") + " "
		}
		got = append(got, text)
	}
	want := []string{
		"slow 480 100|100.0% 399µs|100.0% 401µs|100.0% 401µs|100.0% 0.36s ",
		"fast 480 100|100.0% 99.8µs|25.0% 100µs|25.0% 100µs|25.0%  ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	short := &hostSum{host: "short"}
	requests := histOf(50, 100)
	if short.add(window.From(windowOf("read", "short", 0, 500, requests)), requests); short.iops() != 100 {
		t.Errorf("%v a second", short.iops())
	}
	var many []*hostSum
	for i := range 107 {
		s := &hostSum{host: fmt.Sprintf("host%03d", i)}
		requests := histOf(5, 100*math.Pow(1.05, float64(i)))
		s.add(window.From(windowOf("read", s.host, 0, 1000, requests)), requests)
		many = append(many, s)
	}
	if table := tableOf(many); len(table.Rows) != 100 || table.Note != "7 faster hosts are not shown." || table.Rows[0][0].Text != "host106" {
		t.Errorf("%d rows, %s first %v", len(table.Rows), table.Note, table.Rows[0])
	}
}
