package tidy

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// marking is a history of runs that has marks.
type marking struct {
	history.Marker
	runs   []*mapping.Run
	marked map[string]int // numbers of marks by the name of the run
}

func (m *marking) Runs(_ context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	return f.Select(func(yield func(*mapping.Run, error) bool) {
		for _, run := range m.runs {
			if !yield(run, nil) {
				return
			}
		}
	})
}

func (m *marking) Mark(_ context.Context, changes map[string][]mapping.Change) error {
	for id, list := range changes {
		m.marked[id] = len(list)
	}
	return nil
}

// TestMarkWorkloads: after a run, only the marks of its workload are found again, but those of all sections of its runs.
func TestMarkWorkloads(t *testing.T) {
	totals := func(us float64) *mapping.Totals {
		return &mapping.Totals{Requests: 1000, IOPS: 1e6 / us, Latency: mapping.Latency{Mean: us}}
	}
	section := func(name, engine string, of *mapping.Totals) mapping.RunSection {
		options := map[string]string{"rw": name, "bs": "4k", "ioengine": engine}
		return mapping.RunSection{Name: name, Jobs: 1, CBT: mapping.CBT{Mode: name, OpSize: 4096, IODepth: 1}, Options: options, Read: of}
	}
	m := &marking{}
	add := func(id string, at int, run mapping.Run) {
		run.Run.ID, run.Run.Start = fmt.Sprint(id, at), time.Date(2026, 1, 1+at, 0, 0, 0, 0, time.UTC)
		m.runs = append(m.runs, &run)
	}
	for night := range 12 {
		us, reader := 100+float64(night%3), "sync"
		if night >= 6 {
			us, reader = us*2, "libaio"
		}
		add("plain", night, mapping.Run{CBT: mapping.CBT{Benchmark: "fio", Mode: "randread", OpSize: 4096}, Read: totals(us)})
		// beside counts by its most important settings, so each section has its workload in common with other runs than the other one
		add("pair", night, mapping.Run{Sections: []mapping.RunSection{section("randread", reader, totals(100)), section("randwrite", "libaio", totals(us))}})
		add("other", night, mapping.Run{Sections: []mapping.RunSection{section("randread", "libaio", totals(100)), section("randwrite", "sync", totals(100))}})
	}
	for name, c := range map[string]struct {
		of   []*mapping.Run
		want map[string]int
	}{
		"all":      {nil, map[string]int{"plain6": 2, "pair6": 2}}, // the mean and IOPS
		"plain":    {m.runs[:1], map[string]int{"plain6": 2}},
		"sections": {m.runs[2:3], map[string]int{"pair6": 2}},
	} {
		m.marked = map[string]int{}
		if _, err := Mark(t.Context(), m, c.of, time.Now()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, m.marked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
