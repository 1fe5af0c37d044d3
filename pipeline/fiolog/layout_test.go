package fiolog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

func layoutOf(tb testing.TB, unit hist.Unit, groups, coarseness int) hist.Layout {
	tb.Helper()
	l, err := hist.NewLayout(unit, groups, coarseness)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// hinted reads a log with a hint.
func hinted(tb testing.TB, log []byte, hint hist.Hint) ([]*fiolog.Record, []string, error) {
	tb.Helper()
	r := fiolog.NewReader(bytes.NewReader(log), "x.log", fiolog.ClatHist)
	r.Hint = hint
	return drain(tb, r)
}

// TestReaderAnyLayout reads logs of all numbers of groups with all that is known of them, and
// what those that a fio as it is released does not write say without.
func TestReaderAnyLayout(t *testing.T) {
	for groups := hist.MinGroups; groups <= hist.MaxGroups; groups++ {
		for c := range 7 {
			for _, unit := range []hist.Unit{hist.Nanoseconds, hist.Microseconds} {
				want := layoutOf(t, unit, groups, c)
				log := busyLog(3, want.Len(), 5)
				rows, faults, err := hinted(t, log, hist.Hint{Unit: unit, Groups: groups})
				if len(rows) != 3 || len(faults) > 0 || err != io.EOF || rows[0].Layout != want {
					t.Fatalf("%v: got %d rows, %q, %v", want, len(rows), faults, err)
				}
				_, usual := hist.Resolve(want.Len(), hist.Hint{})
				rows, faults, err = readAll(t, bytes.NewReader(log))
				if usual == nil && (len(rows) != 3 || err != io.EOF) {
					t.Fatalf("%v, without a hint: got %d rows, %q, %v", want, len(rows), faults, err)
				}
				if usual != nil && (len(rows) > 0 || len(faults) > 0 || !errors.Is(err, hist.ErrLayout) || !strings.HasPrefix(err.Error(), "x.log:1: ")) {
					t.Fatalf("%v, without a hint: got %d rows, %q, %v", want, len(rows), faults, err)
				}
			}
		}
	}
}

// TestReaderMoreGroupsDamaged: damage does not hide which layout a log has.
func TestReaderMoreGroupsDamaged(t *testing.T) {
	lines := strings.SplitAfter(string(busyLog(6, 34*64, 5)), "\n")
	cut := func(row string, n int) string { return columns(strings.TrimSuffix(row, "\n"), n) + "\n" }
	known := hist.Hint{Unit: hist.Nanoseconds, Evidence: hist.Implied}
	for _, c := range []struct {
		name   string
		log    string
		hint   hist.Hint
		rows   int
		faults []string
		err    string
	}{
		{"whole", strings.Join(lines, ""), known, 6, nil, "EOF"},
		{"first row cut to what 17 groups have", cut(lines[0], 17*64) + strings.Join(lines[1:], ""), known, 5,
			[]string{"x.log:1:%d: got 1088 bins, want 2176 bins as in line 2"}, "EOF"},
		{"first row cut to what nothing has", cut(lines[0], 1100) + strings.Join(lines[1:], ""), known, 5,
			[]string{"x.log:1:%d: got 1100 bins, want 1856 or 1216 bins, or one of these divided by 2, 4, 8, 16, 32 or 64"}, "EOF"},
		{"later row cut to what fio 3 has", strings.Join(lines[:4], "") + cut(lines[4], 1856) + lines[5], known, 5,
			[]string{"x.log:5:%d: got 1856 bins, want 2176 bins as in line 1"}, "EOF"},
		{"the only row cut", strings.TrimSuffix(cut(lines[0], 1856), "\n"), hist.Hint{Unit: hist.Nanoseconds, Groups: 34}, 0,
			[]string{"x.log:1:%d: got the end of the file, want the end of the line (partial)"}, "EOF"},
		{"nothing known", strings.Join(lines, ""), hist.Hint{}, 0, nil,
			"x.log:1: 2176 bins can be 34 groups (coarseness 0), of ns (fio 3) or us (fio 2): set FIO2ES_UNIT=ns or FIO2ES_UNIT=us, or put fio's JSON report beside the logs"},
		{"another number said", strings.Join(lines, ""), hist.Hint{Unit: hist.Nanoseconds, Groups: 24}, 0, nil,
			"x.log:1: 2176 bins contradict 24 groups of ns: they can be 34 groups (coarseness 0), of ns (fio 3) or us (fio 2); " +
				"correct FIO2ES_GROUPS and FIO2ES_UNIT, or drop them if fio's JSON report is beside the logs"},
		{"nothing known, in a log of fio 3 whose first rows are cut",
			cut(lines[0], 1088) + cut(lines[1], 1024) + cut(lines[2], 1536) + cut(lines[3], 1856) + cut(lines[4], 1856), hist.Hint{}, 2,
			[]string{"x.log:1:%d: got 1088 bins, want 1856 bins as in line 4", "x.log:2:%d: got 1024 bins, want 1856 bins as in line 4", "x.log:3:%d: got 1536 bins, want 1856 bins as in line 4"}, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, faults, err := hinted(t, []byte(c.log), c.hint)
			for i := range faults { // a fault's column is the line's end, which is not what this is about
				if i < len(c.faults) {
					head := strings.SplitN(faults[i], ":", 4)
					c.faults[i] = strings.Replace(c.faults[i], "%d", head[2], 1)
				}
			}
			if len(rows) != c.rows || err.Error() != c.err || !cmp.Equal(c.faults, faults) {
				t.Errorf("got %d rows, %q, %v\nwant %d rows, %q, %s", len(rows), faults, err, c.rows, c.faults, c.err)
			}
		})
	}
}

// TestReaderForgetsHint with the log that it was for.
func TestReaderForgetsHint(t *testing.T) {
	log := busyLog(3, 24*64, 5)
	r := fiolog.NewReader(bytes.NewReader(log), "x.log", fiolog.ClatHist)
	r.Hint = hist.Hint{Unit: hist.Microseconds, Groups: 24}
	if rows, _, err := drain(t, r); len(rows) != 3 || err != io.EOF {
		t.Fatalf("got %d rows, %v", len(rows), err)
	}
	r.Reset(bytes.NewReader(log), "x.log", fiolog.ClatHist)
	if _, err := r.Next(); !errors.Is(err, hist.ErrLayout) {
		t.Errorf("got %v", err)
	}
}

// reportOf is a report with one histogram of reads, of bins named by fio's value.
func reportOf(field string, scale int64, layout hist.Layout, bins []hist.Bin) string {
	var list []string
	for _, b := range bins {
		list = append(list, fmt.Sprintf(`"%d": %d`, layout.Representative(int(b.Index))/scale, b.Count))
	}
	return fmt.Sprintf(`{"fio version": "fio-x", "jobs": [{"read": {%q: {"bins": {%s}}}, "write": {%[1]q: {"bins": {"5": 3}}}}]}`, field, strings.Join(list, ", "))
}

// TestReportOfMoreGroups: bins of any latency are read, and the layout is the usual one
// unless they need more; all of a report have the same.
func TestReportOfMoreGroups(t *testing.T) {
	for _, c := range []struct {
		field string
		unit  hist.Unit
		scale int64
		usual int
	}{{"clat_ns", hist.Nanoseconds, 1, 29}, {"clat", hist.Microseconds, 1000, 19}} {
		widest := layoutOf(t, c.unit, 64, 0)
		for last := 0; last < widest.Real()-64; last += 61 {
			bins := []hist.Bin{{Index: uint32(last), Count: 7}}
			reports, faults := readReports(strings.NewReader(reportOf(c.field, c.scale, widest, bins)))
			if len(reports) != 1 || len(faults) > 0 {
				t.Fatalf("bin %d: %q", last, faults)
			}
			want := layoutOf(t, c.unit, max(c.usual, last/64+1), 0)
			for _, d := range []fiolog.Direction{fiolog.Read, fiolog.Write} {
				if got := reports[0].Jobs[0].Directions[d].Clat; got.Layout != want {
					t.Fatalf("bin %d, %v: got %v, want %v", last, d, got.Layout, want)
				}
			}
			if got := reports[0].Jobs[0].Directions[fiolog.Read].Clat.Bins; !cmp.Equal(got, bins) {
				t.Fatalf("got %v, want %v", got, bins)
			}
			if reports[0].Unit != c.unit || reports[0].Groups() != want.Groups() {
				t.Fatalf("got %d groups of %v", reports[0].Groups(), reports[0].Unit)
			}
		}
	}
	for _, key := range []string{"128", "-3", "9223372036854775807", "18446744073709551615", "x"} {
		doc := fmt.Sprintf(`{"fio version": "fio-3.33", "jobs": [{"read": {"clat_ns": {"bins": {%q: 1}}}}]}`, key)
		if reports, faults := readReports(strings.NewReader(doc)); len(reports) > 0 || len(faults) != 1 {
			t.Errorf("bin %s: %d reports, %q", key, len(reports), faults)
		}
	}
	// Old reports say how many bins there are.
	doc := `{"fio version": "fio-2.16", "jobs": [{"read": {"clat": {"bins": {"FIO_IO_U_PLAT_NR": 1536, "317": 2, "FIO_IO_U_PLAT_BITS": 6}}}}]}`
	reports, faults := readReports(strings.NewReader(doc))
	if len(faults) > 0 || len(reports) != 1 || reports[0].Jobs[0].Directions[fiolog.Read].Clat.Layout != layoutOf(t, hist.Microseconds, 24, 0) {
		t.Errorf("%q", faults)
	}
}

// TestLatencyHistogram: what else is known of the groups corrects what the bins show.
func TestLatencyHistogram(t *testing.T) {
	l := fiolog.Latency{Layout: hist.Fio3(0), Bins: []hist.Bin{{Index: 5, Count: 2}, {Index: 1855, Count: 1}}}
	for _, c := range []struct {
		groups int
		want   hist.Layout
		open   bool
		last   int
	}{
		{0, hist.Fio3(0), true, 1855},
		{29, hist.Fio3(0), true, 1855},
		{34, layoutOf(t, hist.Nanoseconds, 34, 0), false, 1855},
		{20, layoutOf(t, hist.Nanoseconds, 20, 0), true, 1279},
		{99, hist.Fio3(0), true, 1855},
	} {
		h := l.Histogram(c.groups)
		w := h.Weights()
		if h.Layout() != c.want || h.Max().Open != c.open || h.Total() != 3 || w[1].Index != c.last || h.Rebinned() {
			t.Errorf("%d groups: %v of %v, the slowest %+v", c.groups, w, h.Layout(), h.Max())
		}
	}
}

func TestReportHint(t *testing.T) {
	for _, c := range []struct {
		doc  string
		want hist.Hint
	}{
		{`{"fio version": "fio-3.33", "global options": {"write_hist_log": "x"}, "jobs": [{}]}`, hist.Hint{Unit: hist.Nanoseconds, Evidence: hist.Implied}},
		{`{"fio version": "fio-3.33", "global options": {"log_hist_coarseness": "2"}, "jobs": [{"job options": {"log_hist_coarseness": " 1"}}]}`,
			hist.Hint{Unit: hist.Nanoseconds, Coarseness: 1, Evidence: hist.Stated}},
		{`{"fio version": "fio-2.21", "jobs": [{"job options": {"log_hist_msec": "1000"}}]}`, hist.Hint{Unit: hist.Microseconds, Evidence: hist.Implied}},
		{`{"fio version": "fio-3.33", "jobs": [{"job options": {"rw": "read"}}]}`, hist.Hint{Unit: hist.Nanoseconds}},
		{`{"fio version": "fio-3.33", "global options": {"log_hist_coarseness": "much"}, "jobs": [{}]}`, hist.Hint{Unit: hist.Nanoseconds}},
		{`{"fio version": "fio-2.99-7-gabc", "jobs": [{"write": {"clat_ns": {}}}]}`, hist.Hint{Unit: hist.Nanoseconds}},
		{`{"fio version": "mine", "jobs": [{"write": {"lat": {}}}]}`, hist.Hint{Unit: hist.Microseconds}},
		{`{"fio version": "mine", "jobs": [{}]}`, hist.Hint{}},
	} {
		reports, faults := readReports(strings.NewReader(c.doc))
		if len(reports) != 1 || len(faults) > 0 {
			t.Fatalf("%s: %q", c.doc, faults)
		}
		if got := reports[0].Hint(0); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.doc, got, c.want)
		}
	}
	if got := (&fiolog.Report{}).Hint(math.MaxInt); got != (hist.Hint{}) {
		t.Errorf("no job: got %+v", got)
	}
}

// TestReaderLongestRow has all columns that there can be, as wide as they can be.
func TestReaderLongestRow(t *testing.T) {
	for name, count := range map[string]string{"fast": "9999999999999999", "slow": "00000000000000000001"} {
		three := func(row string) []byte { return []byte("1" + row + "2" + row + "3" + row) }
		row := "000, 0, 4096" + strings.Repeat(", "+count, hist.MaxColumns) + "\n"
		hint := hist.Hint{Unit: hist.Microseconds}
		rows, faults, err := hinted(t, three(row), hint)
		if len(rows) != 0 || len(faults) != 3 || err != io.EOF {
			t.Errorf("%s: requests at latencies of 292 years: got %d rows, %.200q, %v", name, len(rows), faults, err)
		}
		// Bins at latencies that can be: the rest are zeros of as many digits.
		real := layoutOf(t, hist.Microseconds, 64, 0).Real()
		row = "000, 0, 4096" + strings.Repeat(", "+count, real) + strings.Repeat(", "+strings.Repeat("0", len(count)), hist.MaxColumns-real) + "\n"
		rows, faults, err = hinted(t, three(row), hint)
		if len(rows) != 3 || len(faults) != 0 || err != io.EOF || len(rows[2].Bins) != real {
			t.Errorf("%s: got %d rows, %.200q, %v", name, len(rows), faults, err)
		}
	}
}
