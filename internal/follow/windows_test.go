package follow

import (
	"log/slog"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestWindowsOnce: a window is passed on once, even if its rows begin before the window before has ended.
func TestWindowsOnce(t *testing.T) {
	start := time.Date(2026, 11, 22, 9, 5, 0, 0, time.UTC)
	type span struct {
		from, to int // in milliseconds since the run's start
		want     bool
	}
	for name, spans := range map[string][]span{
		"one after another":    {{0, 1000, true}, {1000, 2000, true}},
		"rows overlap":         {{0, 1005, true}, {1000, 2003, true}, {1998, 3000, true}},
		"a gap":                {{0, 1000, true}, {5000, 6000, true}},
		"again":                {{0, 1000, true}, {1000, 2000, true}, {0, 1000, false}, {1000, 2000, false}, {2000, 3000, true}},
		"again, shifted a bit": {{0, 1000, true}, {1000, 2000, true}, {3, 1002, false}, {1002, 1998, false}, {1998, 3000, true}},
	} {
		t.Run(name, func(t *testing.T) {
			given := 0
			w := newWindows(slog.New(slog.DiscardHandler), func(*window.Window) error { given++; return nil })
			for i, s := range spans {
				d := &window.Window{
					Run: &mapping.RunInfo{ID: "a", Name: "out", Start: start}, Direction: "read",
					Start: start.Add(time.Duration(s.from) * time.Millisecond), End: start.Add(time.Duration(s.to) * time.Millisecond),
				}
				if isNew, err := w.take(d); isNew != s.want || err != nil {
					t.Errorf("window %d: new %v, want %v (%v)", i, isNew, s.want, err)
				}
			}
		})
	}
}
