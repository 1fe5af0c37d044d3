package main

import (
	"testing"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestDirections: packages that do not import mapping have the same names of directions.
func TestDirections(t *testing.T) {
	t.Parallel()
	if len(mapping.Directions) != fiolog.WithSync {
		t.Fatalf("%q, but fiolog has %d", mapping.Directions, fiolog.WithSync)
	}
	for i, name := range mapping.Directions {
		if got := fiolog.Direction(i).String(); got != name {
			t.Errorf("direction %d is %s in fiolog, %s in mapping", i, got, name)
		}
		if r, err := slo.Parse(name + ".p99 < 1s"); err != nil || r.Direction != name {
			t.Errorf("%s in slo: %q, %v", name, r.Direction, err)
		}
	}
}

// TestPercentileNames: rules and comparisons know each percentile of documents by its name.
func TestPercentileNames(t *testing.T) {
	t.Parallel()
	for _, p := range mapping.Percentiles {
		r, err := slo.Parse(p.Name + " < 1s")
		if err != nil || r.Metric.String() != p.Name {
			t.Errorf("%s in slo: %s, %v", p.Name, r.Metric, err)
		}
		if m, err := compare.ParseMetrics(p.Field); err != nil || m[0].String() != p.Name || m[0].Column() != p.Field+"_us" {
			t.Errorf("%s in compare: %v, %v", p.Field, m, err)
		}
	}
}
