package mapping_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

// Every bin of every layout, through JSON and back, on its own.
func TestEveryBinComesBack(t *testing.T) {
	for _, l := range someLayouts() {
		h := hist.New(l)
		for i := range l.Len() {
			h.AddAt(i, float64(i+1))
		}
		d := mapping.Interval{Latency: mapping.NewLatency(h, nil)}
		text := d.AppendJSON(nil)
		var got mapping.Interval
		decode(t, text, &got)
		back, err := got.Latency.Hist()
		if err != nil {
			t.Fatal(err)
		}
		if back.Layout() != l {
			t.Errorf("layout %v came back as %v", l, back.Layout())
		}
		if diff := cmp.Diff(h.Weights(), back.Weights()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", l, diff)
		}
		compact := common(t, &d)
		if err := compact.UnmarshalCompact(d.AppendCompact(nil)); err != nil || !cmp.Equal(*compact, got) {
			t.Errorf("%v: another document in the compact form, %v", l, err)
		}
	}
}

// TestLayoutNames: documents that are stored keep their meaning.
func TestLayoutNames(t *testing.T) {
	layout := func(unit hist.Unit, groups, coarseness int) hist.Layout {
		l, err := hist.NewLayout(unit, groups, coarseness)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, want := range map[string]hist.Layout{
		"fio3/0": hist.Fio3(0), "fio3/6": hist.Fio3(6), "fio2/0": hist.Fio2(0), "fio2/3": hist.Fio2(3),
		"fio3/0/34": layout(hist.Nanoseconds, 34, 0), "fio2/1/24": layout(hist.Microseconds, 24, 1), "fio3/6/17": layout(hist.Nanoseconds, 17, 6),
	} {
		lat := mapping.Latency{Layout: name}
		if h, err := lat.Hist(); err != nil || h.Layout() != want {
			t.Errorf("%s: %v", name, err)
		}
		h := hist.New(want)
		h.AddAt(0, 1)
		if lat := mapping.NewLatency(h, nil); lat.Layout != name {
			t.Errorf("%v is named %s, want %s", want, lat.Layout, name)
		}
	}
	for _, name := range []string{"fio3/0/29", "fio2/0/19", "fio3/7/34", "fio3/0/16", "fio3/0/65", "fio3/0/034", "fio3/0/+34", "fio3/0/", "fio3/0/34/1", "fio3/034", "fio3/0x34", "fio4/0/34"} {
		lat := mapping.Latency{Layout: name}
		if _, err := lat.Hist(); !errors.Is(err, mapping.ErrBins) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHistogramRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := genHistogram(t)
		lat := mapping.NewLatency(h, nil)
		if h.IsEmpty() {
			if !lat.IsZero() {
				t.Fatalf("an empty histogram made %+v", lat)
			}
			return
		}
		back, err := lat.Hist()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(h.Weights(), back.Weights()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		for _, n := range lat.Bins.Counts {
			if n < 1 || n > mapping.MaxCount {
				t.Fatalf("a count is %d", n)
			}
		}
		ascending := []float64{lat.Min, lat.P50, lat.P75, lat.P90, lat.P95, lat.P99, lat.P999, lat.P9999, lat.Max}
		for i := 1; i < len(ascending); i++ {
			if ascending[i] < ascending[i-1] {
				t.Fatalf("percentiles do not ascend: %v", ascending)
			}
		}
	})
}

func TestLatencyFromWeights(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1_000_000, 2.6)
	h.AddLatency(4_000_000, 0.4)
	i := uint32(h.Layout().Index(1_000_000))
	lat := mapping.NewLatency(h, []hist.Bin{{Index: i, Count: 3}})
	if got := lat.Bins; len(got.Values) != 1 || got.Counts[0] != 3 || got.Values[0] != 1003.5195 {
		t.Errorf("bins are %+v", got)
	}
	if want := math.Round(h.Max().Value) / 1000; lat.Max != want {
		t.Errorf("max is %v, and not %v, that of the weights", lat.Max, want)
	}
	// Rounding may leave nothing of a weight: the percentiles remain.
	lat = mapping.NewLatency(h, []hist.Bin{})
	if !lat.Bins.IsZero() || lat.P50 == 0 || lat.IsZero() || lat.Layout != "fio3/0" {
		t.Errorf("without counts: %+v", lat)
	}
	// Rounding may put a request where no weight is.
	lat = mapping.NewLatency(hist.New(hist.Fio2(3)), []hist.Bin{{Index: 5, Count: 1}})
	if lat.Bins.Total() != 1 || lat.Layout != "fio2/3" || lat.P50 != 0 {
		t.Errorf("without weights: %+v", lat)
	}
}

func TestHistFaults(t *testing.T) {
	bins := func(v float64, n int64) mapping.Bins { return mapping.Bins{Values: []float64{v}, Counts: []int64{n}} }
	for name, lat := range map[string]mapping.Latency{
		"no layout":  {Bins: bins(1, 1)},
		"layout":     {Bins: bins(1, 1), Layout: "fio4/0"},
		"lengths":    {Bins: mapping.Bins{Values: []float64{1}}, Layout: "fio3/0"},
		"negative":   {Bins: bins(-1, 1), Layout: "fio3/0"},
		"too large":  {Bins: bins(1e300, 1), Layout: "fio3/0"},
		"no number":  {Bins: bins(math.NaN(), 1), Layout: "fio3/0"},
		"count":      {Bins: bins(1, -1), Layout: "fio3/0"},
		"empty name": {Layout: ""},
	} {
		if _, err := lat.Hist(); !errors.Is(err, mapping.ErrBins) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOpen: what lies in the last bin is a lower bound, that of the bin itself, in any layout
// and without the bins.
func TestOpen(t *testing.T) {
	for _, l := range []hist.Layout{hist.Fio3(0), hist.Fio3(6), hist.Fio2(2)} {
		h := hist.New(l)
		h.AddAt(l.Len()-2, 90)
		h.AddAt(l.Len()-1, 10)
		lat := mapping.NewLatency(h, nil)
		lat.Bins = mapping.Bins{}
		low, _ := l.Bounds(l.Len() - 1)
		if from := lat.OpenFrom(); from != float64(low)/1000 || lat.Max != from || lat.P95 != from {
			t.Errorf("%v: open from %v, p95 %v, max %v", l, from, lat.P95, lat.Max)
		}
		if !lat.IsOpen(lat.Max) || !lat.IsOpen(lat.P99) || lat.IsOpen(lat.P90) || lat.IsOpen(lat.Mean) {
			t.Errorf("%v: %+v", l, lat)
		}
	}
	if lat := (mapping.Latency{Mean: 1e12}); lat.IsOpen(lat.Mean) {
		t.Error("averages have no bins")
	}
}
