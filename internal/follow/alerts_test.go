package follow

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestLastAlerts: the last windows of a run are checked against rules for iops with their own length, unless they
// are very short.
func TestLastAlerts(t *testing.T) {
	rule, err := slo.Parse("iops >= 100")
	check(t, err)
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name     string
		last     time.Duration
		requests int64
		alert    bool
	}{
		{"a whole window of few requests", time.Second, 50, true},
		{"a short one of few", 400 * time.Millisecond, 20, true},
		{"a short one of enough", 400 * time.Millisecond, 60, false},
		{"next to nothing", 90 * time.Millisecond, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			a := newAlerts(slog.New(slog.NewTextHandler(&out, nil)), []slo.Rule{rule})
			at := start
			for i, length := range []time.Duration{time.Second, time.Second, tt.last} {
				n := int64(200)
				if i == 2 {
					n = tt.requests
				}
				h := hist.New(hist.Fio3(0))
				h.AddLatency(50_000, float64(n))
				w := &window.Window{
					Run: &mapping.RunInfo{Start: start}, Direction: "read", Start: at, End: at.Add(length), ElapsedMS: int64(i) * 1000,
					Completed: n, Latency: mapping.NewLatency(h, nil),
				}
				check(t, a.window(w))
				at = w.End
			}
			a.end()
			if got := strings.Contains(out.String(), `level=WARN msg="sla iops >= 100`); got != tt.alert {
				t.Errorf("an alert: %v, want %v\n%s", got, tt.alert, &out)
			}
		})
	}
}

// TestLateReports: a window that is much longer than the others is reported once, not in each direction.
func TestLateReports(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	for even, want := range map[bool]int{true: 1, false: 0} {
		var out bytes.Buffer
		a := newAlerts(slog.New(slog.NewTextHandler(&out, nil)), nil)
		a.even = even
		for _, ms := range [][2]int{{0, 900}, {900, 1900}, {1900, 5800}, {5800, 6800}} {
			for _, direction := range []string{"read", "write"} {
				w := &window.Window{
					Run: &mapping.RunInfo{Start: start}, Direction: direction, ElapsedMS: int64(ms[0]), Completed: 9,
					Start: start.Add(time.Duration(ms[0]) * time.Millisecond), End: start.Add(time.Duration(ms[1]) * time.Millisecond),
				}
				check(t, a.window(w))
			}
		}
		if got := strings.Count(out.String(), "no report of fio for 3.9s until 09:00:05"); got != want {
			t.Errorf("even %v: %d warnings, want %d\n%s", even, got, want, &out)
		}
	}
}
