package export

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// binRow is a window with its bins that have requests. As a line of CSV it has one of them.
type binRow struct {
	*window.Window
	layout string
	low    []int64
	high   []any // nil in the last bin, which has no upper end
	count  []int64
	at     int // the bin of a line of CSV
}

// windowColumns are the columns of the window of a row.
func windowColumns[R any](of func(R) *window.Window) []table.Column[R] {
	run := func(r R) *mapping.RunInfo { return of(r).Run }
	return slices.Concat(facts.RunColumns(run), []table.Column[R]{
		{Name: "level", Value: func(r R) any { return of(r).LevelName() }},
		{Name: "host", Sparse: true, Value: func(r R) any { return of(r).Host }},
		{Name: "job", Sparse: true, Value: func(r R) any { return of(r).Job }},
		{Name: "direction", Value: func(r R) any { return of(r).Direction }},
	}, facts.TimeColumns(run, func(r R) time.Time { return of(r).Start }, func(r R) time.Time { return of(r).End }))
}

// binColumns are the columns of a window and of its bins, which are [low, high): of one bin in CSV, of all in JSON.
func binColumns(isCSV bool) []table.Column[*binRow] {
	return append(windowColumns(func(r *binRow) *window.Window { return r.Window }), []table.Column[*binRow]{
		{Name: "low", Unit: "ns", Value: func(r *binRow) any {
			if isCSV {
				return r.low[r.at]
			}
			return r.low
		}},
		{Name: "high", Unit: "ns", Value: func(r *binRow) any {
			if isCSV {
				return r.high[r.at]
			}
			return r.high
		}},
		{Name: "count", Value: func(r *binRow) any {
			if isCSV {
				return r.count[r.at]
			}
			return r.count
		}},
		{Name: "layout", Value: func(r *binRow) any { return r.layout }},
	}...)
}

// Bins writes windows and their bins as CSV or JSON.
type Bins struct {
	w     *bufio.Writer
	to    *table.Writer[*binRow]
	isCSV bool
}

// NewBins returns a writer in one of two formats. CSV has a line for each window and bin. JSON has an object on a
// line for each window, with arrays of its bins.
func NewBins(w io.Writer, format string) *Bins {
	b := &Bins{w: bufio.NewWriter(w), isCSV: format != table.JSON}
	b.to = table.New(b.w, format, binColumns(b.isCSV))
	return b
}

// Begin implements [Writer].
func (b *Bins) Begin(*mapping.RunInfo, bool) error { return nil }

// Add writes the lines or the object of a window.
func (b *Bins) Add(w *window.Window, requests *hist.Histogram) error {
	layout := requests.Layout()
	r := &binRow{Window: w, layout: mapping.LayoutName(layout)}
	for i, n := range requests.All() {
		low, high := layout.Bounds(i)
		var end any = high
		if layout.Open(i) {
			end = nil
		}
		r.low, r.high, r.count = append(r.low, low), append(r.high, end), append(r.count, int64(math.Round(n)))
	}
	if !b.isCSV {
		return b.to.Write(r)
	}
	for r.at = range r.low {
		if err := b.to.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// Close writes what is buffered.
func (b *Bins) Close() error { return errors.Join(b.to.End(), b.w.Flush()) }

// object is a line of JSON with a window and its bins, or its sketch in some unit.
type object struct {
	Run       string    `json:"run"`
	Archive   string    `json:"archive"`
	Name      string    `json:"name"`
	Host      string    `json:"host"`
	Job       string    `json:"job"`
	Direction string    `json:"direction"`
	StartMS   int64     `json:"start_ms"`
	EndMS     int64     `json:"end_ms"`
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	Layout    string    `json:"layout"`

	Low   []int64  `json:"low_ns"`
	High  []*int64 `json:"high_ns"`
	Count []int64  `json:"count"`

	Sketch   []byte `json:"sketch"`
	SketchNS []byte `json:"sketch_ns"`
	SketchUS []byte `json:"sketch_us"`
	SketchMS []byte `json:"sketch_ms"`
	SketchS  []byte `json:"sketch_s"`
}

// isBins reports whether a text begins like CSV or JSON with bins or sketches.
func isBins(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	has := func(name string) bool { return bytes.Contains(line, []byte(name)) }
	return has("low_ns") && has("count") || has(`"sketch`) || len(line) == len(head) && has(`"low_ns"`)
}

// readBins reads CSV or lines of JSON.
func readBins(c *collector, in io.Reader) error {
	buffered := bufio.NewReader(in)
	if first, err := buffered.Peek(1); err == nil && first[0] != '{' {
		return readCSV(c, buffered)
	}
	lines := bufio.NewScanner(buffered)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		c.line++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var o object
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			at := int64(0)
			if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
				at = syntax.ByteOffset
			} else if semantic := (*json.SemanticError)(nil); errors.As(err, &semantic) {
				at = semantic.ByteOffset
			}
			return c.bad(int(at)+1, strings.ReplaceAll(err.Error(), "\n", " "), "an object with start, end, direction, and low_ns, high_ns and count, or sketch_ns")
		}
		if err := c.addObject(&o); err != nil {
			return err
		}
	}
	return c.endOfLines(lines.Err())
}

// addObject adds the window of an object.
func (c *collector) addObject(o *object) error {
	requests, err := c.binsOf(o)
	if err != nil {
		return err
	}
	info := mapping.RunInfo{ID: o.Run, Archive: o.Archive, Name: o.Name}
	if info.Name == "" {
		info.Name = filepath.Base(c.file)
	}
	r := c.run(info)
	const most = 100 * 365 * 24 * 3600 * 1000
	if max(o.StartMS, -o.StartMS, o.EndMS, -o.EndMS) > most || o.Start.IsZero() != o.End.IsZero() {
		return c.bad(1, fmt.Sprintf("start_ms %d, end_ms %d, start %s, end %s", o.StartMS, o.EndMS, o.Start, o.End), "both times, within a century")
	}
	w := window.Window{Host: o.Host, Job: o.Job, Direction: strings.ToLower(o.Direction), Start: o.Start, End: o.End}
	if o.Start.IsZero() {
		w.Start, w.End = fromSeconds(o.Start, float64(o.StartMS)/1000), fromSeconds(o.Start, float64(o.EndMS)/1000)
	} else if r.Info.Start.IsZero() {
		r.Info.Start = o.Start.Add(-time.Duration(o.StartMS) * time.Millisecond)
	}
	if !slices.Contains(mapping.Directions[:], w.Direction) {
		w.Direction = mapping.AllDirections
	}
	return c.add(r, w, requests)
}

// binsOf returns the requests of an object.
func (c *collector) binsOf(o *object) (*hist.Histogram, error) {
	h := hist.New(layoutFor("ns"))
	if o.Layout != "" {
		layout, err := mapping.ParseLayout(o.Layout)
		if err != nil {
			return nil, c.bad(1, "layout "+quote(o.Layout), "a layout of fio's bins such as fio3/0")
		}
		h = hist.New(layout)
	}
	for _, of := range []struct {
		sketch []byte
		unit   string
	}{{o.SketchNS, "ns"}, {o.SketchUS, "us"}, {o.SketchMS, "ms"}, {o.SketchS, "s"}, {o.Sketch, c.Unit}} {
		if of.sketch != nil {
			return c.readSketch(h, of.sketch, of.unit, o.Layout != "")
		}
	}
	if len(o.Low) != len(o.High) || len(o.Low) != len(o.Count) {
		return nil, c.bad(1, fmt.Sprintf("%d, %d and %d values", len(o.Low), len(o.High), len(o.Count)), "as many of low_ns, high_ns and count")
	}
	for i, low := range o.Low {
		high, n := int64(math.MaxInt64), o.Count[i]
		if o.High[i] != nil {
			high = *o.High[i]
		}
		if low < 0 || high <= low || n < 0 || n > hist.MaxCount {
			return nil, c.bad(1, fmt.Sprintf("%d requests of %d to %d ns", n, low, high), "0 or more, at most 2^53, and edges in order")
		}
		switch at := h.Layout().Index(low); {
		case o.Layout == "" && o.High[i] != nil:
			h.AddBetween(float64(low), float64(high), uint64(n))
		case o.Layout == "":
			return nil, c.bad(1, fmt.Sprintf("a bin from %d ns on without an end", low), "high_ns, or the layout of fio's bins")
		default:
			if from, to := h.Layout().Bounds(at); from != low || to != high && o.High[i] != nil || o.High[i] == nil && !h.Layout().Open(at) {
				return nil, c.bad(1, fmt.Sprintf("a bin from %d to %d ns", low, high), fmt.Sprintf("one of %s, such as %d to %d ns", o.Layout, from, to))
			}
			h.AddAt(at, float64(n))
		}
	}
	return h, nil
}

// bounded is a reader that fails where a record of CSV does not end.
type bounded struct {
	io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, bufio.ErrTooLong
	}
	n, err := b.Reader.Read(p)
	b.left -= n
	return n, err
}

// readCSV reads a line for each window and bin. Lines of one window follow one another.
func readCSV(c *collector, in io.Reader) error {
	limited := &bounded{Reader: in}
	lines := csv.NewReader(limited)
	lines.ReuseRecord = true
	var header []string
	var open *object
	flush := func() error {
		if open == nil {
			return nil
		}
		return c.addObject(open)
	}
	for {
		limited.left = longestLine
		record, err := lines.Read()
		if err == nil {
			c.line, _ = lines.FieldPos(0)
		}
		if syntax := (*csv.ParseError)(nil); errors.As(err, &syntax) {
			c.line = syntax.Line
			return c.bad(max(syntax.Column, 1), syntax.Err.Error(), fmt.Sprintf("a line of CSV with %d fields", len(header)))
		}
		if err == io.EOF {
			return flush()
		}
		if err != nil {
			return c.endOfLines(err)
		}
		if header == nil {
			header = slices.Clone(record)
			for _, name := range []string{"direction", "start_ms", "end_ms", "low_ns", "high_ns", "count"} {
				if !slices.Contains(header, name) {
					return c.bad(1, quote(strings.Join(header, ",")), "a column "+name)
				}
			}
			continue
		}
		o, err := c.objectOf(lines, header, record)
		if err != nil {
			return err
		}
		if open != nil && open.isSameWindow(o) {
			open.Low, open.High, open.Count = append(open.Low, o.Low...), append(open.High, o.High...), append(open.Count, o.Count...)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		open = o
	}
}

// isSameWindow reports whether two lines of CSV are of one window.
func (o *object) isSameWindow(p *object) bool {
	return o.Run == p.Run && o.Archive == p.Archive && o.Name == p.Name && o.Host == p.Host && o.Job == p.Job && o.Direction == p.Direction &&
		o.StartMS == p.StartMS && o.EndMS == p.EndMS && o.Layout == p.Layout
}

// objectOf returns a record of CSV as an object with one bin.
func (c *collector) objectOf(lines *csv.Reader, header, record []string) (*object, error) {
	o := &object{High: []*int64{nil}}
	for i, text := range record {
		number := func() (n int64, err error) {
			if n, err = strconv.ParseInt(text, 10, 64); err != nil {
				line, column := lines.FieldPos(i)
				c.line = line
				err = c.bad(column, quote(text), "a whole number for "+header[i])
			}
			return n, err
		}
		moment := func() (at time.Time, err error) {
			if text == "" {
				return at, nil
			}
			if at, err = time.Parse(time.RFC3339, text); err != nil {
				line, column := lines.FieldPos(i)
				c.line = line
				err = c.bad(column, quote(text), "a time such as 2026-01-31T09:12:00Z")
			}
			return at, err
		}
		var n int64
		var err error
		switch header[i] {
		case "run":
			o.Run = text
		case "archive":
			o.Archive = text
		case "name":
			o.Name = text
		case "host":
			o.Host = text
		case "job":
			o.Job = text
		case "direction":
			o.Direction = text
		case "layout":
			o.Layout = text
		case "start_ms":
			o.StartMS, err = number()
		case "end_ms":
			o.EndMS, err = number()
		case "start":
			o.Start, err = moment()
		case "end":
			o.End, err = moment()
		case "low_ns":
			n, err = number()
			o.Low = []int64{n}
		case "high_ns":
			if text != "" {
				n, err = number()
				o.High[0] = &n
			}
		case "count":
			n, err = number()
			o.Count = []int64{n}
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}
