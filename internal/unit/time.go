package unit

import (
	"fmt"
	"sync/atomic"
	"time"
)

// zone is of the process, like [time.Local], because texts with times are made everywhere. Its first use fixes it.
var zone atomic.Pointer[time.Location]

// Zone returns the time zone of the times that people read and write: UTC, or that of [SetZone]. Programs read and write UTC.
func Zone() *time.Location {
	zone.CompareAndSwap(nil, time.UTC)
	return zone.Load()
}

// SetZone sets the time zone, before anything else; see the setting tz. It panics if texts have times in another zone.
func SetZone(to *time.Location) {
	if !zone.CompareAndSwap(nil, to) && zone.Load().String() != to.String() {
		panic(fmt.Sprintf("time zone %s is set after times in %s", to, zone.Load()))
	}
}

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
