package matrix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
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
	line := func(direction string, m facts.Metric, base, other float64, v compare.Verdict) compare.Line {
		return compare.Line{Direction: direction, Change: compare.Change{Metric: m, Base: base, Other: other, Change: other/base - 1, Verdict: v}}
	}
	pairs[1].Lines = []compare.Line{line("read", p99, 1e6, 1.123e6, compare.Worse), line("read", facts.IOPS, 4000, 2000, compare.Same)}
	metrics := []facts.Metric{facts.IOPS, p99}
	var b bytes.Buffer
	if err := WriteChanges(&b, table.Text, "after against before", metrics, pairs); err != nil {
		t.Fatal(err)
	}
	wantText := `reads by bs, iodepth: after against before
BS   IODEPTH           BASE          OTHER  IOPS          P99
4K   1                    -     10 @ 100µs  only other
4K   4        4000 @ 1.00ms  2000 @ 1.12ms  -50.0 % same  +12.3 % worse
64K  1           30 @ 303µs              -  only base
64K  4                    -     30 @ 303µs  only other
1M   1                mixed     30 @ 303µs  mixed
`
	if diff := gocmp.Diff(wantText, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestBest: where both sides have several loads, a row has the highest throughput of each, and at which load. It has verdicts if
// that is the same one.
func TestBest(t *testing.T) {
	by, err := Settings([]string{"iodepth", "bs"})
	if err != nil {
		t.Fatal(err)
	}
	sides := [2][]*mapping.Run{}
	for side := range sides {
		for _, depth := range []string{"1", "4", "16"} {
			sides[side] = append(sides[side], made(fmt.Sprintf("bs=4k iodepth=%s name=%d", depth, side), 100, 10))
		}
		sides[side] = append(sides[side], made(fmt.Sprintf("bs=64k iodepth=1 name=%d", side), 100, 10))
	}
	iops := map[string][2]float64{"iodepth 1, bs 4K": {100, 100}, "iodepth 4, bs 4K": {250, 300}, "iodepth 16, bs 4K": {500, 200}, "iodepth 1, bs 64K": {9, 9}}
	pairs := Match(by, sides[0], sides[1])
	for _, p := range pairs {
		of := iops[p.Name()]
		p.Lines = []compare.Line{{Direction: "read", Change: compare.Change{Metric: facts.IOPS, Base: of[0], Other: of[1], Change: of[1]/of[0] - 1, Verdict: compare.Worse}}}
	}
	text := func() string {
		var b bytes.Buffer
		if err := WriteChanges(&b, table.Text, "after against before", []facts.Metric{facts.IOPS}, pairs); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := `reads by bs, iodepth: after against before
BS   IODEPTH        BASE  OTHER  IOPS
4K   1               100    100  0.0 % worse
4K   4               250    300  +20.0 % worse
4K   16              500    200  -60.0 % worse
4K   best at 16, 4   500    300  -40.0 %
64K  1                 9      9  0.0 % worse
`
	if diff := gocmp.Diff(want, text()); diff != "" {
		t.Error(diff)
	}
	for _, p := range pairs {
		if p.Name() == "iodepth 16, bs 4K" {
			p.Lines[0].Other = 450
		}
	}
	if text := text(); !strings.Contains(text, "4K   best at 16   500    450  -60.0 % worse\n") {
		t.Error(text)
	}
}
