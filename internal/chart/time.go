package chart

import (
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
)

// Tick is a labelled position on an axis.
type Tick struct {
	At    float64 // share of the axis, 0 … 1
	Label string
}

var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day,
}

const day = 24 * time.Hour

// Ticks returns round times between from and to, with at most most steps. If the date is not known, times count from the run's
// start, as those of package unit do.
func Ticks(from, to time.Time, most int) []Tick { return ticksIn(unit.Zone(), from, to, most) }

func ticksIn(zone *time.Location, from, to time.Time, most int) []Tick {
	span := to.Sub(from)
	step := steps[0]
	for i := 0; span/step > time.Duration(max(most, 1)); i++ {
		if step *= 2; i+1 < len(steps) {
			step = steps[i+1]
		}
	}
	zero := time.Time{}
	if unit.IsKnown(from) {
		zero = midnight(from.In(zone))
	}
	var list []Tick
	for since := (from.Sub(zero) + step - 1) / step * step; ; since += step {
		at := wallClock(zero, since)
		if at.After(to) {
			return list
		}
		share := float64(at.Sub(from)) / float64(span)
		list = append(list, Tick{share, labelIn(zone, at, step, from)})
	}
}

// Label returns a time with the precision that the step between labels needs. It includes the day, or the year, if
// that is not the same as at the begin of the axis.
func Label(at time.Time, step time.Duration, begin time.Time) string {
	return labelIn(unit.Zone(), at, step, begin)
}

func labelIn(zone *time.Location, at time.Time, step time.Duration, begin time.Time) string {
	if !unit.IsKnown(at) {
		return strconv.FormatFloat(at.Sub(time.Time{}).Seconds(), 'f', -1, 64) + "s"
	}
	layout := "15:04"
	at = at.In(zone)
	switch {
	case step >= day && at.Year() != begin.In(zone).Year():
		return at.Format(unit.Day)
	case step >= day:
		return at.Format("Jan 2")
	case step < time.Second:
		layout = unit.OfDayMS
	case step < time.Minute:
		layout = unit.OfDay
	}
	if today := midnight(at); at.Sub(today) < step && today.After(begin) {
		layout = "Jan 2 " + layout
	}
	return at.Format(layout)
}

// midnight returns when the day of a time began, in its zone.
func midnight(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, t.Location())
}

// wallClock returns when a clock on the wall shows so much more than at t: a day may have 23 or 25 hours.
func wallClock(t time.Time, more time.Duration) time.Time {
	at := t.Add(more)
	_, before := t.Zone()
	_, after := at.Zone()
	return at.Add(time.Duration(before-after) * time.Second)
}

// TimeAxis is an axis of time from left to right.
type TimeAxis struct {
	From, Until time.Time
}

// X returns the x of a time, to a tenth of a pixel. Times beyond the axis are at its ends.
func (a *TimeAxis) X(t time.Time) float64 {
	share := float64(t.Sub(a.From)) / float64(a.Until.Sub(a.From))
	return tenth(Left + min(max(share, 0), 1)*AreaWidth)
}

// Span returns the x of a start and an end, far enough apart to be visible.
func (a *TimeAxis) Span(start, end time.Time) (from, to float64) {
	from, to = a.X(start), a.X(end)
	if to < from+1 {
		from = min(from, Left+AreaWidth-1)
		to = from + 1
	}
	return from, to
}

// Ticks returns round times on the axis.
func (a *TimeAxis) Ticks() []Tick { return Ticks(a.From, a.Until, AreaWidth/110) }

// Name says in which zone the times are, or that they are since the run's start.
func (a *TimeAxis) Name() string {
	if unit.IsKnown(a.From) {
		return unit.Time(a.From, unit.ZoneName()+", "+unit.Day)
	}
	return "seconds since the run's start"
}
