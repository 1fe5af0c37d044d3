package align_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// amount is what is counted for one key over a run.
type amount struct {
	Completed int64
	Counted   uint64
	Weight    float64
}

// has reports whether windows of a level are made.
func has(levels []align.Level, l align.Level) bool {
	return slices.Contains(levels, l) || len(levels) == 0 && l == align.Cluster
}

// amounts are the requests in the rows that went in, and in the windows that came out.
func amounts(jobs []jobRows, windows []*align.Window, levels []align.Level) (in, out map[align.Key]amount) {
	in, out = map[align.Key]amount{}, map[align.Key]amount{}
	for _, j := range jobs {
		for _, r := range j.rows {
			for _, l := range align.Levels {
				if has(levels, l) {
					k := align.Key{Host: j.host, Job: j.job, Section: j.section, Direction: r.Direction}.At(l)
					a := in[k]
					in[k] = amount{a.Completed + int64(r.Total), a.Counted + r.Total, a.Weight + float64(r.Total)}
				}
			}
		}
	}
	for _, w := range windows {
		a := out[w.Key]
		out[w.Key] = amount{a.Completed + w.Completed, a.Counted + total(w.Counts), a.Weight + w.Latencies.Total()}
	}
	return in, out
}

// TestMergeKeepsBins: a request stays in its bin, or moves to a coarser one.
func TestMergeKeepsBins(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		jobs, opt := runs(anyKind(r, "one layout", "coarsenesses", "fio 2", "more groups", "of some hosts", "more, fio 2")).Draw(r, "run"), optionsOf(r)
		windows, stats := merge(t, jobs, opt)
		in, out := hist.New(stats.Layout), hist.New(stats.Layout)
		for _, j := range jobs {
			for _, row := range j.rows {
				in.AddBins(row.Layout, row.Bins)
			}
		}
		highest := align.Cluster
		for highest < align.Section && !has(opt.Levels, highest) {
			highest++
		}
		for _, w := range windows {
			if l := w.Latencies.Layout(); l != stats.Layout && !anyLast(jobs) || w.Latencies.Rebinned() {
				r.Errorf("window %d has layout %v, want %v", w.Elapsed, l, stats.Layout)
			}
			if w.Key.Level == highest {
				out.AddBins(w.Latencies.Layout(), w.Counts)
			}
		}
		if d := gocmp.Diff(in.Weights(), out.Weights()); d != "" {
			r.Error(d)
		}
	})
}

// TestMergeColdAndCoarser: windows that were packed before a delayed stream of a coarser layout began do not make its
// requests finer.
func TestMergeColdAndCoarser(t *testing.T) {
	rows := func(d fiolog.Direction, l hist.Layout, ends ...int64) (rows []align.Row) {
		for _, end := range ends {
			rows = append(rows, align.Row{Start: end, End: end, Direction: d, Layout: l, Bins: []hist.Bin{{Index: 0, Count: 1}}, Total: 1})
		}
		return rows
	}
	fine, coarse := rebuilt(hist.Nanoseconds, 31, 0), rebuilt(hist.Nanoseconds, 31, 2) // others have no cold windows
	jobs := []jobRows{
		{host: "a", job: "1", rows: rows(fiolog.Write, fine, 1000, 2000, 18_321, 19_321)},
		{host: "a", job: "1", last: true, rows: rows(fiolog.Read, coarse, 2000, 3000, 4000)},
	}
	windows, stats := merge(t, jobs, align.Options{Window: 190, Live: true, Workers: 1})
	for _, w := range windows {
		if w.Latencies.Rebinned() {
			t.Errorf("window %d is spread over finer bins", w.Elapsed)
		}
	}
	if len(windows) != 7 || stats.Layout != coarse {
		t.Errorf("%d windows, %v", len(windows), stats.Layout)
	}
}

// anyLast reports whether there are streams whose layout is not known from the start.
func anyLast(jobs []jobRows) bool {
	return slices.ContainsFunc(jobs, func(j jobRows) bool { return j.last })
}

// seen is all of a window.
type seen struct {
	Key                 align.Key
	Elapsed, Start, End int64
	Layout              string
	Rebinned            bool
	Weights             []hist.Weight
	Counts              []hist.Bin
	Completed           int64
}

func look(windows []*align.Window) []seen {
	var out []seen
	for _, w := range windows {
		out = append(out, seen{
			w.Key, w.Elapsed, w.Start, w.End, w.Latencies.Layout().String(), w.Latencies.Rebinned(),
			w.Latencies.Weights(), w.Counts, w.Completed,
		})
	}
	return out
}

// TestMerge: at every level, no request is lost and none is counted twice. Windows come by time, then by key, each of
// them once, on the grid, and are the same to the last bit with any number of workers.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		jobs, opt := runs(anyKind(r)).Draw(r, "run"), optionsOf(r)
		opt.Workers = 1
		windows, stats := merge(t, jobs, opt)
		in, out := amounts(jobs, windows, opt.Levels)
		if d := gocmp.Diff(in, out); d != "" {
			r.Error(d)
		}
		opt.Workers = rapid.SampledFrom([]int{2, 3, 8}).Draw(r, "workers")
		again, s := merge(t, jobs, opt)
		if want, got := look(windows), look(again); !reflect.DeepEqual(want, got) { // Diff takes its time
			r.Fatalf("%d workers: %s", opt.Workers, gocmp.Diff(want, got))
		}
		if s != stats {
			r.Errorf("%d workers: %+v, one: %+v", opt.Workers, s, stats)
		}
		tolerance := min(opt.Tolerance, opt.Window/2)
		for i, w := range windows {
			if w.Elapsed < 0 || w.Elapsed%opt.Window != 0 {
				r.Errorf("window at %d is not on a grid of %d", w.Elapsed, opt.Window)
			}
			if start, end := w.Start-w.Elapsed, w.End-w.Elapsed-opt.Window; max(start, -start, end, -end) > tolerance {
				r.Errorf("window at %d is (%d, %d], more than %d off", w.Elapsed, w.Start, w.End, tolerance)
			}
			if w.Completed < 0 || w.Counts == nil || w.Latencies.IsEmpty() && w.Completed == 0 {
				r.Errorf("window at %d: %d completed, counts %v", w.Elapsed, w.Completed, w.Counts)
			}
			if !has(opt.Levels, w.Key.Level) || w.Key != w.Key.At(w.Key.Level) {
				r.Errorf("key %+v of levels %v", w.Key, opt.Levels)
			}
			if i > 0 {
				b := windows[i-1]
				if cmp.Or(cmp.Compare(b.Elapsed, w.Elapsed), b.Key.Compare(w.Key)) >= 0 {
					r.Errorf("%d %+v comes before %d %+v", b.Elapsed, b.Key, w.Elapsed, w.Key)
				}
			}
		}
	})
}

// TestMergeLevels: what a key counts is the sum of its jobs, and the cluster also that of the sections.
func TestMergeLevels(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		jobs, opt := runs(kinds["coarsenesses"]).Draw(r, "run"), optionsOf(r)
		opt.Levels = align.Levels[:]
		type at struct {
			elapsed int64
			key     align.Key
		}
		type sum struct {
			at
			of align.Level
		}
		got, want := map[at]*hist.Histogram{}, map[sum]*hist.Histogram{}
		windows, _ := merge(t, jobs, opt)
		wider := map[align.Level][]align.Level{align.Job: {align.Cluster, align.Host}, align.Section: {align.Cluster}}
		for _, w := range windows {
			got[at{w.Elapsed, w.Key}] = w.Latencies
			for _, l := range wider[w.Key.Level] {
				k := sum{at{w.Elapsed, w.Key.At(l)}, w.Key.Level}
				if want[k] == nil {
					want[k] = hist.New(w.Latencies.Layout())
				}
				want[k].Merge(w.Latencies)
			}
		}
		for k, h := range want {
			if got[k.at] == nil {
				r.Errorf("no window %+v", k)
				continue
			}
			if d := gocmp.Diff(h.Weights(), got[k.at].Weights()); d != "" {
				r.Errorf("%+v: %s", k, d)
			}
		}
	})
}

// TestMergeOneLevel: the windows of a level are the same with and without other levels, joined or not.
func TestMergeOneLevel(t *testing.T) {
	precision := align.Precision{Quantile: 0.9, Error: 0.1, Longest: 60_000}
	rapid.Check(t, func(r *rapid.T) {
		jobs, opt := runs(kinds["one layout"]).Draw(r, "run"), optionsOf(r)
		if rapid.Bool().Draw(r, "one host") {
			for i := range jobs {
				jobs[i].host, jobs[i].job = "a", fmt.Sprint(i)
			}
		}
		of := func(isJoined bool, level align.Level, levels ...align.Level) (windows []*align.Window) {
			opt.Levels = levels
			all := align.Merged(t.Context(), streams(jobs), opt, nil)
			if isJoined {
				all = align.Joined(all, precision)
			}
			for w, err := range all {
				if err != nil {
					r.Fatal(err)
				}
				if w.Key.Level == level {
					windows = append(windows, w)
				}
			}
			return windows
		}
		for _, l := range align.Levels {
			if d := gocmp.Diff(look(of(false, l, l)), look(of(false, l, align.Levels[:]...))); d != "" {
				r.Fatalf("%v alone, and with other levels: %s", l, d)
			}
		}
		if d := gocmp.Diff(look(of(true, align.Cluster, align.Cluster)), look(of(true, align.Cluster, align.Levels[:]...))); d != "" {
			r.Fatalf("joined, alone and with other levels: %s", d)
		}
	})
}

// TestMergeNothingIsLate: rows that are not much older than a minute find their windows
// open, however their directions and jobs lie to one another.
func TestMergeNothingIsLate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		opt := optionsOf(r)
		var jobs []jobRows
		for i := range rapid.IntRange(1, 4).Draw(r, "jobs") {
			s := align.NewSplitter(1000)
			offset := rapid.Int64Range(0, 3000).Draw(r, "offset")
			var due [fiolog.Directions]int64
			j := jobRows{host: "a", job: string(rune('1' + i))}
			for range rapid.IntRange(0, 40).Draw(r, "rows") {
				d := fiolog.Direction(rapid.IntRange(0, 1).Draw(r, "direction"))
				late := rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, 14_000)).Draw(r, "late")
				now := max(slices.Max(due[:]), due[d]+1000+late)
				if now-due[d] > 55_000 {
					continue
				}
				due[d] = now
				wait := float64(min(late+900, 17_000))
				b := bins(bin(1, 50), bin(wait, 1))
				for _, row := range s.Split(now, d, fine, b, total(b)) {
					row.Bins = slices.Clone(row.Bins)
					row.Start += offset
					row.End += offset
					j.rows = append(j.rows, row)
				}
			}
			jobs = append(jobs, j)
		}
		if _, stats := merge(t, jobs, opt); stats.Late != 0 {
			r.Errorf("%v requests were late", stats.Late)
		}
	})
}

// TestMergeCorpus: real logs come out complete, cut or whole.
func TestMergeCorpus(t *testing.T) {
	for _, folder := range []string{"two-jobs-rw", "coarseness", "stalls", "mixed-bs", "trim-write-read", "id-7c1f03ab"} {
		t.Run(folder, func(t *testing.T) {
			for _, window := range []int64{1000, 300, 7000} {
				in, requests := corpusStreams(t, folder, 1000)
				var got [fiolog.Directions]uint64
				var completed [fiolog.Directions]int64
				for _, w := range collect(t, align.Merged(t.Context(), in, align.Options{Window: window, Tolerance: 50}, nil)) {
					got[w.Key.Direction] += total(w.Counts)
					completed[w.Key.Direction] += w.Completed
				}
				for d := range requests {
					if got[d] != requests[d] || completed[d] != int64(requests[d]) {
						t.Errorf("window %d: %v: %d counted, %d completed, %d in the logs", window, fiolog.Direction(d), got[d], completed[d], requests[d])
					}
				}
			}
		})
	}
}

// TestMergeLive: windows of rows that begin where those before end are the same, and come as soon as the next row
// of each stream is known.
func TestMergeLive(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		opt := optionsOf(r)
		opt.Weighting, opt.Live = align.Completion, false
		var jobs []jobRows
		for i := range rapid.IntRange(1, 3).Draw(r, "jobs") {
			j, at := jobRows{host: "a", job: string(rune('1' + i))}, rapid.Int64Range(0, 3000).Draw(r, "offset")
			for range rapid.IntRange(0, 30).Draw(r, "reports") {
				end := at + rapid.Int64Range(900, 4000).Draw(r, "length")
				for d := range fiolog.Direction(2) {
					if b := bins(bin(17_000, 5)); rapid.Bool().Draw(r, "served") {
						j.rows = append(j.rows, align.Row{Start: at, End: end, Direction: d, Layout: fine, Bins: b, Total: total(b)})
					}
				}
				at = end
			}
			jobs = append(jobs, j)
		}
		want, _ := merge(t, jobs, opt)
		opt.Live = true
		got, stats := merge(t, jobs, opt)
		text := func(all []*align.Window) (lines []string) {
			for _, w := range all {
				lines = append(lines, fmt.Sprint(w.Key, w.Start, w.End, w.Completed, w.Counts))
			}
			return lines
		}
		if d := gocmp.Diff(text(want), text(got)); d != "" || stats.Late != 0 {
			r.Errorf("%v late\n%s", stats.Late, d)
		}
	})
	given := 0
	stream := &align.Stream{Host: "a", Job: "1", Next: func() (align.Row, bool) {
		given++
		at := int64(given) * 1000
		return align.Row{Start: at - 1000, End: at, Layout: fine, Bins: bins(bin(17_000, 1)), Total: 1}, given <= 10
	}}
	windows := align.Merged(t.Context(), []*align.Stream{stream},
		align.Options{Window: 1000, Tolerance: 50, Weighting: align.Completion, Live: true, Workers: 1}, nil)
	for w := range windows {
		if want := int(w.End/1000) + 1; given != want {
			t.Errorf("the window that ends at %d ms came with row %d, want %d", w.End, given, want)
		}
	}
}
