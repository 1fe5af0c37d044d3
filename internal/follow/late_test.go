package follow

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestLateReports: a window that is much longer than the others is reported once, not in each direction. The first one may be
// short, because windows of reports at whole seconds begin with these.
func TestLateReports(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	l := &late{log: slog.New(slog.NewTextHandler(&out, nil))}
	for _, ms := range [][2]int{{0, 15}, {15, 1015}, {1015, 2015}, {2015, 5900}, {5900, 6900}} {
		for _, direction := range []string{"read", "write"} {
			l.window(&window.Window{
				Run: &mapping.RunInfo{Start: start}, Direction: direction, ElapsedMS: int64(ms[0]), Completed: 9,
				Start: start.Add(time.Duration(ms[0]) * time.Millisecond), End: start.Add(time.Duration(ms[1]) * time.Millisecond),
			})
		}
	}
	if got := strings.Count(out.String(), "no report of fio for 3.9s until 09:00:05"); got != 1 || strings.Count(out.String(), "no report") != 1 {
		t.Errorf("%d warnings, want 1\n%s", got, &out)
	}
}
