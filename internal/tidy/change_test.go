package tidy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/mapping"
)

// TestSetMarked: a change keeps the time at which it was first found while later runs change its numbers, so that an
// alert sees it once. A change that is new, or gets another verdict, has the time of now.
func TestSetMarked(t *testing.T) {
	first, now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 9, 0, 0, 0, 0, time.UTC)
	change := func(metric, verdict string, after float64, at time.Time) mapping.Change {
		return mapping.Change{Direction: "read", Metric: metric, Verdict: verdict, After: after, Marked: at}
	}
	never := time.Time{}
	for name, c := range map[string]struct{ found, stored, want []mapping.Change }{
		"none":            {nil, []mapping.Change{change("p99", "worse", 3, first)}, nil},
		"new":             {[]mapping.Change{change("p99", "worse", 3, never)}, nil, []mapping.Change{change("p99", "worse", 3, now)}},
		"other numbers":   {[]mapping.Change{change("p99", "worse", 4, never)}, []mapping.Change{change("p99", "worse", 3, first)}, []mapping.Change{change("p99", "worse", 4, first)}},
		"other verdict":   {[]mapping.Change{change("p99", "better", 2, never)}, []mapping.Change{change("p99", "worse", 3, first)}, []mapping.Change{change("p99", "better", 2, now)}},
		"another number":  {[]mapping.Change{change("p50", "worse", 1, never), change("p99", "worse", 3, never)}, []mapping.Change{change("p99", "worse", 3, first)}, []mapping.Change{change("p50", "worse", 1, now), change("p99", "worse", 3, first)}},
		"another section": {[]mapping.Change{change("p99", "worse", 3, never), change("p99", "worse", 8, never)}, []mapping.Change{change("p99", "worse", 3, first)}, []mapping.Change{change("p99", "worse", 3, first), change("p99", "worse", 8, now)}},
	} {
		setMarked(c.found, c.stored, now)
		if diff := cmp.Diff(c.want, c.found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
