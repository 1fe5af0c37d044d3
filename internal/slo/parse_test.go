package slo

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

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
		{"requests > 1e0", "requests > 1", 1},
		{"p99 <= 10ms in 99% of windows", "p99 <= 10ms in 99% of windows", 0.99},
		{"p99<=10ms in99.5%of windows", "p99 <= 10ms in 99.5% of windows", 0.995},
		{"IOPS >= 5000 IN EVERY WINDOW", "iops >= 5000 in every window", 1},
		{"iops >= 5k in 100% of windows", "iops >= 5k in every window", 1},
		{"write.within 1ms >= 99% in 95% of windows", "write.within 1ms >= 99% in 95% of windows", 0.95},
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
		if r, err := Parse(text + " < 1s"); err != nil || r.Metric.Quantile() != want || r.Metric.String() != text {
			t.Errorf("%s: %+v, %v", text, r.Metric, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		want   string // what was expected, and what was found
	}{
		{"", 1, wantSubject + ", found the end"},
		{"latency < 1s", 1, wantSubject + `, found "latency"`},
		{"p99", 4, "<, <=, > or >=, found the end"},
		{"p99 10ms", 5, `<, <=, > or >=, found "10ms"`},
		{"p99 == 10ms", 5, `<, <=, > or >=, found "=="`},
		{"p99 =< 10ms", 5, `<, <=, > or >=, found "=<"`},
		{"write p99 < 10ms", 7, `".", found "p99"`},
		{"both.p99 < 10ms", 1, wantSubject + `, found "both.p99"`},
		{"read.", 6, wantSubject + ", found the end"},
		{"p < 10ms", 1, `a percentile between p0 and p100 with up to four decimals, such as p99.9, found "p"`},
		{"p100 < 10ms", 1, `a percentile between p0 and p100 with up to four decimals, such as p99.9, found "p100"`},
		{"p0 < 10ms", 1, `a percentile between p0 and p100 with up to four decimals, such as p99.9, found "p0"`},
		{"p99.99999 < 10ms", 1, `a percentile between p0 and p100 with up to four decimals, such as p99.9, found "p99.99999"`},
		{"p99. < 10ms", 1, `a percentile between p0 and p100 with up to four decimals, such as p99.9, found "p99."`},
		{"p9_9_9 < 10ms", 1, `a percentile between p0 and p100 with up to four decimals, such as p99.9, found "p9_9_9"`},
		{"p99 < fast", 7, `a latency such as 10ms, found "fast"`},
		{"p99 < 10", 9, "ns, us, ms or s, found the end"},
		{"p99 < 10  minutes", 11, `ns, us, ms or s, found "minutes"`},
		{"p99 < -10ms", 7, `a latency such as 10ms, found "-10ms"`},
		{"p99 <= 10,5ms", 10, `ns, us, ms or s, found ",5ms"`},
		{"p99 < 10%", 9, `ns, us, ms or s, found "%"`},
		{"p99 < 1e999s", 8, `an exponent between -30 and 30, found "e999s"`},
		{"p99 < 1" + strings.Repeat("0", 400) + "s", 7, `a smaller number, found "10000000000000000000"`},
		{"within 5ms >= 1ms", 16, `%, found "ms"`},
		{"within >= 99%", 8, `a latency such as 10ms, found ">="`},
		{"within 5ms >= 100.1%", 15, `100% at most, found "100.1%"`},
		{"iops >= many", 9, `a number such as 5000 or 1e6, found "many"`},
		{"iops >= 5G", 10, `k, M or no unit, found "G"`},
		{"iops >= 5 k", 11, wantEnd + `, found "k"`},
		{"iops >= 5000%", 13, `k, M or no unit, found "%"`},
		{"p99 < 10ms please", 12, wantEnd + `, found "please"`},
		{"p99 < 10ms, iops > 5", 11, wantEnd + `, found ","`},
		{"p99 < 10ms in most windows", 15, `a share such as 99%, or "every window", found "most"`},
		{"p99 < 10ms in", 14, `a share such as 99%, or "every window", found the end`},
		{"p99 < 10ms in +9% of windows", 15, `a share such as 99%, or "every window", found "+9%"`},
		{"p99 < 10ms in 0% of windows", 15, `a share above 0%, found "0%"`},
		{"p99 < 10ms in 101% of windows", 15, `100% at most, found "101%"`},
		{"p99 < 10ms in 99% of the windows", 22, `"windows", found "the"`},
		{"p99 < 10ms in 99%", 18, `"of", found the end`},
		{"p99 < 10ms in every windows", 21, `"window", found "windows"`},
		{"p99 < 10ms in every window now", 28, `the end, found "now"`},
		{"requests > 5 in every window", 14, `the end (requests count over the whole run; in windows use iops), found "in"`},
		{"µs < 1ms", 1, wantSubject + `, found "µs"`},
		{"p99 < 1µs µs", 11, wantEnd + `, found "µs"`},
	} {
		_, err := Parse(c.text)
		var bad *SyntaxError
		if !errors.As(err, &bad) || bad.Column != c.column || bad.Text != c.text || !strings.HasSuffix(err.Error(), ": want "+c.want) {
			t.Errorf("%q: %v; want column %d, %s", c.text, err, c.column, c.want)
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
		switch one("windows", "", "some", "all") {
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
	if !(r.Limit() >= 0) || math.IsInf(r.Limit(), 0) || r.InWindows() && !(r.Limit() > 0 && r.Limit() <= 1) {
		t.Fatalf("%q has limit %v", r, r.Limit())
	}
}

// FuzzParse: any text is a rule that can be written and parsed again, or an error with a position within the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"p99 <= 10ms", "write.p99_9<2e-1s in 99.9% of windows", "read . within 100µs >= 99.9 % in every window", "iops >= 5k", "requests >= 1e6",
		"p99 <", "p99.99999 < 1s", "mean < 1e", "in every window", "within 5ms >= 100.1%",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err == nil {
			checkRoundTrip(t, r)
			return
		}
		var bad *SyntaxError
		if !errors.As(err, &bad) || r != (Rule{}) {
			t.Fatalf("%q: %+v, %v", text, r, err)
		}
		rest := []rune(text)
		if bad.Column < 1 || bad.Column > len(rest)+1 {
			t.Fatalf("%q: column %d of %d", text, bad.Column, len(rest))
		}
		if rest = rest[bad.Column-1:]; (bad.Found == "") != (len(rest) == 0 || unicode.IsSpace(rest[0])) || bad.Want == "" {
			t.Fatalf("%q: %v, before %q", text, err, string(rest))
		}
	})
}
