package heatmap

import (
	"math"
	"strconv"
	"time"
)

// Clock says how times are told: of day, in UTC, or since the run's start where nobody
// knows when that was.
type Clock struct {
	Start time.Time // of the run
	Known bool
}

// Tick is a place on an axis.
type Tick struct {
	At    float64 // a share of the axis, 0 … 1
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

// Ticks are round times between two, at most so many steps.
func (c Clock) Ticks(from, to time.Time, most int) []Tick {
	span := to.Sub(from)
	step := steps[0]
	for i := 0; span/step > time.Duration(max(most, 1)); i++ {
		if step *= 2; i+1 < len(steps) {
			step = steps[i+1]
		}
	}
	zero := c.Start
	if c.Known {
		zero = from.UTC().Truncate(day)
	}
	var list []Tick
	for at := zero.Add((from.Sub(zero) + step - 1) / step * step); !at.After(to); at = at.Add(step) {
		share := float64(at.Sub(from)) / float64(span)
		list = append(list, Tick{share, c.label(at, step, from)})
	}
	return list
}

// label is a time as precise as the step to the next needs. Days other than that of the
// axis' begin are told.
func (c Clock) label(at time.Time, step time.Duration, begin time.Time) string {
	if !c.Known {
		return strconv.FormatFloat(at.Sub(c.Start).Seconds(), 'f', -1, 64) + "s"
	}
	at = at.UTC()
	layout := "15:04"
	switch {
	case step >= day:
		return at.Format("Jan 2")
	case step < time.Second:
		layout = "15:04:05.000"
	case step < time.Minute:
		layout = "15:04:05"
	}
	if today := at.Truncate(day); at.Sub(today) < step && today.After(begin) {
		layout = "Jan 2 " + layout
	}
	return at.Format(layout)
}

// Latencies are powers of ten between two, in microseconds, on a logarithmic axis; with
// fine also 2 and 5 times these.
func Latencies(low, high float64, fine bool) []Tick {
	height := math.Log10(high / low)
	var list []Tick
	for power := lowestDecade; power <= 7; power++ {
		for _, times := range []int64{1, 2, 5} {
			us := float64(times) * math.Pow(10, float64(power))
			if us < low || us > high || times > 1 && !fine {
				continue
			}
			list = append(list, Tick{math.Log10(us/low) / height, latencyLabel(us)})
		}
	}
	return list
}

// latencyLabel is a round latency without the digits of the others.
func latencyLabel(us float64) string {
	for _, u := range []struct {
		us   float64
		name string
	}{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}} {
		if us >= u.us {
			return strconv.FormatFloat(us/u.us, 'f', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(math.Round(us*1e3), 'f', -1, 64) + "ns"
}
