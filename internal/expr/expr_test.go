package expr

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestQuantities: a unit means the same wherever a quantity of its kind is written.
func TestQuantities(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
		want float64 // NaN: no quantity of the kind
	}{
		{Number, "16", 16}, {Number, "1e6", 1e6}, {Number, "-1.5", -1.5}, {Number, ".5", 0.5}, {Number, "70%", 70}, {Number, "1k", math.NaN()}, {Number, "", math.NaN()},
		{Number, "1e", math.NaN()}, {Number, "1e400", math.NaN()}, {Number, "0x10", math.NaN()}, {Number, "inf", math.NaN()}, {Number, "1_000", math.NaN()}, {Number, "1 6", math.NaN()},
		{Count, "5k", 5000}, {Count, "1.5 M", 1.5e6}, {Count, "5/s", math.NaN()},
		{Rate, "20k/s", 20000}, {Rate, "500 /s", 500}, {Rate, "1m", 1e6},
		{Size, "4k", 4096}, {Size, "4KiB", 4096}, {Size, "4kb", 4000}, {Size, "1.5g", 1.5 * (1 << 30)}, {Size, "512b", 512}, {Size, "1e3k", 1000 * 1024}, {Size, "4q", math.NaN()},
		{KiB, "4096", 4096}, {KiB, "4M", 4096}, {KiB, "512b", 0.5}, {KiB, "1024kb", 1000},
		{Bandwidth, "1.5GB/s", 1.5e9}, {Bandwidth, "100MiB/s", 100 << 20}, {Bandwidth, "100M", 100 << 20},
		{Percent, "99.9%", 0.999}, {Percent, "10 %", 0.1}, {Percent, "+5%", 0.05}, {Percent, "10", math.NaN()}, {Percent, "0", math.NaN()},
		{Latency, "5ms", 5e6}, {Latency, "0.3 us", 300}, {Latency, "7µs", 7000}, {Latency, "7μs", 7000}, {Latency, "1e-3s", 1e6}, {Latency, "5", math.NaN()}, {Latency, "0", 0}, {Latency, "5%", math.NaN()},
		{Duration, "1h30m", 5400e9}, {Duration, "90s", 90e9}, {Duration, "1m0.5s", 60.5e9}, {Duration, "-1.5h", -5400e9}, {Duration, "30 days", 30 * 86400e9}, {Duration, "2w", 14 * 86400e9},
		{Duration, "1h 30m", math.NaN()}, {Duration, "1h30", math.NaN()}, {Duration, "1h-30m", math.NaN()}, {Duration, "3mo", math.NaN()}, {Duration, "soon", math.NaN()},
	} {
		got, ok := c.kind.Parse(c.text)
		if ok == math.IsNaN(c.want) || ok && got != c.want {
			t.Errorf("%s, %q: %v, %v; want %v", c.kind, c.text, got, ok, c.want)
		}
	}
}

// TestGoDurations: every text that a flag of Go's type time.Duration takes means the same.
func TestGoDurations(t *testing.T) {
	for _, text := range []string{"0", "5s", "1h15m30.918273645s", "1.5h", "100ns", "-2m3.5s", ".5s", "1us2ns", "39h9m14.425s", "3µs", "1m", "+1s", "9223372036s"} {
		want, err := time.ParseDuration(text)
		if got, ok := ParseDuration(text); !ok || err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v, %v", text, got, ok, want, err)
		}
	}
	if d, ok := ParseDuration("1e300s"); ok {
		t.Error(d)
	}
	var d DurationFlag
	if d.String() != "0" || d.Set("2 min") != nil || d.String() != "2m0s" || d.Set("2 q") == nil {
		t.Error(d)
	}
}

func TestPercentFlag(t *testing.T) {
	p := PercentFlag(0.03)
	if p.String() != "3" || p.Set("12.5 %") != nil || p != 0.125 || p.Set("10") != nil || p.String() != "10" || p.Set("much") == nil || p.Set("1%%") == nil {
		t.Error(p)
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{"10ms": "10ms", "1.5 S": "1.5s", "7µs": "7us", "1E+6": "1e6", "5K": "5k", "99.9 %": "99.9%"} {
		if got := Latency.Text(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := Count.Text("1.5m"); got != "1.5M" {
		t.Error(got)
	}
}

func TestPeriods(t *testing.T) {
	now := time.Date(2026, 10, 8, 15, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026": "2026-01-01T00:00:00Z 2027-01-01T00:00:00Z", "2026-10": "2026-10-01T00:00:00Z 2026-11-01T00:00:00Z", "2026-10-01": "2026-10-01T00:00:00Z 2026-10-02T00:00:00Z",
		"2026-10-01 09:12": "2026-10-01T09:12:00Z 2026-10-01T09:13:00Z", "2026-10-01T09:12:05Z": "2026-10-01T09:12:05Z 2026-10-01T09:12:06Z",
		"2026-10-01T11:12:00.5+02:00": "2026-10-01T11:12:00.5+02:00 2026-10-01T11:12:00.501+02:00",
		"now":                         "2026-10-08T15:00:00Z 2026-10-08T15:00:00Z", "Today": "2026-10-08T00:00:00Z 2026-10-09T00:00:00Z", "yesterday": "2026-10-07T00:00:00Z 2026-10-08T00:00:00Z",
		"7d": "2026-10-01T15:00:00Z 2026-10-01T15:00:00Z", "30 days": "2026-09-08T15:00:00Z 2026-09-08T15:00:00Z", "2w": "2026-09-24T15:00:00Z 2026-09-24T15:00:00Z", "1mo": "2026-09-08T15:00:00Z 2026-09-08T15:00:00Z",
		"90s": "2026-10-08T14:58:30Z 2026-10-08T14:58:30Z", "10m": "2026-10-08T14:50:00Z 2026-10-08T14:50:00Z", "2H": "2026-10-08T13:00:00Z 2026-10-08T13:00:00Z", "1 year": "2025-10-08T15:00:00Z 2025-10-08T15:00:00Z",
		"soon": "", "7": "", "-7d": "", "7x": "", "99999999999999d": "", "": "", "d": "", "2026-13": "",
	} {
		from, to, ok := Period(text, now)
		got := from.Format(time.RFC3339Nano) + " " + to.Format(time.RFC3339Nano)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, %v; want %q", text, got, ok, want)
		}
	}
	if _, ok := Moment("0001", now); ok {
		t.Error("the zero time is no bound")
	}
}

func TestParser(t *testing.T) {
	p := New("  'a b' >= 5 ms AND order in(x,y) or 10 %of 30 Days ")
	a, _ := p.Word()
	op := p.Op("<=", ">=")
	ms, at := p.Quantity(Latency)
	if a != "a b" || op != ">=" || ms != 5e6 || at != 11 || p.Since(at) != "5 ms" || p.Keyword("or") || !p.Keyword("and") || p.Keyword("or") {
		t.Fatal(a, op, ms, at)
	}
	if w, _ := p.Word(); w != "order" || !p.Keyword("in") || p.Op("(") == "" || p.Until(",)") != "x" {
		t.Fatal(w)
	}
	p.Until("o")
	if share, _ := p.Quantity(Percent); share != 0 || p.Err() == nil || !p.IsEnd() || p.Err().Error() != `column 35: want a share such as 99.9%, found "or"` {
		t.Fatal(share, p.Err())
	}
	p.Fail(0, "the first mistake counts")
	if p.Err().(*Error).Column != 35 || p.Op("=") != "" || p.Keyword("or") {
		t.Error(p.Err())
	}
	p = New("10 %of 30 Days é x")
	share, _ := p.Quantity(Percent)
	if age := p.Keyword("of"); share != 0.1 || !age {
		t.Error(share)
	}
	if age, ok := p.Time(); age != "30Days" || !ok {
		t.Error(age)
	}
	p.Keyword("é")
	if p.End("the end"); p.Err().Error() != `column 18: want the end, found "x"` {
		t.Error(p.Err())
	}
	for text, want := range map[string]string{"x": "x", "x y": `"x y"`, "": `""`, `a"b c`: `'a"b c'`, "a=b": `"a=b"`} {
		if got := Quote(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := strings.Join(Near("iodpeth", []string{"iodepth", "IODEPHT", "bs"}), " "); got != "iodepth" {
		t.Error(got)
	}
}

// FuzzParser: no text makes a parser panic or stand still, mistakes have a place in the text, and a quantity is finite
// and has one form that means the same.
func FuzzParser(f *testing.F) {
	for _, text := range []string{"bs=4k and (p99 > 5 ms or not x ~ 'é')", "p99 <= 10ms in 99.5%of windows", "1h30m 2e5 k 30 days", "'", "5é", "10e99999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for k := Number; k <= Duration; k++ {
			v, ok := k.Parse(text)
			if again, same := k.Parse(k.Text(text)); ok && (math.IsInf(v, 0) || math.IsNaN(v) || !same || again != v) {
				t.Fatalf("%q is %v, and %q %v", text, v, k.Text(text), again)
			}
		}
		p := New(text)
		for before := -1; !p.IsEnd(); {
			if p.At() == before {
				p.Want(before, "a word")
				break
			}
			before = p.At()
			if p.Op("!=", "<=", ">=", "=", "<", ">", "~", "!", "(", ")", ",") == "" && !p.Keyword("and") {
				if before%2 == 0 {
					p.Word()
				} else {
					p.Quantity(Number + Kind(before%9))
				}
			}
		}
		var bad *Error
		if p.Err() != nil && (!errors.As(p.Err(), &bad) || bad.Column < 1 || bad.Column > utf8.RuneCountInString(text)+1) {
			t.Fatalf("%q: %v", text, p.Err())
		}
	})
}
