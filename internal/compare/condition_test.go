package compare

import (
	"strings"
	"testing"
)

func metric(t *testing.T, text string) Metric {
	t.Helper()
	m, err := ParseMetric(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParseCondition(t *testing.T) {
	for text, want := range map[string]Condition{
		"p99 > +10%":          {"p99 > +10%", "", metric(t, "p99"), true, 0.10},
		"p99>10%":             {"p99>10%", "", metric(t, "p99"), true, 0.10},
		" write.iops < -5 % ": {"write.iops < -5 %", "write", IOPS, false, -0.05},
		"read.p99.9 > 2.5%":   {"read.p99.9 > 2.5%", "read", metric(t, "p99.9"), true, 0.025},
		"p99_9>0%":            {"p99_9>0%", "", metric(t, "p99.9"), true, 0},
		"trim . mean < 0%":    {"trim . mean < 0%", "trim", Mean, false, 0},
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
