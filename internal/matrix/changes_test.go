package matrix

import (
	"bytes"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// TestMatch: a cell is compared if both sides have it and neither mixes workloads, also if the sides differ in other settings.
func TestMatch(t *testing.T) {
	by, err := Settings([]string{"bs", "iodepth"})
	if err != nil {
		t.Fatal(err)
	}
	twice := made("bs=4k iodepth=1 ioengine=libaio", 100, 10)
	base := []*mapping.Run{
		twice, made("bs=4k iodepth=4 ioengine=libaio", 200, 20), made("bs=4k iodepth=4 ioengine=libaio", 210, 20), made("bs=64k iodepth=1 ioengine=libaio", 300, 30),
		made("bs=1m iodepth=1 ioengine=libaio", 300, 30), made("bs=1m iodepth=1 ioengine=libaio rw=randread", 300, 30),
	}
	other := []*mapping.Run{
		twice, made("bs=4k iodepth=4 ioengine=io_uring", 220, 20), made("bs=64k iodepth=4 ioengine=io_uring", 300, 30), made("bs=1m iodepth=1 ioengine=io_uring", 300, 30),
	}
	pairs := Match(by, base, other)
	var got []string
	for _, p := range pairs {
		got = append(got, p.Name()+": "+p.Why)
		if p.Name() == "bs 4K, iodepth 4" && (len(p.Base) != 2 || len(p.Other) != 1 || p.Base[0] != base[1] || p.Other[0] != other[1]) {
			t.Errorf("%d and %d runs", len(p.Base), len(p.Other))
		}
	}
	want := []string{"bs 4K, iodepth 1: only other", "bs 4K, iodepth 4: ", "bs 64K, iodepth 1: only base", "bs 64K, iodepth 4: only other", "bs 1M, iodepth 1: mixed"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}

	p99, _ := facts.Percentile("99")
	line := func(direction string, m facts.Metric, change float64, v compare.Verdict) compare.Line {
		return compare.Line{Direction: direction, Change: compare.Change{Metric: m, Change: change, Verdict: v}}
	}
	pairs[1].Lines = []compare.Line{line("write", p99, 0.123, compare.Worse), line("read", facts.IOPS, -0.5, compare.Same)}
	var b bytes.Buffer
	if err := WriteChanges(&b, table.Text, "after against before", pairs); err != nil {
		t.Fatal(err)
	}
	wantText := `IOPS of reads by bs and iodepth: after against before
BS\IODEPTH           1             4
4K          only other  -50.0 % same
64K          only base    only other
1M               mixed

p99 of writes by bs and iodepth: after against before
BS\IODEPTH              4
4K          +12.3 % worse
`
	if diff := gocmp.Diff(wantText, b.String()); diff != "" {
		t.Error(diff)
	}
}
