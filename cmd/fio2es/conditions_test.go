package main

import (
	"math"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/compare"
)

// TestCheck: a condition is met by a change beyond its limit that is no chance; it is open
// where nobody knows, and absent where nothing is what it is about.
func TestCheck(t *testing.T) {
	line := func(direction, name string, change float64, v compare.Verdict) compare.Line {
		m, err := compare.ParseMetric(name)
		if err != nil {
			t.Fatal(err)
		}
		return compare.Line{Direction: direction, Change: compare.Change{Metric: m, Base: 1000, Other: 1000 + 1000*change, Change: change, Verdict: v, Why: "why not"}}
	}
	lines := []compare.Line{
		line("read", "iops", -0.2, compare.Worse), line("read", "p99", 0.12, compare.Worse),
		line("write", "iops", -0.2, compare.Same), line("write", "p99", -0.3, compare.Better), line("write", "p50", math.NaN(), compare.Unknown),
	}
	for _, c := range []struct {
		text                string
		met, open, isAbsent bool
		says                string
	}{
		{"p99 > 10%", true, false, false, "error: --fail-if p99 > 10%: new against old: read p99 from 1.00µs to 1.12µs, +12.0 % ("},
		{"p99 > 12%", false, false, false, ""},
		{"p99 < -25%", true, false, false, "write p99 from 1.00µs to 700ns, -30.0 %"},
		{"write.p99 > 10%", false, false, false, ""},
		{"read.p99 < 10%", false, false, false, ""},
		{"iops < -10%", true, false, false, "read iops from 1000 to 800, -20.0 %"},
		{"write.iops < -10%", false, false, false, ""},
		{"p50 > 1%", false, true, false, "warning: --fail-if p50 > 1%: new against old: write: not checked: why not"},
		{"read.p50 > 1%", false, false, true, ""},
		{"trim.iops > 1%", false, false, true, ""},
	} {
		asked, err := compare.ParseCondition(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		a := newApp(strings.NewReader(""), &errs, &errs)
		base, other := &compare.Side{Name: "old"}, &compare.Side{Name: "new"}
		met, open := a.checkConditions([]compare.Condition{asked}, base, other, lines)
		absent := absentIn([]compare.Condition{asked}, base, other, lines)
		if met != c.met || open != c.open || (len(absent) == 1) != c.isAbsent || !strings.Contains(errs.String(), c.says) || (errs.Len() > 0) != (c.says != "") {
			t.Errorf("%s: met %v, open %v, absent %v; told %q", c.text, met, open, absent, errs.String())
		}
	}
}
