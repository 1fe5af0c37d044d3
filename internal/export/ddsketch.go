package export

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"

	sketch "github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/pb/sketchpb"
	"google.golang.org/protobuf/proto"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// sketchAccuracy is the relative accuracy of the sketches: the bins of a sketch are a quarter of the narrowest of fio's.
const sketchAccuracy = 0.001

// sketchRow is a window and its sketch.
type sketchRow struct {
	*window.Window
	sketch, layout string
}

// DDSketch writes windows as objects in JSON with a DDSketch each.
type DDSketch struct {
	w     *bufio.Writer
	to    *table.Writer[*sketchRow]
	index sketch.IndexMapping
}

// NewDDSketch returns a writer to w.
func NewDDSketch(w io.Writer) *DDSketch {
	m, err := sketch.NewLogarithmicMapping(sketchAccuracy)
	if err != nil {
		panic(err)
	}
	d := &DDSketch{w: bufio.NewWriter(w), index: m}
	d.to = table.New(d.w, table.JSON, append(windowColumns(func(r *sketchRow) *window.Window { return r.Window }), []table.Column[*sketchRow]{
		{Name: "sketch", Unit: "ns", Value: func(r *sketchRow) any { return r.sketch }},
		{Name: "layout", Value: func(r *sketchRow) any { return r.layout }},
	}...))
	return d
}

// Begin implements [Writer].
func (d *DDSketch) Begin(*mapping.RunInfo, bool) error { return nil }

// Add writes the object of a window.
func (d *DDSketch) Add(w *window.Window, requests *hist.Histogram) error {
	bytes, err := d.encode(requests)
	if err != nil {
		return err
	}
	return d.to.Write(&sketchRow{w, base64.StdEncoding.EncodeToString(bytes), mapping.LayoutName(requests.Layout())})
}

// encode returns the protobuf of a sketch with the middles of bins.
func (d *DDSketch) encode(requests *hist.Histogram) ([]byte, error) {
	counts := map[int32]float64{}
	to := &sketchpb.DDSketch{Mapping: d.index.ToProto(), PositiveValues: &sketchpb.Store{BinCounts: counts}}
	for i, n := range requests.All() {
		if middle := requests.Layout().Middle(i); middle == 0 {
			to.ZeroCount = math.Round(n)
		} else {
			counts[int32(d.index.Index(middle))] = math.Round(n)
		}
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(to)
}

// Close writes what is buffered.
func (d *DDSketch) Close() error { return errors.Join(d.to.End(), d.w.Flush()) }

// readSketch adds the requests of the protobuf of a sketch to h. If they are the middles of bins, they stay in these bins.
func (c *collector) readSketch(h *hist.Histogram, text []byte, unit string, areMiddles bool) (*hist.Histogram, error) {
	scale, ok := Units[unit]
	if !ok {
		var err error
		if scale, err = c.scale(); err != nil {
			return nil, err
		}
	}
	var from sketchpb.DDSketch
	if err := proto.Unmarshal(text, &from); err != nil {
		return nil, c.bad(1, "a sketch that is damaged ("+err.Error()+")", "the protobuf of a DDSketch")
	}
	gamma := from.GetMapping().GetGamma()
	m, err := sketch.FromProto(from.GetMapping())
	if err != nil || !(gamma > 1 && gamma <= 100) {
		return nil, c.bad(1, fmt.Sprintf("a sketch whose bins grow by %v", gamma), "a logarithmic mapping, or one with linear or cubic interpolation, with a gamma above 1 and up to 100")
	}
	if len(from.GetNegativeValues().GetBinCounts())+len(from.GetNegativeValues().GetContiguousBinCounts()) > 0 {
		return nil, c.bad(1, "a sketch with negative values", "latencies")
	}
	add := func(index int, n float64) error {
		low, high := m.LowerBound(index)*scale, m.LowerBound(index+1)*scale
		switch {
		case n == 0:
		case n != math.Trunc(n) || n < 0 || n > hist.MaxCount:
			return c.bad(1, fmt.Sprintf("%v requests in a bin of a sketch", n), "a whole number up to 2^53")
		case !(0 <= low && low < high && low < math.MaxInt64):
			return c.bad(1, fmt.Sprintf("a bin of a sketch from %v to %v ns", low, high), "latencies up to 292 years")
		case areMiddles:
			h.AddAt(h.Layout().Index(int64(math.Round(m.Value(index)*scale))), n)
		default:
			h.AddBetween(low, high, uint64(n))
		}
		return nil
	}
	positive := from.GetPositiveValues()
	for index, n := range positive.GetBinCounts() {
		if err := add(int(index), n); err != nil {
			return nil, err
		}
	}
	for i, n := range positive.GetContiguousBinCounts() {
		if err := add(int(positive.GetContiguousBinIndexOffset())+i, n); err != nil {
			return nil, err
		}
	}
	if n := from.GetZeroCount(); n != math.Trunc(n) || n < 0 || n > hist.MaxCount {
		return nil, c.bad(1, fmt.Sprintf("%v requests in a bin of a sketch", n), "a whole number up to 2^53")
	} else if n > 0 {
		h.AddAt(0, n)
	}
	return h, nil
}
