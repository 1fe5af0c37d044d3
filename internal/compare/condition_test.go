package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/window"
)

func metric(name string) window.Metric {
	m, _ := window.ParseMetric(name)
	return m
}

func TestParseCondition(t *testing.T) {
	for text, want := range map[string]Condition{
		"p99 > +10%":          {"p99 > +10%", "", metric("p99"), true, 0.10},
		"p99>10%":             {"p99>10%", "", metric("p99"), true, 0.10},
		" write.iops < -5 % ": {"write.iops < -5 %", "write", window.IOPS, false, -0.05},
		"read.p99.9 > 2.5%":   {"read.p99.9 > 2.5%", "read", metric("p99.9"), true, 0.025},
		"p99_9>0%":            {"p99_9>0%", "", metric("p99.9"), true, 0},
		"trim . mean < 0%":    {"trim . mean < 0%", "trim", window.Mean, false, 0},
	} {
		if got, err := ParseCondition(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "p99", "p99 > 10", "p99 = 10%", "p99 >= 10%", "both.p99 > 10%", "max > 10%", "p100 > 1%", "> 10%", "p99 > ten%", "p99 > 10% or so"} {
		_, err := ParseCondition(text)
		if err == nil || !strings.HasPrefix(err.Error(), `"`+text+`": `) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCheck: a condition is met by a change beyond its limit whose interval excludes 0. It is unknown
// without an interval, and absent without its direction.
func TestCheck(t *testing.T) {
	line := func(direction, name string, change float64, v Verdict) Line {
		m := metric(name)
		return Line{Direction: direction, Change: Change{Metric: m, Base: 1000, Other: 1000 + 1000*change, Change: change, Verdict: v, Why: "why not"}}
	}
	lines := []Line{
		line("read", "iops", -0.2, Worse), line("read", "p99", 0.12, Worse),
		line("write", "iops", -0.2, Same), line("write", "p99", -0.3, Better), line("write", "p50", math.NaN(), Unknown),
	}
	for _, c := range []struct {
		text                string
		met, open, isAbsent bool
		says                string
	}{
		{"p99 > 10%", true, false, false, "p99 > 10%: new against old: read p99 from 1.00µs to 1.12µs, +12.0 % ("},
		{"p99 > 12%", false, false, false, ""},
		{"p99 < -25%", true, false, false, "write p99 from 1.00µs to 700ns, -30.0 %"},
		{"write.p99 > 10%", false, false, false, ""},
		{"read.p99 < 10%", false, false, false, ""},
		{"iops < -10%", true, false, false, "read iops from 1000 to 800, -20.0 %"},
		{"write.iops < -10%", false, false, false, ""},
		{"p50 > 1%", false, true, false, "p50 > 1%: new against old: write: not checked: why not"},
		{"read.p50 > 1%", false, false, true, ""},
		{"trim.iops > 1%", false, false, true, ""},
	} {
		asked, err := ParseCondition(c.text)
		if err != nil {
			t.Fatal(err)
		}
		g := Check([]Condition{asked}, &Side{Name: "old"}, &Side{Name: "new"}, lines)
		said := strings.Join(slices.Concat(g.Met, g.Unknown), "\n")
		if len(g.Met) > 0 != c.met || len(g.Unknown) > 0 != c.open || len(g.Absent) > 0 != c.isAbsent || !strings.Contains(said, c.says) || (said != "") != (c.says != "") {
			t.Errorf("%s: %+v", c.text, g)
		}
	}
}
