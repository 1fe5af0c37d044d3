package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/pb/sketchpb"
	"github.com/DataDog/sketches-go/ddsketch/store"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// TestDDSketch: the reference library reads a sketch, and each of its values lies in the bin of fio that the requests are of,
// in each layout.
func TestDDSketch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistogram(t)
		run := &mapping.RunInfo{Name: "r", Start: time.Unix(1e9, 0)}
		w := &window.Window{Run: run, Direction: "read", Start: run.Start, End: run.Start.Add(time.Second)}
		var out bytes.Buffer
		to := NewDDSketch(&out)
		var line struct {
			Sketch []byte `json:"sketch_ns"`
			Layout string `json:"layout"`
		}
		var read sketchpb.DDSketch
		if err := errors.Join(to.Begin(run, false), to.Add(w, h), to.Close(), json.Unmarshal(out.Bytes(), &line), proto.Unmarshal(line.Sketch, &read)); err != nil {
			t.Fatal(err)
		}
		sketch, err := ddsketch.FromProtoWithStoreProvider(&read, store.SparseStoreConstructor)
		if err != nil {
			t.Fatal(err)
		}
		got := hist.New(h.Layout())
		sketch.ForEach(func(ns, count float64) (stop bool) {
			got.AddAt(h.Layout().Index(int64(math.Round(ns))), count)
			return false
		})
		if !slices.Equal(got.Weights(), h.Weights()) || line.Layout != mapping.LayoutName(h.Layout()) {
			t.Fatalf("%s %v, want %s %v", line.Layout, got.Weights(), mapping.LayoutName(h.Layout()), h.Weights())
		}
	})
}
