package unit

import (
	"cmp"
	"sync/atomic"
	"time"
)

var zone atomic.Pointer[time.Location]

// Zone returns the time zone of the times that people read and write, UTC until [SetZone]. Programs read and write UTC.
func Zone() *time.Location { return cmp.Or(zone.Load(), time.UTC) }

// SetZone sets the time zone. A command does it once, before anything else; see the setting tz.
func SetZone(to *time.Location) { zone.Store(to) }

// Layouts of [Time]. "MST" in a layout stands for the zone.
const (
	Day     = time.DateOnly
	Second  = time.DateTime
	Moment  = "2006-01-02 15:04:05.000"
	InZone  = " MST"
	OfDay   = time.TimeOnly
	OfDayMS = "15:04:05.000"
)

// IsKnown reports whether t is a date. If the date of a run is not known, its times count from the zero time.
func IsKnown(t time.Time) bool { return t.Year() >= 1970 }

// Time returns a time in [Zone] for people, or the time since the run's start if the date is not known.
func Time(t time.Time, layout string) string {
	if !IsKnown(t) {
		return "+" + t.Sub(time.Time{}).String()
	}
	return t.In(Zone()).Format(layout)
}

// Span returns two times with their zone, or the times since the run's start.
func Span(from, to time.Time) string { return Time(from, Moment) + " to " + Time(to, Moment+InZone) }

// Heading returns the heading of a column of times: "Start (UTC)".
func Heading(text string) string { return text + " (" + ZoneName() + ")" }

// ZoneName names [Zone] in headings: "UTC", "Europe/Berlin", "local".
func ZoneName() string {
	if Zone() == time.Local {
		return "local"
	}
	return Zone().String()
}
