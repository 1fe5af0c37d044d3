package slo

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/expr"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, want string
		limit      float64
	}{
		{"p99 <= 10ms", "p99 <= 10ms", 1e7},
		{"p99<=10ms", "p99 <= 10ms", 1e7},
		{" P99.90 < 1.5 S ", "p99.9 < 1.5s", 1.5e9},
		{"p99_9 > 7µs", "p99.9 > 7us", 7e3},
		{"p99.9999 >= 7μs", "p99.9999 >= 7us", 7e3},
		{"p0.5 < 300ns", "p0.5 < 300ns", 300},
		{"mean<1e-3s", "mean < 1e-3s", 1e6},
		{"write.max <= 20ms", "write.max <= 20ms", 2e7},
		{"Trim . min > 0ns", "trim.min > 0ns", 0},
		{"within 100ms >= 99.9%", "within 100ms >= 99.9%", 0.999},
		{"read.within100ms>=99.9 %", "read.within 100ms >= 99.9%", 0.999},
		{"iops >= 5000", "iops >= 5000", 5000},
		{"iops >= 5k", "iops >= 5k", 5000},
		{"iops < 1.5m", "iops < 1.5M", 1.5e6},
		{"requests >= 1E+6", "requests >= 1e6", 1e6},
		{"requests > 1e0", "requests > 1e0", 1},
		{"p99 < 2 minutes", "p99 < 2minutes", 120e9},
		{"p99 <= 10ms in 99% of windows", "p99 <= 10ms in 99% of windows", 0.99},
		{"p99<=10ms in99.5%of windows", "p99 <= 10ms in 99.5% of windows", 0.995},
		{"IOPS >= 5000 IN EVERY WINDOW", "iops >= 5000 in every window", 1},
		{"iops >= 5k in 100% of windows", "iops >= 5k in every window", 1},
		{"write.within 1ms >= 99% in 95% of windows", "write.within 1ms >= 99% in 95% of windows", 0.95},
		{"p99 <= 10ms for 30 s", "p99 <= 10ms for 30s", 30e9},
		{"p99 <= 10ms in every window FOR 1m30s", "p99 <= 10ms for 1m30s", 90e9},
		{"iops>0 for 5s", "iops > 0 for 5s", 5e9},
	} {
		r, err := Parse(c.text)
		if err != nil || r.String() != c.want || r.Limit() != c.limit {
			t.Errorf("%q: %q, limit %v, %v; want %q, %v", c.text, r, r.Limit(), err, c.want, c.limit)
		}
	}
}

// TestParsePercentiles: the shares are exactly the float64 that the text means.
func TestParsePercentiles(t *testing.T) {
	for text, want := range map[string]float64{"p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999, "p99.9999": 0.999999, "p95": 0.95, "p57": 0.57, "p0.0001": 1e-6} {
		if r, err := Parse(text + " < 1s"); err != nil || r.Metric.Quantile != want || r.Metric.String() != text {
			t.Errorf("%s: %+v, %v", text, r.Metric, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	const metric, end = "a percentile such as p99.9, or min, mean, max, within 100ms, iops or requests", `"in 99% of windows", "in every window", "for 30s" or the end`
	const latency, share = "a latency with its unit, such as 300us or 5ms", "a share such as 99.9%"
	for _, c := range []struct {
		text   string
		column int
		want   string // what was expected, and what was found
	}{
		{"", 1, metric + ", found the end"},
		{"latency < 1s", 1, metric + `, found "latency"`},
		{"p99", 4, "<, <=, > or >=, found the end"},
		{"p99 10ms", 1, metric + `, found "p99"`},
		{"p99 == 10ms", 5, `<, <=, > or >=, found "=="`},
		{"both.p99 < 10ms", 1, metric + `, found "both.p99"`},
		{"read.", 1, metric + `, found "read."`},
		{"p100 < 10ms", 1, metric + `, found "p100"`},
		{"within >= 99%", 1, metric + `, found "within"`},
		{"within -5ms >= 99%", 1, metric + `, found "within"`},
		{"p99 < fast", 7, latency + `, found "fast"`},
		{"p99 < 10", 7, latency + `, found "10"`},
		{"p99 < -10ms", 7, latency + `, not below 0 or above 100%, found "-10ms"`},
		{"p99 <= 10,5ms", 8, latency + `, found "10,5ms"`},
		{"p99 < 1e999s", 7, latency + `, found "1e999s"`},
		{"within 5ms >= 1ms", 15, share + `, found "1ms"`},
		{"within 5ms >= 100.1%", 15, share + `, not below 0 or above 100%, found "100.1%"`},
		{"iops >= 5q", 9, `a number such as 5000, 5k or 1e6, found "5q"`},
		{"p99 < 10ms please", 12, end + `, found "please"`},
		{"p99 < 10ms, iops > 5", 11, end + `, found ","`},
		{"p99 < 10ms in most windows", 15, share + `, found "most"`},
		{"p99 < 10ms in", 14, share + `, found the end`},
		{"p99 < 10ms in 0% of windows", 15, `a share above 0%, or "every window", found "0%"`},
		{"p99 < 10ms in 99% of the windows", 22, `"windows", found "the"`},
		{"p99 < 10ms in 99%", 18, `"of", found the end`},
		{"p99 < 10ms in every windows", 21, `"window", found "windows"`},
		{"p99 < 10ms in every window now", 28, end + `, found "now"`},
		{"p99 < 10ms for 0s", 12, `a time above 0s, found "for"`},
		{"p99 < 10ms for long", 16, `a time such as 90s, 10m, 2h or 30 days, found "long"`},
		{"p99 < 10ms in 99% of windows for 5s", 30, `the end ("for" is about every window), found "for"`},
		{"requests > 5 for 5s", 14, `the end (requests count over the whole run; use iops), found "for"`},
		{"requests > 5 in every window", 14, `the end (requests count over the whole run; in windows use iops), found "in"`},
	} {
		_, err := Parse(c.text)
		var bad *expr.Error
		if want := fmt.Sprintf("%q, column %d: want %s", c.text, c.column, c.want); !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// rules generates rules in the ways in which people may write them.
func rules() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
		space := func() string { return one("space", "", " ", "  ", "\t") }
		number := func() string {
			return one("number", "0", "1", "10", "99.9", "0.125", "007", "33.50") + one("exponent", "", "", "", "e0", "E1", "e-2")
		}
		words := func(list ...string) (text string) {
			for _, w := range list {
				text += w + space()
			}
			return text
		}
		latency := func() string { return words(number(), one("unit", "ns", "us", "µs", "μs", "ms", "s", "MS")) }
		operator := one("operator", "<", "<=", ">", ">=")
		text := space()
		if d := one("direction", "", "read", "Write", "trim"); d != "" {
			text += words(d, ".")
		}
		subject := one("subject", "p", "within", "iops", "requests", "min", "Mean", "max")
		switch subject {
		case "p":
			text += words("p"+one("percent", "1", "50", "99", "99.9", "99_99", "099.990"), operator) + latency()
		case "within":
			text += words("within") + latency() + words(operator, "9"+number()[:1], "%")
		case "iops", "requests":
			text += words(subject, operator, number()+one("thousands", "", "k", "K", "M"))
		default:
			text += words(subject, operator) + latency()
		}
		if subject == "requests" {
			return text
		}
		switch one("windows", "", "some", "all", "long") {
		case "long":
			text += " for" + space() + words(one("time", "30s", "5 s", "1m30s", "100ms"))
		case "some":
			text += " in" + space() + words(one("share", "99", "99.9", "100", "5e1"), "%") + "of windows"
		case "all":
			text += " in every window" + space()
		}
		return text
	})
}

// TestRoundTrip: the text of a rule is parsed as the same rule, and has the same text again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rules().Draw(t, "text")
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, r)
		if shouted, err := Parse(strings.ToUpper(text)); err != nil || shouted != r {
			t.Fatalf("in capitals: %+v, %v; want %+v", shouted, err, r)
		}
	})
}

func checkRoundTrip(t interface{ Fatalf(string, ...any) }, r Rule) {
	again, err := Parse(r.String())
	if err != nil || again != r || again.String() != r.String() {
		t.Fatalf("%+v is written as %q, which is %+v (%v)", r, r, again, err)
	}
	if !(r.Limit() >= 0) || math.IsInf(r.Limit(), 0) || r.Kind() == expr.Percent && r.InWindows() && !(r.Limit() > 0 && r.Limit() <= 1) {
		t.Fatalf("%q has limit %v", r, r.Limit())
	}
}

// FuzzParse: any text is a rule that can be written and parsed again, or an error with a position within the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"p99 <= 10ms", "write.p99_9<2e-1s in 99.9% of windows", "read . within 100µs >= 99.9 % in every window", "iops >= 5k", "mean < 1e", "iops > 0 for 5s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err == nil {
			checkRoundTrip(t, r)
		} else if !errors.As(err, new(*expr.Error)) || r != (Rule{}) {
			t.Fatalf("%q: %+v, %v", text, r, err)
		}
	})
}
