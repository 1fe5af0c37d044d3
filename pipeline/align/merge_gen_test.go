package align_test

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// jobRows are the rows of one job, from which any number of streams can be made.
type jobRows struct {
	host, job, section string
	last               bool
	rows               []align.Row
}

// stream gives rows as a reader of logs does: the bins of one are gone with the next.
func stream(host, job string, rows []align.Row) *align.Stream {
	var buffer []hist.Bin
	return &align.Stream{Host: host, Job: job, Next: func() (align.Row, bool) {
		for i := range buffer {
			buffer[i] = hist.Bin{Count: 1 << 50}
		}
		runtime.Gosched() // else one worker takes all, so few are the rows
		if len(rows) == 0 {
			return align.Row{}, false
		}
		row := rows[0]
		rows = rows[1:]
		buffer = append(buffer[:0], row.Bins...)
		row.Bins = buffer
		return row, true
	}}
}

func streams(jobs []jobRows) []*align.Stream {
	var out []*align.Stream
	for _, j := range jobs {
		s := stream(j.host, j.job, j.rows)
		s.Section, s.Last = j.section, j.last
		out = append(out, s)
	}
	return out
}

// collect is all windows of a merge that must not fail.
func collect(t interface {
	Helper()
	Fatalf(string, ...any)
}, windows iter.Seq2[*align.Window, error],
) []*align.Window {
	t.Helper()
	var all []*align.Window
	for w, err := range windows {
		if err != nil {
			t.Fatalf("merge failed: %v", err)
		}
		all = append(all, w)
	}
	return all
}

func merge(t testing.TB, jobs []jobRows, opt align.Options) ([]*align.Window, align.Stats) {
	t.Helper()
	var stats align.Stats
	return collect(t, align.Merged(context.Background(), streams(jobs), opt, &stats)), stats
}

// kinds are what the logs of one run may be like.
var kinds = map[string][]hist.Layout{
	"one layout":       {hist.Fio3(0)},
	"coarsenesses":     {hist.Fio3(0), hist.Fio3(2), hist.Fio3(6)},
	"fio 2":            {hist.Fio2(0), hist.Fio2(3)},
	"fio 2 and 3":      {hist.Fio2(0), hist.Fio3(0)},
	"fio 2 and 3, any": {hist.Fio2(1), hist.Fio3(0), hist.Fio3(3), hist.Fio2(4)},
	"more groups":      {rebuilt(hist.Nanoseconds, 34, 0)},
	"of some hosts":    {hist.Fio3(0), rebuilt(hist.Nanoseconds, 34, 2), rebuilt(hist.Nanoseconds, 31, 0)},
	"more, fio 2":      {rebuilt(hist.Microseconds, 24, 0), hist.Fio2(1)},
}

// anyKind draws one of these kinds, by default of all.
func anyKind(t *rapid.T, names ...string) []hist.Layout {
	if names == nil {
		names = slices.Sorted(maps.Keys(kinds))
	}
	return kinds[rapid.SampledFrom(names).Draw(t, "kind")]
}

// rebuilt returns the layout of a fio that was built with another number of groups.
func rebuilt(unit hist.Unit, groups, coarseness int) hist.Layout {
	l, err := hist.NewLayout(unit, groups, coarseness)
	if err != nil {
		panic(err)
	}
	return l
}

// runs draws the jobs of a run with one of these layouts each.
func runs(layouts []hist.Layout) *rapid.Generator[[]jobRows] {
	return rapid.Custom(func(t *rapid.T) []jobRows {
		var jobs []jobRows
		for range rapid.IntRange(0, 5).Draw(t, "jobs") {
			j := jobRows{
				host:    rapid.SampledFrom([]string{"a", "b", "c.example.com"}).Draw(t, "host"),
				job:     strconv.Itoa(rapid.IntRange(1, 11).Draw(t, "job")),
				section: rapid.SampledFrom([]string{"reader", "writer"}).Draw(t, "section"),
				last:    rapid.IntRange(0, 5).Draw(t, "last") == 0,
			}
			j.rows = rowsOf(t, rapid.SampledFrom(layouts).Draw(t, "layout"))
			jobs = append(jobs, j)
		}
		return jobs
	})
}

// rowsOf draws a job's rows: each direction's follow one another, and all of them come
// in order of their ends.
func rowsOf(t *rapid.T, layout hist.Layout) []align.Row {
	offset := rapid.Int64Range(0, 5000).Draw(t, "offset")
	var rows []align.Row
	for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, fiolog.Directions-1), 1, 2, rapid.ID).Draw(t, "directions") {
		at := offset
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			start := at
			at += rapid.OneOf(rapid.Just(int64(1000)), rapid.Int64Range(990, 1010),
				rapid.Int64Range(0, 5000), rapid.Int64Range(0, 70_000)).Draw(t, "length")
			if rapid.IntRange(0, 5).Draw(t, "moment") == 0 {
				start = at
			}
			b := rowBins(layout).Draw(t, "bins")
			rows = append(rows, align.Row{
				Start: start, End: at, Direction: fiolog.Direction(d),
				Layout: layout, Bins: b, Total: total(b),
			})
		}
	}
	slices.SortStableFunc(rows, func(a, b align.Row) int { return cmp.Compare(a.End, b.End) })
	return rows
}

func optionsOf(t *rapid.T) align.Options {
	window := rapid.SampledFrom([]int64{190, 1000, 1500, 30_000}).Draw(t, "window")
	opt := align.Options{
		Window:    window,
		Tolerance: rapid.SampledFrom([]int64{0, 10, 50, 1 << 20}).Draw(t, "tolerance"),
		Weighting: rapid.SampledFrom([]align.Weighting{align.InFlight, align.Completion}).Draw(t, "weighting"),
		SpreadAll: rapid.Bool().Draw(t, "all"),
		Workers:   rapid.IntRange(1, 4).Draw(t, "workers"),
	}
	// Rows of several directions begin before others that ended, which only in-flight weights allow while fio writes.
	opt.Live = rapid.Bool().Draw(t, "live") && opt.Weighting == align.InFlight
	for _, l := range align.Levels {
		if rapid.Bool().Draw(t, "level") {
			opt.Levels = append(opt.Levels, l)
		}
	}
	return opt
}
