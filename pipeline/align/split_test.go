package align_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

var fine = hist.Fio3(0)

// bin has n requests that took ms milliseconds.
func bin(ms float64, n uint64) hist.Bin {
	return hist.Bin{Index: uint32(fine.Index(int64(ms * 1e6))), Count: n}
}

func bins(b ...hist.Bin) []hist.Bin { return b }

func total(b []hist.Bin) uint64 {
	sum := uint64(0)
	for i := range b {
		sum += b[i].Count
	}
	return sum
}

// logged is a row as it stands in a log of reads.
type logged struct {
	time int64
	bins []hist.Bin
}

// part identifies a part of a split row.
type part struct {
	Start, End int64
	Bins       []hist.Bin
}

func parts(s *align.Splitter, rows ...logged) []part {
	var out []part
	for _, r := range rows {
		for _, row := range s.Split(r.time, fiolog.Read, fine, r.bins, total(r.bins)) {
			out = append(out, part{row.Start, row.End, slices.Clone(row.Bins)})
		}
	}
	return out
}

// quick is a row of many requests that took a millisecond.
func quick(time int64) logged { return logged{time, bins(bin(1, 500))} }

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name     string
		interval int64
		rows     []logged
		want     []part
	}{
		{"a little late", 1000, []logged{quick(1007), quick(2009), quick(3050)}, []part{
			{0, 1007, quick(0).bins}, {1007, 2009, quick(0).bins}, {2009, 3050, quick(0).bins},
		}},
		{"late by a slow request", 1000, []logged{quick(1000), quick(2000), {4500, bins(bin(1, 500), bin(1600, 1))}}, []part{
			{0, 1000, quick(0).bins},
			{1000, 2000, quick(0).bins},
			{2000, 3000, quick(0).bins},
			{4500, 4500, bins(bin(1600, 1))},
		}},
		{"late by one of several slow ones", 1000, []logged{quick(1000), {2700, bins(bin(1, 500), bin(900, 4))}}, []part{
			{0, 1000, quick(0).bins},
			{1000, 2000, bins(bin(1, 500), bin(900, 3))},
			{2700, 2700, bins(bin(900, 1))},
		}},
		{"late though all were quick: a slow one", 1000, []logged{quick(1000), {4500, bins(bin(1, 10), bin(2, 400), bin(3, 100), bin(9, 3))}}, []part{
			{0, 1000, quick(0).bins},
			{1000, 2000, bins(bin(1, 10), bin(2, 400), bin(3, 99), bin(9, 3))},
			{4500, 4500, bins(bin(3, 1))},
		}},
		{"late by a request beyond the last bin", 1000, []logged{quick(1000), {62_000, bins(bin(1, 500), bin(17_180, 1))}}, []part{
			{0, 1000, quick(0).bins},
			{1000, 2000, quick(0).bins},
			{62_000, 62_000, bins(bin(17_180, 1))},
		}},
		{"late and alone", 1000, []logged{quick(1000), {4500, bins(bin(2600, 1))}}, []part{
			{0, 1000, quick(0).bins},
			{4500, 4500, bins(bin(2600, 1))},
		}},
		{"catching up", 1000, []logged{
			quick(1000), {4500, bins(bin(1, 500), bin(2600, 1))}, {4500, bins(bin(1, 1))}, {4502, bins(bin(1, 1))}, quick(5000),
		}, []part{
			{0, 1000, quick(0).bins},
			{1000, 2000, quick(0).bins},
			{4500, 4500, bins(bin(2600, 1))},
			{4500, 4500, bins(bin(1, 1))},
			{4502, 4502, bins(bin(1, 1))},
			{4502, 5000, quick(0).bins},
		}},
		{"first row: clock began with the first completion", 1000, []logged{quick(1400), quick(2400)}, []part{
			{400, 1400, quick(0).bins}, {1400, 2400, quick(0).bins},
		}},
		{"first row: direction began late", 1000, []logged{quick(5300), quick(6300)}, []part{
			{4300, 5300, quick(0).bins}, {5300, 6300, quick(0).bins},
		}},
		{"first row: stalled at once", 1000, []logged{{5300, bins(bin(1, 500), bin(4600, 1))}}, []part{
			{0, 1000, quick(0).bins}, {5300, 5300, bins(bin(4600, 1))},
		}},
		{"first row: slow, but not from the start", 1000, []logged{{5300, bins(bin(1, 500), bin(2000, 1))}}, []part{
			{4300, 5300, bins(bin(1, 500), bin(2000, 1))},
		}},
		{"clock found to have begun earlier than it seemed", 1000, []logged{quick(1400), quick(2050), {4500, bins(bin(1, 500), bin(1600, 1))}}, []part{
			{400, 1400, quick(0).bins},
			{1400, 2050, quick(0).bins},
			{2050, 3050, quick(0).bins},
			{4500, 4500, bins(bin(1600, 1))},
		}},
		{"unknown interval", 0, []logged{quick(1000), quick(5000), quick(5000)}, []part{
			{0, 1000, quick(0).bins}, {1000, 5000, quick(0).bins}, {5000, 5000, quick(0).bins},
		}},
		{"wrong interval: rows come too fast for it", 1000, []logged{quick(500), quick(1000), {6000, bins(bin(1, 500), bin(4900, 1))}}, []part{
			{0, 500, quick(0).bins}, {500, 1000, quick(0).bins}, {1000, 6000, bins(bin(1, 500), bin(4900, 1))},
		}},
		{"idle row", 1000, []logged{quick(1000), {3500, nil}, quick(4000)}, []part{
			{0, 1000, quick(0).bins}, {1000, 3500, nil}, {3500, 4000, quick(0).bins},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, parts(align.NewSplitter(c.interval), c.rows...)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSplitStalledDirection: if the job stalled before a direction wrote its first row, this comes late, too, right after the
// row of the direction with the slow request. It began with the job, nevertheless.
func TestSplitStalledDirection(t *testing.T) {
	slow, quick := bins(bin(1, 500), bin(400, 1)), bins(bin(1, 500))
	for _, c := range []struct {
		name  string
		at    int64 // of the first row of the other direction
		start int64
	}{{"right after", 1205, 0}, {"later", 1400, 400}} {
		s := align.NewSplitter(1000)
		s.Split(1202, fiolog.Read, hist.Fio3(0), slow, 501)
		rows := s.Split(c.at, fiolog.Write, hist.Fio3(0), quick, 500)
		if got := rows[0]; got.Start != c.start || got.End > c.start+1000 {
			t.Errorf("%s: from %d to %d, want from %d", c.name, got.Start, got.End, c.start)
		}
	}
}

// TestLose: after rows that could not be read, the next one covers its own
// interval, and the clock still counts.
func TestLose(t *testing.T) {
	s := align.NewSplitter(1000)
	s.Gap() // before any row: nothing that the first one could follow
	got := parts(s, quick(1000))
	s.Gap()
	got = append(got, parts(s, quick(5004), quick(6004), logged{8500, bins(bin(1, 500), bin(1500, 1))})...)
	want := []part{
		{0, 1000, quick(0).bins},
		{4004, 5004, quick(0).bins},
		{5004, 6004, quick(0).bins},
		{6004, 7000, quick(0).bins},
		{8500, 8500, bins(bin(1500, 1))},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// tailOf returns the times of the tail of a job that ended at a time.
func tailOf(s *align.Splitter, d fiolog.Direction, end int64, complete bool) (from, to int64) {
	tail := s.Tail(d)
	return tail.From, tail.Until(end, complete)
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		name     string
		interval int64
		rows     []logged
		end      int64
		complete bool
		from, to int64
	}{
		{"within the next interval", 1000, []logged{quick(1000), quick(2003)}, 2600, true, 2003, 2600},
		{"job that ended long after its last request", 1000, []logged{quick(1000), quick(2003)}, 9000, true, 2003, 3000},
		{"log that was cut short", 1000, []logged{quick(1000), quick(2003)}, 9000, false, 2003, 9000},
		{"clock that began late", 1000, []logged{quick(1400), quick(2400)}, 9000, true, 2400, 3400},
		{"after a stall", 1000, []logged{quick(1000), {4500, bins(bin(1, 500), bin(2600, 1))}}, 9000, true, 4500, 4500},
		{"unknown interval", 0, []logged{quick(1000)}, 9000, true, 1000, 9000},
		{"no rows", 1000, nil, 700, true, 0, 700},
		{"report that says less than the log", 1000, []logged{quick(1000), quick(2003)}, 1500, true, 2003, 2003},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := align.NewSplitter(c.interval)
			parts(s, c.rows...)
			from, to := tailOf(s, fiolog.Read, c.end, c.complete)
			if from != c.from || to != c.to {
				t.Errorf("(%d, %d], want (%d, %d]", from, to, c.from, c.to)
			}
			if from, to := tailOf(s, fiolog.Trim, c.end, c.complete); from != 0 || to != c.end {
				t.Errorf("direction without rows: (%d, %d], want (0, %d]", from, to, c.end)
			}
		})
	}
}

// checkSplit fails unless the rows are in order, the first of them not before last, and
// contain just what the log's row does. It returns where they end.
func checkSplit(t interface {
	Helper()
	Errorf(string, ...any)
}, rows []align.Row, last int64, rec *fiolog.Record, time int64,
) int64 {
	t.Helper()
	if len(rows) == 0 || len(rows) > 3 {
		t.Errorf("line %d became %d rows", rec.Line, len(rows))
	}
	sum := map[uint32]uint64{}
	for _, r := range rows {
		if r.Start < last || r.End < r.Start || r.End > time {
			t.Errorf("line %d, time %d: (%d, %d] after one that ended at %d", rec.Line, time, r.Start, r.End, last)
		}
		last = r.End
		if r.Total != total(r.Bins) || r.Direction != rec.Direction || r.Layout != rec.Layout {
			t.Errorf("line %d: %d requests said to be %d, %s, %s", rec.Line, total(r.Bins), r.Total, r.Direction, r.Layout)
		}
		for i, b := range r.Bins {
			if b.Count == 0 || i > 0 && b.Index <= r.Bins[i-1].Index {
				t.Errorf("line %d: bin %d of %d requests", rec.Line, b.Index, b.Count)
			}
			sum[b.Index] += b.Count
		}
	}
	for _, b := range rec.Bins {
		sum[b.Index] -= b.Count
	}
	for i, n := range sum {
		if n != 0 {
			t.Errorf("line %d: %d requests more than there were in bin %d", rec.Line, int64(n), i)
		}
	}
	return last
}

func TestSplitKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := align.NewSplitter(rapid.SampledFrom([]int64{0, 1, 100, 1000, 60_000}).Draw(t, "interval"))
		s.Exact = rapid.Bool().Draw(t, "exact")
		var at int64
		var last [fiolog.Directions]int64
		for line := range rapid.IntRange(1, 40).Draw(t, "rows") {
			at += rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 3), rapid.Int64Range(900, 1100),
				rapid.Int64Range(0, 100_000), rapid.Int64Range(1e11, 1e12)).Draw(t, "step")
			rec := &fiolog.Record{Line: line + 1, Layout: fine, Bins: rowBins(fine).Draw(t, "bins")}
			rec.Direction = fiolog.Direction(rapid.IntRange(0, fiolog.Directions-1).Draw(t, "direction"))
			if rapid.IntRange(0, 9).Draw(t, "lose") == 0 {
				s.Gap()
			}
			next := func() (uint64, bool) {
				return rapid.Uint64Range(1, 3).Draw(t, "next"), rapid.Bool().Draw(t, "more")
			}
			s.Misses(at, rec.Direction, rec.Layout, rec.Bins, total(rec.Bins), next)
			rows := s.Split(at, rec.Direction, rec.Layout, rec.Bins, total(rec.Bins))
			checkSplit(t, rows, last[rec.Direction], rec, at)
			if end := rows[len(rows)-1].End; end != at {
				t.Errorf("line %d, time %d: the last row ends at %d", rec.Line, at, end)
			}
			last[rec.Direction] = at
			end := rapid.Int64Range(0, 2e12).Draw(t, "end")
			from, to := tailOf(s, rec.Direction, end, rapid.Bool().Draw(t, "complete"))
			if from != at || to < from || to > max(end, at) {
				t.Errorf("tail (%d, %d] of a job that ended at %d, after a row at %d", from, to, end, at)
			}
		}
	})
}

// rowBins draws the bins of a row, none of them empty.
func rowBins(l hist.Layout) *rapid.Generator[[]hist.Bin] {
	return rapid.Custom(func(t *rapid.T) []hist.Bin {
		indexes := rapid.SliceOfNDistinct(rapid.Uint32Range(0, uint32(l.Len()-1)), 1, 5, rapid.ID).Draw(t, "indexes")
		slices.Sort(indexes)
		var out []hist.Bin
		for _, i := range indexes {
			n := rapid.OneOf(rapid.Uint64Range(1, 3), rapid.Uint64Range(1, 1<<20)).Draw(t, "requests")
			out = append(out, hist.Bin{Index: i, Count: n})
		}
		return out
	})
}

// TestMisses: rows that are missing are found, and those around them stay where they were. Stalls are none.
func TestMisses(t *testing.T) {
	type in struct {
		at int64
		n  uint64
	}
	for _, c := range []struct {
		name   string
		rows   []in
		missed []int64 // times of rows before which others are missing
		first  []int64 // the start of the last of these
		tail   int64   // how long requests may follow the last row without another row
	}{
		{"all there", []in{{1002, 500}, {2002, 500}, {3003, 500}, {4002, 500}}, nil, nil, 900},
		{"one missing", []in{{1002, 500}, {2002, 500}, {4002, 500}, {5002, 500}, {6002, 500}}, []int64{4002}, []int64{3002}, 900},
		{"one missing, some milliseconds off", []in{{1005, 500}, {3003, 500}, {4004, 500}}, []int64{3003}, []int64{2003}, 900},
		{"three missing", []in{{1002, 500}, {5002, 500}, {6003, 500}, {7002, 500}}, []int64{5002}, []int64{4002}, 900},
		{"two gaps", []in{{1002, 500}, {3002, 500}, {4002, 500}, {6002, 500}, {7002, 500}}, []int64{3002, 6002}, []int64{2002, 5002}, 900},
		{"before the last row", []in{{1002, 500}, {2002, 500}, {4002, 500}}, []int64{4002}, []int64{3002}, 900},
		{"rows after a stall", []in{{1002, 500}, {4500, 500}, {5002, 250}, {6002, 500}}, []int64{4500}, []int64{3500}, 900},
		{"some rows after a stall", []in{{1002, 500}, {4500, 500}, {4501, 1}, {5002, 250}, {6002, 500}}, []int64{5002}, []int64{4501}, 900},
		{"a stall", []in{{1002, 500}, {4500, 500}, {4501, 1}, {4503, 1}, {5002, 250}, {6002, 500}}, nil, nil, 900},
		{"a stall of almost an interval", []in{{1002, 500}, {2970, 500}, {3002, 20}, {4002, 500}}, nil, nil, 900},
		{"few requests", []in{{1002, 1}, {3500, 1}, {4700, 1}, {6100, 1}, {9000, 1}}, nil, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, exact := range []bool{true, false} {
				s := align.NewSplitter(1000)
				s.Exact = exact
				var missed, starts []int64
				var requests, want uint64
				for i, r := range c.rows {
					b := bins(bin(1, r.n))
					next := func() (uint64, bool) {
						if i+1 == len(c.rows) {
							return 0, false
						}
						return c.rows[i+1].n, true
					}
					misses := s.Misses(r.at, fiolog.Read, fine, b, r.n, next)
					rows := s.Split(r.at, fiolog.Read, fine, b, r.n)
					for _, row := range rows {
						requests += row.Total
					}
					if want += r.n; misses {
						missed, starts = append(missed, r.at), append(starts, rows[0].Start)
					}
				}
				if exact && (!slices.Equal(missed, c.missed) || !slices.Equal(starts, c.first)) || !exact && missed != nil {
					t.Errorf("exact %v: missing before %v, which begin at %v, want %v, %v", exact, missed, starts, c.missed, c.first)
				}
				last := c.rows[len(c.rows)-1].at
				if from, to := tailOf(s, fiolog.Read, last+900, true); exact && (from != last || to != last+c.tail) || requests != want {
					t.Errorf("tail in (%d, %d], want (%d, +%d]; %d requests of %d", from, to, last, c.tail, requests, want)
				}
			}
		})
	}
	s := align.NewSplitter(1000) // without a next row, a slow request shows a stall
	s.Exact = true
	parts(s, quick(1002))
	b := bins(bin(1, 500), bin(1600, 1))
	if s.Misses(3500, fiolog.Read, fine, b, 501, func() (uint64, bool) { return 0, false }) {
		t.Error("rows are missing before a stall at the end")
	}
}

// TestBegin: the first rows show when the clock of a direction began, at its first completion.
func TestBegin(t *testing.T) {
	for _, c := range []struct {
		name string
		rows []logged
		want []part // of the first row
	}{
		{"on time", []logged{quick(1004), quick(2003)}, []part{{0, 1004, quick(0).bins}}},
		{"first completion late", []logged{quick(1700), quick(2702), quick(3701)}, []part{
			{700, 700, bins(bin(1, 1))}, {700, 1700, bins(bin(1, 499))},
		}},
		{"a stall at once", []logged{{1700, bins(bin(1, 500), bin(690, 8))}, quick(2702), quick(3701)}, []part{
			{700, 700, bins(bin(690, 1))}, {700, 1700, bins(bin(1, 500), bin(690, 7))},
		}},
		{"a stall in the first second", []logged{{1200, bins(bin(1, 100), bin(900, 1))}, quick(2003), quick(3002)}, []part{
			{0, 1002, bins(bin(1, 100))}, {1200, 1200, bins(bin(900, 1))},
		}},
		{"bursts", []logged{quick(1840), quick(2760), quick(3680), quick(4600), quick(5520), quick(6440), quick(7360)}, []part{
			{0, 1000, bins(bin(1, 499))}, {1840, 1840, bins(bin(1, 1))},
		}},
		{"2 requests a second", []logged{{1503, bins(bin(1, 4))}, {2500, bins(bin(1, 2))}, {3502, bins(bin(1, 2))}}, []part{
			{500, 500, bins(bin(1, 1))}, {500, 1503, bins(bin(1, 3))},
		}},
		{"after a missing row", []logged{quick(2502), quick(3501), quick(5502)}, []part{
			{1501, 1501, bins(bin(1, 1))}, {1501, 2502, bins(bin(1, 499))},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var times []int64
			for _, r := range c.rows {
				times = append(times, r.time)
			}
			s := align.NewSplitter(1000)
			s.Begin(fiolog.Read, times)
			if d := cmp.Diff(c.want, parts(s, c.rows[0])); d != "" {
				t.Error(d)
			}
		})
	}
	if zero, latest := align.Began(0, []int64{1700}); zero != 0 || latest != 0 {
		t.Errorf("an unknown interval: %d, %d", zero, latest)
	}
}

// TestStages: in a log of several stages of jobs, a late row is the first one of another job.
func TestStages(t *testing.T) {
	rows := []logged{quick(1002), quick(2002), quick(7113), quick(8113), quick(9114)}
	s := align.NewSplitter(1000)
	s.Stages = true
	var got [][2]int64
	for _, p := range parts(s, rows...) {
		got = append(got, [2]int64{p.Start, p.End})
	}
	want := [][2]int64{{0, 1002}, {1002, 2002}, {6113, 7113}, {7113, 8113}, {8113, 9114}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if from, to := tailOf(s, fiolog.Read, 9900, true); from != 9114 || to != 9900 {
		t.Errorf("tail in (%d, %d]", from, to)
	}
}

// TestBegan: when the clock of a direction began. Rows that came together after a stall, or late by chance, do not show it.
func TestBegan(t *testing.T) {
	for _, c := range []struct {
		times      []int64
		zero, late int64
	}{
		{[]int64{1004, 2002, 3003}, 2, 2},
		{[]int64{1503, 2501, 3502}, 501, 501}, // the direction began half a second after the job
		{[]int64{3501, 3501, 3502}, 0, 502},   // a stall from the first second to the end
		{[]int64{3500, 3500}, 0, 1500},        // with few requests after it
		{[]int64{1310, 2740, 3650}, 0, 310},
		{[]int64{2300, 2300, 3001, 4002}, 1, 1},
		{[]int64{1502, 4700, 4700, 4700, 5503}, 502, 502},
	} {
		if zero, late := align.Began(1000, c.times); zero != c.zero || late != c.late {
			t.Errorf("%v: began at %d, latest %d, want %d and %d", c.times, zero, late, c.zero, c.late)
		}
	}
}
