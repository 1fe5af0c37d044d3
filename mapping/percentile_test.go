package mapping

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
)

// TestPercentiles compares the list with the fields of [Latency], and each number with that of
// the histogram.
func TestPercentiles(t *testing.T) {
	var fields []string
	for f := range reflect.TypeFor[Latency]().Fields() {
		if name := f.Tag.Get("json"); strings.HasPrefix(name, "p") {
			fields = append(fields, name)
		}
	}
	h := hist.New(hist.Fio3(0))
	for i := range int64(100_000) {
		h.AddLatency(i*1000, 1)
	}
	lat := NewLatency(h, nil)
	for i, p := range Percentiles {
		if i >= len(fields) || p.Field != fields[i] {
			t.Fatalf("percentile %d is %s, fields are %q", i, p.Field, fields)
		}
		if p.Name != fmt.Sprintf("p%v", p.Rank) || p.Field != strings.Replace(p.Name, ".", "_", 1) || math.Abs(p.Quantile*100-p.Rank) > 1e-12 {
			t.Errorf("%s: %s, quantile %v, rank %v", p.Field, p.Name, p.Quantile, p.Rank)
		}
		want := micros(h.Percentile(p.Quantile).Value)
		byField, ok := lat.Figure(p.Field)
		byName, isName := lat.Figure(p.Name)
		if p.Of(&lat) != want || byField != want || byName != want || !ok || !isName {
			t.Errorf("%s: %v, %v, %v, want %v", p.Field, p.Of(&lat), byField, byName, want)
		}
	}
	if len(fields) != len(Percentiles) {
		t.Errorf("%d percentiles, fields %q", len(Percentiles), fields)
	}
	for name, want := range map[string]float64{"min": lat.Min, "mean": lat.Mean, "max": lat.Max} {
		if got, ok := lat.Figure(name); got != want || !ok {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if _, ok := lat.Figure("p98"); ok {
		t.Error("documents have no p98")
	}
}

func TestFioFigure(t *testing.T) {
	f := &FioLatency{Min: 1, Mean: 2, Max: 3, Percentiles: []FioPercentile{{99.900000, 4}, {98, 5}}}
	for name, want := range map[string]float64{"min": 1, "mean": 2, "max": 3, "p99.9": 4, "p99_9": 4} {
		if got, ok := f.Figure(name); got != want || !ok {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"p99", "p98", ""} {
		if _, ok := f.Figure(name); ok {
			t.Errorf("fio listed no %q", name)
		}
	}
}

func TestByDirection(t *testing.T) {
	read, trim := &Totals{Requests: 1}, &Totals{Requests: 2}
	list := (&Run{Read: read, Trim: trim, All: &Totals{}}).ByDirection()
	if len(list) != 2 || list[0] != (DirectionTotals{"read", read}) || list[1] != (DirectionTotals{"trim", trim}) {
		t.Errorf("%+v", list)
	}
}

func TestState(t *testing.T) {
	for _, c := range []struct {
		run  Run
		want string
		bad  bool
	}{
		{Run{Run: RunInfo{Complete: true}}, "", false},
		{Run{Run: RunInfo{Ingest: LivePrefix + "1"}}, "live", false},
		{Run{NoWindows: "no logs"}, "incomplete, no windows", true},
		{Run{Run: RunInfo{Complete: true}, SLA: []Verdict{{Holds: true}, {}}}, "sla broken", true},
	} {
		if words, bad := c.run.State(); strings.Join(words, ", ") != c.want || bad != c.bad {
			t.Errorf("%q, %v, want %q", words, bad, c.want)
		}
	}
}
