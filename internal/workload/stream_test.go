package workload

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// TestEach: workloads of runs that come sorted are those of [Group], also if some runs have sections, or documents without a workload or
// of another version of the rule, and if they are not sorted.
func TestEach(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		var runs []*mapping.Run
		for i := range rng.IntN(60) {
			depth := fmt.Sprint(1 << rng.IntN(4))
			run := &mapping.Run{
				Run: mapping.RunInfo{ID: fmt.Sprintf("%03d", i), Start: time.Unix(int64(1000+rng.IntN(20)), 0)},
				Fio: mapping.FioInfo{Options: map[string]string{"rw": "read", "iodepth": depth}},
			}
			if rng.IntN(8) == 0 {
				run.Sections = []mapping.RunSection{{Name: "a", Options: map[string]string{"iodepth": depth}}, {Name: "b"}}
			}
			switch rule.Set(run); rng.IntN(12) {
			case 0:
				run.Workload.ID = ""
			case 1:
				run.Workload.ID = "0-old"
			case 2:
				if round%3 == 0 {
					run.Workload.ID = "9-new"
				}
			}
			runs = append(runs, run)
		}
		slices.SortFunc(runs, func(a, b *mapping.Run) int {
			if round%5 == 0 { // not sorted by workload
				return cmp.Compare(a.Run.ID, b.Run.ID)
			}
			return cmp.Or(strings.Compare(a.Workload.ID, b.Workload.ID), b.Run.Start.Compare(a.Run.Start))
		})
		text := func(w *Workload) (text string) {
			for _, run := range w.Runs {
				text += " " + run.Run.ID + facts.PartName(run)
			}
			return text
		}
		var want, got []string
		for _, w := range Group(facts.Parts(runs...)) {
			want = append(want, w.Title+":"+text(w))
		}
		type one struct {
			*Workload
			text string
		}
		list, err := Each(each(runs, nil), func(w *Workload) one { return one{w, text(w)} })
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			got = append(got, one.Title+":"+one.text)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: got\n%s\nwant\n%s", round, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	broken := errors.New("broken")
	if _, err := Each(each(nil, broken), func(*Workload) int { return 0 }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func each(runs []*mapping.Run, err error) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		for _, run := range runs {
			if !yield(run, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
