package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/align"
)

// Auto is the interval that makes windows as short as the wanted precision allows.
const Auto = "auto"

// Options returns the settings as options of the pipeline. It fails with all faults joined.
func (c *Config) Options() (pipeline.Options, error) {
	opt := pipeline.Options{
		Source: pipeline.Source(c.Source), Tolerance: c.Tolerance, Align: pipeline.Align(c.Align),
		Archive: c.Archive, Labels: c.Labels, Workers: c.Threads, SpreadAll: c.InFlight == "all", Offsets: map[string]time.Duration{},
	}
	var faults []error
	wrong := func(name string, value any, want string) { faults = append(faults, c.wrong(name, value, want)) }
	name, share, _ := strings.Cut(c.Precision, ":") // p99.9:5%
	percentile, isPercentile := strings.CutPrefix(name, "p")
	q, isShare := expr.Percent.Parse(percentile + "%")
	half, isError := expr.Percent.Parse(share)
	if !isPercentile || !isShare || !isError || !(q > 0 && q < 1 && half > 0 && half < 10) {
		wrong("precision", c.Precision, "a percentile and half of its confidence interval, such as p99:10%")
	}
	switch length, ok := expr.ParseDuration(c.Interval); {
	case c.Interval == "": // each run decides
	case c.Interval == Auto:
		opt.Precision = align.Precision{Quantile: q, Error: half}
	case !ok || length == 0:
		wrong("interval", c.Interval, "a time such as 10s, or auto")
	case length < 0 || length%time.Millisecond != 0:
		wrong("interval", c.Interval, "a whole number of milliseconds, such as 10s")
	default:
		opt.Window = length
	}
	oneOf := func(name, value, first, second string) {
		if value != first && value != second {
			wrong(name, value, first+" or "+second)
		}
	}
	oneOf("source", c.Source, string(pipeline.SourceHist), string(pipeline.SourceRaw))
	oneOf("align", c.Align, string(pipeline.AlignRun), string(pipeline.AlignJob))
	oneOf("weighting", c.Weighting, "inflight", "completion")
	oneOf("inflight", c.InFlight, "long", "all")
	oneOf("method", c.Method, "interpolated", "fio")
	if c.Weighting == "completion" {
		opt.Weighting = align.Completion
	}
	if !(c.Tolerance >= 0 && c.Tolerance <= 0.5) {
		wrong("tolerance", c.Tolerance, "between 0 and 0.5")
	}
	if c.Tolerance == 0 {
		opt.Tolerance = -1
	}
	if opt.Bins.Groups = c.Groups; c.Groups != 0 && (c.Groups < hist.MinGroups || c.Groups > hist.MaxGroups) {
		wrong("groups", c.Groups, fmt.Sprintf("between %d and %d", hist.MinGroups, hist.MaxGroups))
	}
	coarseness, err := parseCoarseness(c.Coarsen)
	if opt.Coarseness = coarseness; err != nil {
		wrong("coarsen", c.Coarsen, err.Error())
	}
	if opt.Confidence = c.Confidence; c.Confidence != 0 && !(c.Confidence >= 0.5 && c.Confidence <= 0.99) {
		wrong("confidence", c.Confidence, "0, or from 0.5 to 0.99")
	}
	switch c.Unit {
	case "":
	case hist.Nanoseconds.String():
		opt.Bins.Unit = hist.Nanoseconds
	case hist.Microseconds.String():
		opt.Bins.Unit = hist.Microseconds
	default:
		wrong("unit", c.Unit, "ns (fio 3) or us (fio 2)")
	}
	for _, name := range c.Levels {
		level, err := mapping.ParseLevel(name)
		if err != nil {
			wrong("levels", name, "cluster, host, section or job")
			continue
		}
		opt.Levels = append(opt.Levels, level)
	}
	if c.Start != "" {
		start, err := time.Parse(time.RFC3339, c.Start)
		if err != nil || start.Year() < 1970 {
			wrong("start", c.Start, "a time from 1970 on, such as 2026-01-31T09:12:00Z")
		}
		opt.Start = start
	}
	for host, text := range c.Offset {
		ms, err := strconv.ParseInt(text, 10, 64)
		if most := 100 * 365 * 24 * time.Hour.Milliseconds(); err != nil || ms < -most || ms > most {
			wrong("offset", host+"="+text, "HOST=MILLISECONDS, at most a hundred years")
		}
		opt.Offsets[host] = time.Duration(ms) * time.Millisecond
	}
	if _, ok := c.Labels[""]; ok {
		wrong("labels", `"="`+c.Labels[""], "NAME=VALUE")
	}
	if c.Threads < 0 {
		wrong("threads", c.Threads, "0 or more")
	}
	return opt, errors.Join(faults...)
}

// Zone returns the time zone of times for people.
func (c *Config) Zone() (*time.Location, error) {
	switch name := strings.ToLower(c.TZ); name {
	case "", "utc":
		return time.UTC, nil
	case "local":
		return time.Local, nil
	}
	zone, err := time.LoadLocation(c.TZ)
	if err != nil {
		return nil, c.wrong("tz", c.TZ, "UTC, local, or the name of a time zone such as Europe/Berlin")
	}
	return zone, nil
}
