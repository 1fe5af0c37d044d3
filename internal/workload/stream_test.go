package workload

import (
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

// reader reads runs as a history does: all of them with Members only. It calls before with the number of each reading.
func reader(runs []*mapping.Run, before func(n int)) func(ids ...string) iter.Seq2[*mapping.Run, error] {
	n := 0
	return func(ids ...string) iter.Seq2[*mapping.Run, error] {
		before(n)
		n++
		return func(yield func(*mapping.Run, error) bool) {
			for _, r := range runs {
				whole := *r
				switch {
				case len(ids) == 0 && !yield(&mapping.Run{
					Run: r.Run, Workload: r.Workload, Sections: r.Sections, Ingested: r.Ingested, All: r.All, Read: r.Read, Write: r.Write, Trim: r.Trim, Sync: r.Sync,
				}, nil):
					return
				case slices.Contains(ids, r.Run.ID) && !yield(&whole, nil):
					return
				}
			}
		}
	}
}

// TestFind: changes of all workloads are those of [Group] and [Workload.Series], also if some runs have sections, or documents without a
// workload or of another version of the rule.
func TestFind(t *testing.T) {
	rng, numbers := rand.New(rand.NewPCG(1, 2)), MustNumbers("p99", "iops")
	changes := 0
	for range 40 {
		var runs []*mapping.Run
		for i := range rng.IntN(100) {
			depth, times := fmt.Sprint(1<<rng.IntN(3)), 1+0.02*rng.Float64()
			if i > 60 {
				times *= 1.3
			}
			run := night(i, mapping.CBT{}, times)
			run.Run.Start = run.Run.Start.Add(time.Duration(rng.IntN(3)) * 24 * time.Hour)
			run.Fio, run.Run.Partial = mapping.FioInfo{Options: map[string]string{"rw": "write", "iodepth": depth}, Jobs: 1}, rng.IntN(9) == 0
			if rng.IntN(8) == 0 {
				run.Read = run.Write
				run.Sections = []mapping.RunSection{
					{Name: "a", Options: map[string]string{"iodepth": depth}, Jobs: 1, Write: run.Write}, {Name: "b", Options: map[string]string{"iodepth": depth}, Jobs: 1, Read: run.Write},
				}
			}
			switch rule.Set(run); rng.IntN(12) {
			case 0:
				run.Workload.ID = ""
			case 1:
				run.Workload.ID = "0-old"
			case 2:
				if len(run.Sections) > 0 {
					run.Sections[0].Workload.ID = ""
				}
			}
			runs = append(runs, run)
		}
		text := func(title, key string, n int, latest *mapping.Run, series []*Series) string {
			text := fmt.Sprintln(title, key, n, latest.Run.ID, latest.Run.Start, sectionOf(latest))
			for _, s := range series {
				for _, row := range s.Rows() {
					for _, c := range Columns() {
						if c.Value != nil && (row.HasChange() || !strings.Contains("since before_run after_run before_value change low high differs", c.Name)) {
							text += fmt.Sprint(c.Value(row), " ")
						}
					}
					if c := row.Change; c != nil {
						changes++
						text += fmt.Sprint(row.since(), c.Before.Fio, c.After.Fio, facts.PartName(c.Before), facts.PartName(c.After))
					}
					text += fmt.Sprintln(s.Values[max(len(s.Values)-1, 0):])
				}
			}
			return text
		}
		want, got := "", ""
		for _, w := range Group(facts.Parts(runs...)) {
			want += text(w.Title, Key(w.Runs[0]), len(w.Runs), w.Runs[len(w.Runs)-1], w.Series(numbers, 0.03))
		}
		rng.Shuffle(len(runs), func(i, k int) { runs[i], runs[k] = runs[k], runs[i] })
		found, err := Find(reader(runs, func(int) {}), numbers, 0.03)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range found.Workloads {
			got += text(w.Title, w.Key, w.Count, w.Latest(), w.Series)
		}
		left := 0
		for _, run := range runs {
			if LeftOut(run) != "" {
				left++
			}
		}
		if got != want || found.Runs != len(runs) || found.LeftOut["without some of their files"] != left {
			t.Fatalf("got\n%s\nwant\n%s\n%d of %d runs, %v", got, want, found.Runs, len(runs), found.LeftOut)
		}
	}
	if changes < 100 {
		t.Errorf("only %d changes were compared", changes)
	}
}

// TestFindAgain: if a run is not as before when it is read again, all are. A run that cannot be read again is left out.
func TestFindAgain(t *testing.T) {
	runs := func() (list []*mapping.Run) {
		for i := range 12 {
			run := night(i, mapping.CBT{Mode: "randwrite"}, []float64{1, 2}[i/6])
			rule.Set(run)
			list = append(list, run)
		}
		return list
	}
	for name, change := range map[string]func(run *mapping.Run){
		"version": func(run *mapping.Run) { run.Run.Ingest = "2" },
		"label":   func(run *mapping.Run) { run.Run.Labels = map[string]string{"a": "b"} },
		"stored":  func(run *mapping.Run) { run.Ingested = time.Unix(1e9, 0) },
	} {
		list, last := runs(), 0
		found, err := Find(reader(list, func(n int) {
			if last = n; n == 1 {
				change(list[6])
			}
		}), MustNumbers("p99"), 0.03)
		if err != nil || last != 3 || found.Runs != len(list) || found.Workloads[0].Series[0].Changes[0].After.Run.ID != list[6].Run.ID {
			t.Errorf("%s: %+v, %v after %d readings", name, found, err, last+1)
		}
	}
	live := night(0, mapping.CBT{}, 1)
	live.Run.Ingest, live.Sections = mapping.LivePrefix, []mapping.RunSection{{Name: "a"}, {Name: "b"}}
	rule.Set(live)
	found, err := Find(reader([]*mapping.Run{live}, func(n int) {
		if n == 1 {
			live.Sections = nil
		}
	}), MustNumbers("p99"), 0.03)
	if err != nil || len(found.Workloads) != 1 || found.Runs != 1 {
		t.Errorf("a live run whose sections change: %+v, %v", found, err)
	}
	list := runs()
	all, last := reader(list, func(int) {}), 0
	found, err = Find(func(ids ...string) iter.Seq2[*mapping.Run, error] {
		last++
		return func(yield func(*mapping.Run, error) bool) {
			for run, err := range all(ids...) {
				if isUnreadable := run.Run.ID == list[5].Run.ID && len(ids) > 0; !isUnreadable && !yield(run, err) {
					return
				}
			}
		}
	}, MustNumbers("p99"), 0.03)
	if err != nil || found.Runs != 11 || found.Workloads[0].Series[0].Changes[0].Before.Run.ID != list[4].Run.ID || last != 4 {
		t.Errorf("without a run that cannot be read: %+v, %v after %d readings", found, err, last)
	}
	list = runs()
	if _, err = Find(reader(list, func(n int) { list[0].Run.Ingest = fmt.Sprint(n) }), MustNumbers("p99"), 0.03); !errors.Is(err, errChanged) {
		t.Errorf("a run that changes all the time: %v", err)
	}
	broken := errors.New("broken")
	if _, err = Find(func(...string) iter.Seq2[*mapping.Run, error] {
		return func(yield func(*mapping.Run, error) bool) { yield(nil, broken) }
	}, nil, 0); !errors.Is(err, broken) {
		t.Error(err)
	}
}
