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
	sums := map[hostKey]*hostSum{}
	add := func(host string, from, ms int64, n, us float64) {
		key := hostKey{"read", host}
		if sums[key] == nil {
			sums[key] = &hostSum{}
		}
		requests := histOf(n, us)
		sums[key].add(window.From(windowOf("read", host, from, ms, requests)), requests)
	}
	for second := range int64(6) {
		n := 100.0
		if second == 0 || second == 5 {
			n = 40
		}
		add("fast", second*1000, 1000, n, 100)
		add("slow", second*1000, 1000, n, 400)
	}
	tableOf := func(hosts ...mapping.RunHost) *Table {
		list, _ := hostsOf("read", sums, &mapping.Run{Hosts: hosts}, false)
		return (&run{Hosts: list}).HostTables()[0]
	}
	var got []string
	for _, cells := range tableOf(mapping.RunHost{Name: "slow", SkewMS: 361}).Rows {
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
	if add("short", 0, 500, 50, 100); sums[hostKey{"read", "short"}].iops() != 100 {
		t.Errorf("%v a second", sums[hostKey{"read", "short"}].iops())
	}
	clear(sums)
	for i := range 107 {
		add(fmt.Sprintf("host%03d", i), 0, 1000, 5, 100*math.Pow(1.05, float64(i)))
	}
	if table := tableOf(); len(table.Rows) != 100 || table.Note != "7 faster hosts are not shown." || table.Rows[0][0].Text != "host106" {
		t.Errorf("%d rows, %s first %v", len(table.Rows), table.Note, table.Rows[0])
	}
}

// TestSharedRequest: a request that windows share is in the numbers of its host, also if it is slower than the maximum of each of
// them.
func TestSharedRequest(t *testing.T) {
	key := hostKey{"read", "shared"}
	sums := map[hostKey]*hostSum{key: {}}
	for second := range int64(2) {
		requests := histOf(10, 100)
		w := window.From(windowOf("read", "shared", second*1000, 1000, requests))
		requests.Merge(histOf(1, 5000))
		sums[key].add(w, requests)
	}
	list, _ := hostsOf("read", sums, &mapping.Run{}, false)
	if got := list[0].Latency.Max; got < 4900 {
		t.Errorf("max %v", got)
	}
}
