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
		{LatencyOrMore(17045651, true), "≥17.0s"},
		{LatencyOrMore(39.26, false), "39.3µs"},
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
		{Elapsed(83 * time.Second), "1m23s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
