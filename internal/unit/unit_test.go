package unit

import (
	"math"
	"testing"
	"time"
)

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Latency(0.1), "100ns"},
		{Latency(0.9996), "1.00µs"},
		{Latency(39.26), "39.3µs"},
		{Latency(999.6), "1.00ms"},
		{Latency(1043.2), "1.04ms"},
		{Latency(17179869), "17.2s"},
		{Latency(math.NaN()), "-"},
		{LatencyIn(40, 1), "40µs"},
		{LatencyIn(1240, 1), "1.24ms"},
		{LatencyIn(5000, 1000), "5ms"},
		{LatencyIn(1240000, 1000), "1.24s"},
		{LatencyIn(0, 1), "<1µs"},
		{LatencyIn(math.NaN(), 1), "-"},
		{OrMore(Latency(17045651), true), "≥17.0s"},
		{OrMore(Latency(39.26), false), "39.3µs"},
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(1000), "1,000"},
		{Count(-1234567), "-1,234,567"},
		{Rate(998.4), "998"},
		{Rate(12400), "12.4k"},
		{Rate(1.5e6), "1.50M"},
		{Bytes(512), "512B"},
		{Bytes(4096), "4.00KiB"},
		{Bytes(5 << 30), "5.00GiB"},
		{Elapsed(250 * time.Millisecond), "0.25s"},
		{Number(0.1), "0.1"},
		{Number(1e7), "10000000"},
		{Number(math.NaN()), ""},
		{Plural(1, "run"), "1 run"},
		{Plural(0, "run"), "0 runs"},
		{Plural(1200, "run"), "1,200 runs"},
		{Time(time.Date(2026, 1, 31, 9, 12, 0, 5e6, time.UTC), Moment), "2026-01-31 09:12:00.005"},
		{Time(time.Time{}.Add(90*time.Second), Moment), "+1m30s"},
		{Elapsed(83 * time.Second), "1m23s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		share, requests float64
		want            string
	}{{1, 3, "100.0 %"}, {0.5, 1000, "50.0 %"}, {0.99, 10_000, "99.00 %"}, {1 - 1e-6, 1e6, "99.9999 %"}, {1 - 1e-8, 1e8, "99.999999 %"}, {1 - 1e-9, 1e9, "99.999999 %"}, {1, 1e9, "100.000000 %"}, {0, 5, "0.0 %"}} {
		if got := Percent(c.share, c.requests); got != c.want {
			t.Errorf("%v of %v: %s, want %s", c.share, c.requests, got, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for width, want := range map[int]string{10: "abcdefghij", 9: "abcd…ghij", 4: "ab…j", 1: "…"} {
		if got := Shorten("abcdefghij", width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "1s", time.Minute: "1m", time.Hour: "1h", 90 * time.Minute: "1h30m", 150 * time.Second: "2m30s",
		10 * time.Minute: "10m", 250 * time.Millisecond: "250ms", time.Hour + time.Second: "1h0m1s",
	} {
		if got := Short(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

func TestWholeBytes(t *testing.T) {
	for n, want := range map[int64]string{512: "512B", 4096: "4KiB", 65536: "64KiB", 100 << 10: "100KiB", 1 << 20: "1MiB", 1536: "1.5KiB", 1065: "1.04KiB", 4 << 30: "4GiB"} {
		if got := WholeBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestZone: a process has one zone.
func TestZone(t *testing.T) {
	SetZone(time.UTC)
	SetZone(Zone())
	defer func() {
		if recover() == nil || Zone() != time.UTC {
			t.Errorf("the zone is %s, as if no text had been made", Zone())
		}
	}()
	SetZone(time.FixedZone("elsewhere", 3600))
}
