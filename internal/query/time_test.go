package query

import (
	"strings"
	"testing"
	"time"
)

func TestTimeOfRun(t *testing.T) {
	start := time.Date(2026, 1, 31, 23, 50, 10, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"+90s":                 start.Add(90 * time.Second),
		"+1h30m":               start.Add(90 * time.Minute),
		"23:50":                start.Add(-10 * time.Second),
		"23:51:30":             start.Add(80 * time.Second),
		"00:10":                time.Date(2026, 2, 1, 0, 10, 0, 0, time.UTC),
		"12:00":                time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
		"2026-02-01T01:00:00Z": time.Date(2026, 2, 1, 1, 0, 0, 0, time.UTC),
		"2026-02-01 01:00":     time.Date(2026, 2, 1, 1, 0, 0, 0, time.UTC),
	} {
		if got, err := timeOfRun("from", text, start); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"noon", "+fast", "25:00", "9", "0001-01-01", "0001-01-01T01:00:00+01:00"} {
		if _, err := timeOfRun("to", text, start); err == nil || !strings.Contains(err.Error(), "--to "+text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestBounds: a time of day needs a run whose start is known.
func TestBounds(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		query Query
		start time.Time
		want  string // expected result, or error
	}{
		{Query{From: "09:12", To: "+40m"}, start, ""},
		{Query{From: "+1s"}, time.Time{}, ""},
		{Query{To: "09:12"}, time.Time{}, "r: its files do not say when it started"},
	} {
		from, to, err := c.query.bounds("r", c.start)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v … %v, %v", c.query, from, to, err)
		}
	}
}
