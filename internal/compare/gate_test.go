package compare

import (
	"math"
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
		if err == nil || !strings.HasPrefix(err.Error(), `"`+text+`", column `) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCheck: a condition is met by a change beyond its limit whose interval excludes 0. It is unclear if it is not
// met and the interval reaches beyond the limit. It is unknown without an interval, and absent without its
// direction.
func TestCheck(t *testing.T) {
	line := func(direction, name string, change, low, high float64, v Verdict) Line {
		m := metric(name)
		return Line{Direction: direction, Change: Change{
			Metric: m, Base: 1000, Other: 1000 + 1000*change, Change: change, Low: low, High: high, Verdict: v, Why: "why not",
		}}
	}
	lines := []Line{
		line("read", "iops", -0.2, -0.25, -0.15, Worse), line("read", "p99", 0.12, 0.05, 0.2, Worse),
		line("write", "iops", -0.2, -0.5, 0.1, Unclear), line("write", "p99", -0.3, -0.4, -0.2, Better),
		line("write", "p50", math.NaN(), math.NaN(), math.NaN(), Unknown), line("read", "mean", 0.012, -0.004, 0.029, Same),
	}
	for _, c := range []struct{ text, want string }{
		{"p99 > 10%", "met: new against old: read p99 from 1.00µs to 1.12µs, +12.0 % (+5.0 … +20.0 %)\n" +
			"not met: new against old: write p99 from 1.00µs to 700ns, -30.0 % (-40.0 … -20.0 %)"},
		{"read.p99 > 12%", "unclear: new against old: read p99 from 1.00µs to 1.12µs, +12.0 % (+5.0 … +20.0 %)"},
		{"read.p99 > 20%", "not met: new against old: read p99 from 1.00µs to 1.12µs, +12.0 % (+5.0 … +20.0 %)"},
		{"write.p99 < -25%", "met: new against old: write p99 from 1.00µs to 700ns, -30.0 % (-40.0 … -20.0 %)"},
		{"write.p99 < -35%", "unclear: new against old: write p99 from 1.00µs to 700ns, -30.0 % (-40.0 … -20.0 %)"},
		{"write.p99 > 10%", "not met: new against old: write p99 from 1.00µs to 700ns, -30.0 % (-40.0 … -20.0 %)"},
		{"write.iops < -10%", "unclear: new against old: write iops from 1000 to 800, -20.0 % (-50.0 … +10.0 %)"},
		{"mean > +10%", "not met: new against old: read mean from 1.00µs to 1.01µs, +1.2 % (-0.4 … +2.9 %)"},
		{"mean > 2%", "unclear: new against old: read mean from 1.00µs to 1.01µs, +1.2 % (-0.4 … +2.9 %)"},
		{"p50 > 1%", "not checked: new against old: write: why not"},
		{"read.p50 > 1%", "absent: new against old: at least one of them has no reads"},
	} {
		condition, err := ParseCondition(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		gate := Gate{Conditions: []Condition{condition}}
		gate.Check("", &Side{Name: "old"}, &Side{Name: "new"}, lines)
		for _, o := range gate.outcomes {
			got = append(got, strings.TrimPrefix(o.String(), c.text+": "))
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s: %s, want %s", c.text, text, c.want)
		}
	}
}
