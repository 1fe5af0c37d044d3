package chart

import (
	"strings"
	"testing"
	"time"
)

func labels(ticks []Tick) string {
	var all []string
	for _, t := range ticks {
		all = append(all, t.Label)
	}
	return strings.Join(all, " ")
}

func TestTimes(t *testing.T) {
	day, midnight := time.Date(2026, 1, 31, 23, 59, 58, 500e6, time.UTC), time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		start    time.Time
		from, to time.Duration // since the start
		most     int
		want     string
	}{
		{time.Time{}, 0, 10 * time.Second, 5, "0s 2s 4s 6s 8s 10s"},
		{time.Time{}, 3 * time.Second, 1000 * time.Second, 4, "300s 600s 900s"},
		{time.Time{}, 0, 3 * time.Millisecond, 3, "0s 0.001s 0.002s 0.003s"},
		{day, 0, 4 * time.Second, 4, "23:59:59 Feb 1 00:00:00 00:00:01 00:00:02"},
		{day, 0, time.Second, 2, "23:59:58.500 23:59:59.000 23:59:59.500"},
		{day, 2 * time.Second, 62 * time.Second, 2, "00:00:30 00:01:00"},
		{day, 0, 3 * time.Minute, 3, "Feb 1 00:00 00:01 00:02"},
		{day, 0, 3 * time.Hour, 3, "Feb 1 00:00 01:00 02:00"},
		{midnight, 0, 2 * time.Hour, 2, "00:00 01:00 02:00"},
		{day, 0, 50 * time.Hour, 3, "Feb 1 Feb 2 Feb 3"},
		{day, 0, 10 * 24 * time.Hour, 3, "Feb 4 Feb 8"},
		{day, 0, 400 * 24 * time.Hour, 3, "Jun 8 Oct 14 2027-02-19"},
	} {
		ticks := Ticks(c.start.Add(c.from), c.start.Add(c.to), c.most)
		if got := labels(ticks); got != c.want {
			t.Errorf("%v … %v, at most %d: %s, want %s", c.from, c.to, c.most, got, c.want)
		}
		for _, tick := range ticks {
			if tick.At < 0 || tick.At > 1 {
				t.Errorf("%s is at %v", tick.Label, tick.At)
			}
		}
	}
	ticks := Ticks(time.Time{}.Add(5*time.Second), time.Time{}.Add(15*time.Second), 1)
	if len(ticks) != 1 || ticks[0].At != 0.5 || ticks[0].Label != "10s" {
		t.Errorf("in the middle of 5 … 15 s: %+v", ticks)
	}
}

// TestZone: a day is from midnight to midnight of the zone, also where it has 25 hours.
func TestZone(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	from := time.Date(2026, 10, 23, 12, 0, 0, 0, time.UTC)
	got := labels(ticksIn(zone, from, from.Add(4*day), 8))
	if got != "Oct 24 00:00 12:00 Oct 25 00:00 12:00 Oct 26 00:00 12:00 Oct 27 00:00 12:00" {
		t.Error(got)
	}
}

func TestLatencies(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		fine      bool
		want      string
	}{
		{0.001, 100, false, "1ns 10ns 100ns 1µs 10µs 100µs"},
		{5, 1000, true, "5µs 10µs 20µs 50µs 100µs 200µs 500µs 1ms"},
		{398.107, 2511890, false, "1ms 10ms 100ms 1s"},
	} {
		if got := labels(logTicks(c.low, c.high, c.fine, latencyLabel)); got != c.want {
			t.Errorf("%v … %v: %s, want %s", c.low, c.high, got, c.want)
		}
	}
	if at := logTicks(10, 1000, false, latencyLabel)[1].At; at != 0.5 {
		t.Errorf("100 µs is at %v of 10 µs … 1 ms", at)
	}
}
