package chart

import (
	"math"
	"testing"
	"time"
)

func TestRound(t *testing.T) {
	for _, c := range []struct{ x, down, up float64 }{
		{1, 1, 1}, {1.01, 1, 2}, {2, 2, 2}, {3, 2, 5}, {5, 5, 5}, {7, 5, 10}, {10, 10, 10}, {0.003, 0.002, 0.005}, {999, 500, 1000}, {1e6, 1e6, 1e6},
	} {
		down, up := roundDown(c.x), roundUp(c.x)
		if math.Abs(down/c.down-1) > 1e-12 || math.Abs(up/c.up-1) > 1e-12 {
			t.Errorf("%v is between %v and %v, want %v and %v", c.x, down, up, c.down, c.up)
		}
	}
}

// TestLatencyAxis: both ends are round, and at least two latencies have a label.
func TestLatencyAxis(t *testing.T) {
	for _, c := range []struct {
		low, high, height float64
		want              string
	}{
		{36, 44, 190, "20µs 50µs"},
		{50, 50, 190, "50µs 100µs"},
		{36, 42_000, 190, "100µs 1ms 10ms"},
		{36, 42_000, 300, "20µs 50µs 100µs 200µs 500µs 1ms 2ms 5ms 10ms 20ms 50ms"},
		{0, 1, 150, "1ns 10ns 100ns 1µs"},
		{100, 17.18e6, 190, "100µs 1ms 10ms 100ms 1s 10s"},
	} {
		a := LatencyAxis(c.low, c.high, 10, c.height)
		if got := labels(a.Ticks); got != c.want {
			t.Errorf("%v … %v: %s, want %s", c.low, c.high, got, c.want)
		}
		if bottom, top := a.Y(a.Low), a.Y(a.High); bottom != 10+c.height || top != 10 {
			t.Errorf("%v … %v: from %v to %v", c.low, c.high, bottom, top)
		}
	}
	if y := LatencyAxis(10, 1000, 0, 100).Y(100); math.Abs(y-50) > 1e-9 {
		t.Errorf("100 µs of 10 µs … 1 ms is at %v", y)
	}
}

func TestRateAxis(t *testing.T) {
	for _, c := range []struct {
		high float64
		want string
	}{
		{0, "0 0.5 1"}, {4, "0 1 2 3 4"}, {3196, "0 1000 2000 3000 4000"}, {2000, "0 500 1000 1500 2000"},
		{12_400, "0 5k 10k 15k"}, {1.9e6, "0 0.5M 1M 1.5M 2M"}, {9999, "0 5k 10k"},
	} {
		a := RateAxis(c.high, 0, 120, 4)
		if got := labels(a.Ticks); got != c.want {
			t.Errorf("up to %v: %s, want %s", c.high, got, c.want)
		}
		if a.Y(c.high) < 0 || a.Y(0) != 120 || a.High < c.high {
			t.Errorf("up to %v: 0 is at %v, the highest at %v", c.high, a.Y(0), a.Y(c.high))
		}
	}
}

// TestNines: each further nine has the same width, and the last request is at the end.
func TestNines(t *testing.T) {
	n := Nines(5000) // the last request is at 99.99 %
	for _, c := range []struct{ q, want float64 }{
		{0, 0}, {0.9, 0.25}, {0.99, 0.5}, {0.999, 0.75}, {1 - 0.5/5000, 1}, {1, 1}, {0.5, math.Log10(2) / 4},
	} {
		if got := (n.X(c.q) - Left) / AreaWidth; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v is at %v, want %v", c.q, got, c.want)
		}
	}
	for _, c := range []struct {
		requests float64
		want     string
	}{{1, "0 50 90"}, {499, "0 50 90 99"}, {500, "0 50 90 99 99.9"}, {5e8, "0 50 90 99 99.9 99.99 99.999 99.9999 99.99999 99.999999 99.9999999"}} {
		if got := labels(Nines(c.requests).Ticks()); got != c.want {
			t.Errorf("%v requests: %v, want %s", c.requests, got, c.want)
		}
	}
	for q, want := range map[float64]string{0.5: "50", 0.999: "99.9", 1 - 1e-5: "99.999"} {
		if got := Percentile(q); got != want {
			t.Errorf("%v is %s, want %s", q, got, want)
		}
	}
}

func TestTimeAxis(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 13, 2, 0, time.UTC)
	at := func(ms int64) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	a := TimeAxis{From: at(0), Until: at(10_000)}
	for ms, want := range map[int64]float64{0: Left, 5000: Left + AreaWidth/2, 10_000: Left + AreaWidth, -1: Left, 20_000: Left + AreaWidth, 1: Left + 0.1} {
		if got := a.X(at(ms)); got != want {
			t.Errorf("%d ms are at %v, want %v", ms, got, want)
		}
	}
	if from, to := a.Span(at(9_999), at(10_000)); from != Left+AreaWidth-1 || to != Left+AreaWidth {
		t.Errorf("the last millisecond is drawn from %v to %v", from, to)
	}
	unknown := TimeAxis{}
	if a.Name() != "UTC, 2026-11-21" || unknown.Name() != "seconds since the run's start" {
		t.Errorf("%s, %s", a.Name(), unknown.Name())
	}
}
