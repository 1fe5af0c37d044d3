package export

import (
	"bufio"
	"errors"
	"io"
	"math"
	"slices"
	"time"

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
