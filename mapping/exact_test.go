package mapping_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// TestExact: whole counts and the bins of Exact give back the weights of a histogram, to the last bit, also from JSON and
// from the compact form.
func TestExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hist.New(hist.Fio3(rapid.IntRange(0, 6).Draw(t, "coarseness")))
		bin := func(name string) int { return rapid.IntRange(0, h.Layout().Len()-1).Draw(t, name) }
		for range rapid.IntRange(1, 20).Draw(t, "bins") {
			h.AddAt(bin("bin"), float64(rapid.Int64Range(1, 1<<40).Draw(t, "parts"))/(1<<20))
		}
		counts := mapping.WholeCounts(h)
		if rapid.Bool().Draw(t, "rounded up before") {
			extra := hist.New(h.Layout())
			extra.AddBins(h.Layout(), counts)
			extra.AddAt(bin("extra"), 1)
			counts = extra.Bins()
		}
		d := &mapping.Interval{Level: mapping.Cluster, Latency: mapping.NewLatency(h, counts), Exact: mapping.NewExact(h, counts)}
		var compact, text mapping.Interval
		if err := compact.UnmarshalCompact(d.AppendCompact(nil)); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(d.AppendJSON(nil), &text); err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]*mapping.Interval{"made": d, "compact": &compact, "JSON": &text} {
			if diff := cmp.Diff(d.Exact, got.Exact); diff != "" {
				t.Fatalf("%s: %s", name, diff)
			}
			back, err := got.Latency.Hist()
			if err != nil {
				t.Fatal(err)
			}
			if err := got.Exact.Restore(back); err != nil || !slices.Equal(back.Weights(), h.Weights()) {
				t.Fatalf("%s: %v, want %v, %v", name, back.Weights(), h.Weights(), err)
			}
		}
	})
	odd := &mapping.Interval{Latency: mapping.Latency{Layout: "fio3/0"}, Exact: mapping.Exact{Values: []float64{1.5, 7}, Counts: []float64{0.3, math.Pi}}}
	var got mapping.Interval
	if err := got.UnmarshalCompact(odd.AppendCompact(nil)); err != nil || !cmp.Equal(got.Exact, odd.Exact) {
		t.Errorf("%+v, %v", got.Exact, err)
	}
	for _, bad := range []mapping.Exact{{Values: []float64{1}}, {Values: []float64{2, 1}, Counts: []float64{1, 1}}, {Values: []float64{1}, Counts: []float64{-1}}} {
		if err := bad.Restore(hist.New(hist.Fio3(0))); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
