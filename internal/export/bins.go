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

// binRow is a window with its bins that have requests: all of them in JSON, one of them in CSV.
type binRow struct {
	*window.Window
	low   []int64
	high  []any // nil in the last bin, which has no upper end
	count []int64
}

func (r *binRow) of() *mapping.RunInfo { return r.Run }

var windowColumns = slices.Concat(facts.RunColumns((*binRow).of), []table.Column[*binRow]{
	{Name: "level", Value: func(r *binRow) any { return r.Level.String() }},
	{Name: "host", Sparse: true, Value: func(r *binRow) any { return r.Host }},
	{Name: "job", Sparse: true, Value: func(r *binRow) any { return r.Job }},
	{Name: "direction", Value: func(r *binRow) any { return r.Direction }},
}, facts.TimeColumns((*binRow).of, func(r *binRow) time.Time { return r.Start }, func(r *binRow) time.Time { return r.End }))

// binColumns returns the columns of a window and of its bins, which are [low, high).
func binColumns(low, high, count func(*binRow) any) []table.Column[*binRow] {
	return append(slices.Clip(windowColumns), table.Column[*binRow]{Name: "low", Unit: "ns", Value: low},
		table.Column[*binRow]{Name: "high", Unit: "ns", Value: high}, table.Column[*binRow]{Name: "count", Value: count})
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
	columns := binColumns(func(r *binRow) any { return r.low }, func(r *binRow) any { return r.high }, func(r *binRow) any { return r.count })
	if b.isCSV {
		columns = binColumns(func(r *binRow) any { return r.low[0] }, func(r *binRow) any { return r.high[0] }, func(r *binRow) any { return r.count[0] })
	}
	b.to = table.New(b.w, format, columns)
	return b
}

// Begin implements [Writer].
func (b *Bins) Begin(*mapping.RunInfo, bool) error { return nil }

// Add writes the lines or the object of a window.
func (b *Bins) Add(w *window.Window, requests *hist.Histogram) error {
	r := &binRow{Window: w}
	layout := requests.Layout()
	for i, n := range requests.All() {
		low, high := layout.Bounds(i)
		var end any = high
		if layout.Open(i) {
			end = nil
		}
		r.low, r.high, r.count = append(r.low, low), append(r.high, end), append(r.count, int64(math.Round(n)))
		if !b.isCSV {
			continue
		}
		if err := b.to.Write(r); err != nil {
			return err
		}
		r.low, r.high, r.count = r.low[:0], r.high[:0], r.count[:0]
	}
	if b.isCSV {
		return nil
	}
	return b.to.Write(r)
}

// Close writes what is buffered.
func (b *Bins) Close() error { return errors.Join(b.to.End(), b.w.Flush()) }
