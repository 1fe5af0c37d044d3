package query

import (
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
)

// timeOfRun parses a time for a run that began at start. The forms are: time since the start (+90s), time of day,
// date, or date and time. Times are in UTC unless they name a zone. A time of day is on the day of the start, or on
// the next day if it would be over half a day before the start. The empty text is the zero time. flag is named in
// the error, a [UsageError].
func timeOfRun(flag, text string, start time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if since, ok := strings.CutPrefix(text, "+"); ok {
		d, ok := expr.ParseDuration(since)
		if !ok {
			return time.Time{}, usagef("--%s %s: want a time such as +90s or +1h30m", flag, text)
		}
		return start.Add(d), nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		midnight := time.Date(clock.Year(), clock.Month(), clock.Day(), 0, 0, 0, 0, time.UTC)
		at := start.UTC().Truncate(24 * time.Hour).Add(clock.Sub(midnight))
		if start.Sub(at) > 12*time.Hour {
			at = at.Add(24 * time.Hour)
		}
		return at, nil
	}
	if at, ok := expr.Moment(text, time.Now()); ok {
		return at, nil
	}
	return time.Time{}, usagef("--%s %s: want a time such as 09:12, 2026-01-31T09:12:00Z or +90s", flag, text)
}
