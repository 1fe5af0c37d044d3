package export

import (
	"bufio"
	"encoding/json"
	"io"
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// bin is a bin of a window that has requests.
type bin struct {
	of                      [11]any // the first columns, which are the same for all bins of a window
	lowNS, highNS, requests int64
	isOpen                  bool // the bin has no upper end
}

// ofWindow is column i of the window.
func ofWindow(i int, name, unit string) table.Column[*bin] {
	return table.Column[*bin]{Name: name, Unit: unit, Value: func(b *bin) any { return b.of[i] }}
}

var binColumns = []table.Column[*bin]{
	ofWindow(0, "run", ""), ofWindow(1, "archive", ""), ofWindow(2, "name", ""), ofWindow(3, "level", ""),
	ofWindow(4, "host", ""), ofWindow(5, "job", ""), ofWindow(6, "direction", ""),
	ofWindow(7, "start", "ms"), ofWindow(8, "end", "ms"), ofWindow(9, "start", ""), ofWindow(10, "end", ""),
	{Name: "low", Unit: "ns", Value: func(b *bin) any { return b.lowNS }},
	{Name: "high", Unit: "ns", Value: func(b *bin) any { return b.high() }},
	{Name: "count", Value: func(b *bin) any { return b.requests }},
}

// high is the upper edge, or nothing of the last bin.
func (b *bin) high() any {
	if b.isOpen {
		return nil
	}
	return b.highNS
}

// CSV writes a line for each window and bin.
type CSV struct {
	to  *table.Writer[*bin]
	run *mapping.RunInfo
}

// NewCSV writes lines to w, the names of the columns first. Unless exact is set, names that a
// spreadsheet would run begin with an apostrophe.
func NewCSV(w io.Writer, exact bool) *CSV {
	format := table.CSV
	if exact {
		format = table.CSVExact
	}
	return &CSV{to: table.New(w, format, binColumns)}
}

// Begin implements [Writer].
func (c *CSV) Begin(run *mapping.RunInfo, _ bool) error {
	c.run = run
	return nil
}

// Add writes the lines of a window.
func (c *CSV) Add(w *window.Window, requests *hist.Histogram) error {
	start, end := times(c.run, w)
	b := &bin{of: [...]any{c.run.ID, c.run.Archive, c.run.Name, w.Level.String(), w.Host, w.Job, w.Direction,
		w.Start.Sub(c.run.Start).Milliseconds(), w.End.Sub(c.run.Start).Milliseconds(), start, end}}
	layout := requests.Layout()
	for i, n := range requests.All() {
		b.lowNS, b.highNS = layout.Bounds(i)
		b.isOpen, b.requests = layout.Open(i), int64(math.Round(n))
		if err := c.to.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// End implements [Writer].
func (c *CSV) End() error { return nil }

// Close writes the buffered rest.
func (c *CSV) Close() error { return c.to.Flush() }

// times are the times of a window, empty where they are not known.
func times(run *mapping.RunInfo, w *window.Window) (start, end string) {
	if !hasClock(run) {
		return "", ""
	}
	const layout = "2006-01-02T15:04:05.000Z"
	return w.Start.UTC().Format(layout), w.End.UTC().Format(layout)
}

// JSON writes an object a line for each window.
type JSON struct {
	w   *bufio.Writer
	to  *json.Encoder
	run *mapping.RunInfo
}

// NewJSON writes objects to w.
func NewJSON(w io.Writer) *JSON {
	buf := bufio.NewWriter(w)
	return &JSON{w: buf, to: json.NewEncoder(buf)}
}

// jsonWindow is a line of JSON.
type jsonWindow struct {
	Run       string   `json:"run,omitempty"` // id
	Archive   string   `json:"archive,omitempty"`
	Name      string   `json:"name,omitempty"`
	Level     string   `json:"level"`
	Host      string   `json:"host,omitempty"`
	Job       string   `json:"job,omitempty"`
	Direction string   `json:"direction"`
	StartMS   int64    `json:"start_ms"` // since the run's start
	EndMS     int64    `json:"end_ms"`
	Start     string   `json:"start,omitempty"` // where known
	End       string   `json:"end,omitempty"`
	LowNS     []int64  `json:"low_ns"` // of each bin: from low up to, not with, high
	HighNS    []*int64 `json:"high_ns"`
	Count     []int64  `json:"count"`
}

// Begin implements [Writer].
func (j *JSON) Begin(run *mapping.RunInfo, _ bool) error {
	j.run = run
	return nil
}

// Add writes the object of a window.
func (j *JSON) Add(w *window.Window, requests *hist.Histogram) error {
	l := jsonWindow{
		Run: j.run.ID, Archive: j.run.Archive, Name: j.run.Name, Level: w.Level.String(), Host: w.Host, Job: w.Job, Direction: w.Direction,
		StartMS: w.Start.Sub(j.run.Start).Milliseconds(), EndMS: w.End.Sub(j.run.Start).Milliseconds(),
	}
	l.Start, l.End = times(j.run, w)
	layout := requests.Layout()
	for i, n := range requests.All() {
		low, high := layout.Bounds(i)
		end := &high
		if layout.Open(i) {
			end = nil
		}
		l.LowNS, l.HighNS, l.Count = append(l.LowNS, low), append(l.HighNS, end), append(l.Count, int64(math.Round(n)))
	}
	return j.to.Encode(&l)
}

// End implements [Writer].
func (j *JSON) End() error { return nil }

// Close writes the buffered rest.
func (j *JSON) Close() error { return j.w.Flush() }
