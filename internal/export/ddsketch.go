package export

import (
	"bufio"
	"encoding/base64"
	"errors"
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
