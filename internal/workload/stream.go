package workload

import (
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/mapping"
)

// Each calls of with each workload of many runs, and returns the results, sorted by the titles of the workloads. So that not all runs
// are in memory at the same time, they come sorted by the ids of the workloads in their documents, as ByWorkload of a filter of the history has
// them; otherwise Each reads them again, and keeps all. of may keep only runs that it needs. It is called for several workloads at the
// same time, before these have their titles. Afterwards a workload has only its first run.
func Each[T any](runs iter.Seq2[*mapping.Run, error], of func(*Workload) T) ([]T, error) {
	var list []*Workload
	results := map[*Workload]*T{}
	var wait sync.WaitGroup
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	start := func(w *Workload) {
		result := new(T)
		list, results[w] = append(list, w), result
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			w.sort()
			*result = of(w)
			w.Runs = slices.Clone(w.Runs[:1])
		})
	}
	key, current := "", (*Workload)(nil)
	started := map[string]bool{}
	rest := map[string]*Workload{} // by key: of sections, and of documents whose workload is not that of the rule
	isSorted, err := true, error(nil)
	for run, failed := range runs {
		if err = failed; err != nil {
			break
		}
		if of := Key(run); len(run.Sections) < 2 && of == run.Workload.ID {
			if of != key {
				if key = of; current != nil {
					start(current)
				}
				if current = rest[key]; current == nil {
					current = &Workload{}
				}
				delete(rest, key)
				isSorted = isSorted && !started[key]
				started[key] = true
			}
			current.Runs = append(current.Runs, run)
			continue
		}
		for _, part := range facts.Parts(run) {
			of := Key(part)
			if rest[of] == nil {
				rest[of] = &Workload{}
			}
			rest[of].Runs = append(rest[of].Runs, part)
			isSorted = isSorted && !started[of]
		}
		if !isSorted {
			break
		}
	}
	if err == nil && isSorted {
		if current != nil {
			start(current)
		}
		for _, key := range slices.Sorted(maps.Keys(rest)) {
			start(rest[key])
		}
	}
	wait.Wait()
	if err != nil {
		return nil, err
	}
	var sorted []T
	if !isSorted {
		var all []*mapping.Run
		for run, err := range runs {
			if err != nil {
				return nil, err
			}
			all = append(all, run)
		}
		for _, w := range Group(facts.Parts(all...)) {
			sorted = append(sorted, of(w))
		}
		return sorted, nil
	}
	setTitles(list)
	for _, w := range list {
		sorted = append(sorted, *results[w])
	}
	return sorted, nil
}
