package export

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/fio2es/fio2es/internal/sheet"
)

// CSV writes a line for each window and bin.
type CSV struct {
	w   *sheet.Writer
	run *Run
}

// NewCSV writes lines to w, the names of the columns first. Unless exact is set, names that a
// spreadsheet would run begin with an apostrophe.
func NewCSV(w io.Writer, exact bool) *CSV {
	c := &CSV{w: sheet.NewWriter(w, exact)}
	c.w.Write([]string{"run", "level", "host", "job", "direction", "start_ms", "end_ms", "start", "end", "low_ns", "high_ns", "count"})
	return c
}

// Begin implements [Writer].
func (c *CSV) Begin(run *Run) error {
	c.run = run
	return nil
}

// Add writes the lines of a window.
func (c *CSV) Add(w *Window) error {
	start, end := c.run.times(w)
	row := []string{c.run.Name, w.Level, w.Host, w.Job, w.Direction,
		strconv.FormatInt(w.Start.Sub(c.run.Start).Milliseconds(), 10), strconv.FormatInt(w.End.Sub(c.run.Start).Milliseconds(), 10), start, end, "", "", ""}
	edges := row[len(row)-3:]
	layout := w.Requests.Layout()
	for i, n := range w.Requests.All() {
		low, high := layout.Bounds(i)
		edges[0], edges[1], edges[2] = strconv.FormatInt(low, 10), strconv.FormatInt(high, 10), whole(n)
		if layout.Open(i) {
			edges[1] = ""
		}
		if err := c.w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// End implements [Writer].
func (c *CSV) End() error { return nil }

// Close writes what is left.
func (c *CSV) Close() error {
	c.w.Flush()
	return c.w.Error()
}

// times are those of a window, empty where they are not known.
func (r *Run) times(w *Window) (start, end string) {
	if !r.Known() {
		return "", ""
	}
	const layout = "2006-01-02T15:04:05.000Z"
	return w.Start.UTC().Format(layout), w.End.UTC().Format(layout)
}

// JSON writes an object a line for each window.
type JSON struct {
	w   *bufio.Writer
	to  *json.Encoder
	run *Run
}

// NewJSON writes objects to w.
func NewJSON(w io.Writer) *JSON {
	buf := bufio.NewWriter(w)
	return &JSON{w: buf, to: json.NewEncoder(buf)}
}

// jsonWindow is a line of JSON.
type jsonWindow struct {
	Run       string   `json:"run,omitempty"`
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
func (j *JSON) Begin(run *Run) error {
	j.run = run
	return nil
}

// Add writes the object of a window.
func (j *JSON) Add(w *Window) error {
	l := jsonWindow{
		Run: j.run.Name, Level: w.Level, Host: w.Host, Job: w.Job, Direction: w.Direction,
		StartMS: w.Start.Sub(j.run.Start).Milliseconds(), EndMS: w.End.Sub(j.run.Start).Milliseconds(),
	}
	l.Start, l.End = j.run.times(w)
	layout := w.Requests.Layout()
	for i, n := range w.Requests.All() {
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

// Close writes what is left.
func (j *JSON) Close() error { return j.w.Flush() }
