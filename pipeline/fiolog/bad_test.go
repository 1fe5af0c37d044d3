package fiolog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// damages are the ways in which a good log of 18 rows was damaged: all were tried on
// the tools that existed before, and most of them crash, or answer wrongly.
var damages = map[string]func(rows []string) string{
	"allzero":           each(func(_ int, s string) string { return head(s) + strings.Repeat(", 0", 1856) }),
	"backwards":         func(rows []string) string { rows[2], rows[8] = rows[8], rows[2]; return join(rows) },
	"bigtime_4e12":      at(17, func(s string) string { return "4000000000000" + s[4:] }),
	"bins1857":          each(func(_ int, s string) string { return s + ", 0" }),
	"blanklines":        func(rows []string) string { return strings.Join(rows, "\n\n") + "\n\n" },
	"bom":               func(rows []string) string { return "\xef\xbb\xbf" + join(rows) },
	"bs0":               each(func(_ int, s string) string { return strings.Replace(s, ", 4096,", ", 0,", 1) }),
	"bs32m":             each(func(_ int, s string) string { return strings.Replace(s, ", 4096,", ", 33554432,", 1) }),
	"crlf":              each(func(_ int, s string) string { return s + "\r" }),
	"dir7":              at(6, func(s string) string { return "4031, 7" + s[7:] }),
	"dupts":             func(rows []string) string { return join(append(rows[:3], rows[2:]...)) },
	"empty":             func([]string) string { return "" },
	"floatcount":        at(6, func(s string) string { return s[:24] + "1.5" + s[25:] }),
	"good":              join,
	"hugecount":         at(6, func(s string) string { return s[:1791] + "18446744073709551615" + s[1792:] }),
	"hugetime":          at(17, func(s string) string { return "99999999999999999999" + s[4:] }),
	"metaonly":          at(6, head),
	"metaonly_trailing": at(17, func(s string) string { return head(s) + ", " }),
	"negative":          at(6, func(s string) string { return s[:1791] + "-" + s[1791:] }),
	"nofinalnewline":    func(rows []string) string { return strings.TrimSuffix(join(rows), "\n") },
	"nonnumeric":        at(6, func(s string) string { return "4031, abc" + s[7:] }),
	"norows_header":     func(rows []string) string { return "time, dir, bs\n" + join(rows) },
	"nul":               at(4, func(s string) string { return strings.Repeat("\x00", 4096) + s }),
	"zeros_at_end":      func(rows []string) string { return join(rows[:17]) + rows[17][:300] + strings.Repeat("\x00", 1<<18) },
	"tabs_spaces":       each(func(_ int, s string) string { return strings.ReplaceAll(s, ", ", " ,\t") }),
	"trim":              each(func(i int, s string) string { return s[:6] + fmt.Sprint(2-i%2) + s[7:] }),
	"trunc_midnumber":   func(rows []string) string { rows[17] = rows[17][:4393]; return strings.TrimSuffix(join(rows), "\n") },
	"wrongcount_mid":    at(6, func(s string) string { return s[:len(s)-21] }),
	"binary":            func([]string) string { return junk(40000) },
	"binary_mid":        func(rows []string) string { return join(rows[:6]) + junk(5000) + "\n" + join(rows[6:]) },

	"coarse3": func([]string) string { return string(busyLog(18, 232, 40)) },

	// Not tried on the others.
	"lastcount_cut": func(rows []string) string { s := join(rows); return s[:len(s)-2] + "12" },
	"cut_at_blank":  func(rows []string) string { rows[17] = rows[17][:4394]; return strings.TrimSuffix(join(rows), "\n") },
	"cut_to_928":    func(rows []string) string { rows[0] = columns(rows[0], 928); return join(rows) },
	"cut_in_head":   func(rows []string) string { rows[17] = "9031, 1"; return strings.TrimSuffix(join(rows), "\n") },
	"one_row_cut":   func(rows []string) string { return columns(rows[0], 928) },
	"late_job":      func(rows []string) string { return join(append(rows, rows[4:]...)) },
	"early_epoch":   each(func(i int, s string) string { return []string{"12", "1700000000123"}[min(i, 1)] + s[4:] }),
	"long_line":     at(3, func(string) string { return strings.Repeat("0, ", 100_000) }),
	"raw_log":       func([]string) string { return strings.Repeat("17, 153868, 0, 4096, 0\n", 100) },
}

func join(rows []string) string { return strings.Join(rows, "\n") + "\n" }
func head(s string) string      { return s[:strings.Index(s, ", 4096")+6] }

func columns(s string, n int) string {
	return strings.Join(strings.Split(s, ", ")[:3+n], ", ")
}

func at(i int, f func(string) string) func([]string) string {
	return func(rows []string) string { rows[i] = f(rows[i]); return join(rows) }
}

func each(f func(int, string) string) func([]string) string {
	return func(rows []string) string {
		for i, s := range rows {
			rows[i] = f(i, s)
		}
		return join(rows)
	}
}

// junk is n bytes of no meaning, the same ones each time.
func junk(n int) string {
	rng, b := rand.New(rand.NewPCG(3, 4)), make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}

func damaged(tb testing.TB, name string) string {
	rows := strings.Split(strings.TrimSuffix(string(golden.Gunzip(tb, filepath.Join("testdata", "good.log.gz"))), "\n"), "\n")
	return damages[name](rows)
}

// readAll reads a log to its end: the rows' times, and what was said about the rest.
func readAll(tb rapid.TB, src io.Reader) (rows []*fiolog.Record, faults []string, final error) {
	tb.Helper()
	return drain(tb, fiolog.NewReader(src, "x.log", fiolog.ClatHist))
}

func drain(tb rapid.TB, r *fiolog.Reader) (rows []*fiolog.Record, faults []string, final error) {
	tb.Helper()
	for {
		rec, err := r.Next()
		switch bad := (*fiolog.SyntaxError)(nil); {
		case errors.As(err, &bad):
			mark := ""
			if bad.Partial {
				mark = " (partial)"
			}
			faults = append(faults, err.Error()+mark)
		case err != nil:
			if _, again := r.Next(); again != err {
				tb.Errorf("the final error changes from %v to %v", err, again)
			}
			return rows, faults, err
		default:
			rows = append(rows, rec.Clone())
		}
	}
}

func TestReaderDamaged(t *testing.T) {
	const zeros = "zero bytes, as after a crash or in an incomplete copy"
	const seen = "1031r 1031w 2031r 2031w 3031r 3031w 4031r 4031w 5031r 5031w 6031r 6031w 7031r 7031w 8031r 8031w 9031r 9031w"
	without := func(row string) string { return strings.Replace(seen+" ", row+" ", "", 1)[:len(seen)-len(row)-1] }
	tests := []struct {
		name   string
		rows   string // "*" marks a new job
		faults []string
		final  string
	}{
		{name: "allzero", rows: seen},
		{name: "backwards", rows: "1031r 1031w 5031r 2031w 3031w 4031r 4031w 5031w 6031r 6031w 7031r 7031w 8031r 8031w 9031r 9031w", faults: []string{
			`x.log:5:1: got "3031", want a time no earlier than the last one of its direction, 5031`,
			`x.log:9:1: got "2031", want a time no earlier than the last one of its direction, 4031`,
		}},
		{name: "bigtime_4e12", rows: without("9031w"), faults: []string{
			`x.log:18:1: got "4000000000000", want a time near that of the row before, 9031`,
		}},
		{name: "blanklines", rows: seen},
		{name: "bom", rows: seen},
		{name: "bs0", rows: seen},
		{name: "bs32m", rows: seen},
		{name: "coarse3", rows: "1000r 1001w 2000r 2001w 3000r 3001w 4000r 4001w 5000r 5001w 6000r 6001w 7000r 7001w 8000r 8001w 9000r 9001w"},
		{name: "crlf", rows: seen},
		{name: "dir7", rows: without("4031r"), faults: []string{`x.log:7:7: got "7", want a direction: 0 (read), 1 (write) or 2 (trim)`}},
		{name: "dupts", rows: seen, faults: []string{`x.log:4:1: got "2031", want another row than the one before, which is the same`}},
		{name: "empty"},
		{name: "floatcount", rows: without("4031r"), faults: []string{`x.log:7:25: got "1.5", want a count`}},
		{name: "good", rows: seen},
		{name: "hugecount", rows: seen},
		{name: "hugetime", rows: without("9031w"), faults: []string{`x.log:18:1: got "99999999999999999999", want a time in ms`}},
		{name: "metaonly", rows: without("4031r"), faults: []string{`x.log:7:14: got 0 bins, want 1856 bins as in line 1`}},
		{name: "metaonly_trailing", rows: without("9031w"), faults: []string{`x.log:18:15: got "", want a count`}},
		{name: "negative", rows: without("4031r"), faults: []string{`x.log:7:1792: got "-1", want a count`}},
		{name: "nofinalnewline", rows: seen},
		{name: "nonnumeric", rows: without("4031r"), faults: []string{`x.log:7:7: got "abc", want a direction: 0 (read), 1 (write) or 2 (trim)`}},
		{name: "norows_header", rows: seen, faults: []string{`x.log:1:1: got "time", want a time in ms`}},
		{name: "nul", rows: without("3031r"), faults: []string{`x.log:5:1: got ` + zeros + `, want a time in ms`}},
		{name: "zeros_at_end", rows: without("9031w"), faults: []string{`x.log:18:301: got ` + zeros + `, want a count`}},
		{name: "tabs_spaces", rows: seen},
		{name: "trim", rows: strings.ReplaceAll(seen, "r", "t")},
		{name: "trunc_midnumber", rows: without("9031w"), faults: []string{`x.log:18:4394: got the end of the file, want a count (partial)`}},
		{name: "wrongcount_mid", rows: without("4031r"), faults: []string{`x.log:7:5599: got 1849 bins, want 1856 bins as in line 1`}},

		{name: "lastcount_cut", rows: without("9031w"), faults: []string{
			`x.log:18:5597: got the end of the file, want the end of the line: the last count may be cut off (partial)`,
		}},
		{name: "cut_at_blank", rows: without("9031w"), faults: []string{`x.log:18:4394: got the end of the file, want a count (partial)`}},
		{name: "cut_to_928", rows: without("1031r"), faults: []string{`x.log:1:2838: got 928 bins, want 1856 bins as in line 2`}},
		{name: "cut_in_head", rows: without("9031w"), faults: []string{`x.log:18:8: got the end of the file, want a block size (partial)`}},
		{name: "one_row_cut", faults: []string{`x.log:1:2838: got the end of the file, want the end of the line (partial)`}},
		{name: "late_job", rows: seen + " *4031r 4031w 5031r 5031w 6031r 6031w 7031r 7031w 8031r 8031w 9031r 9031w", faults: []string{
			`x.log:19:1: got "3031", want a time no earlier than the last one of its direction, 9031`,
			`x.log:20:1: got "3031", want a time no earlier than the last one of its direction, 9031`,
		}},
		{name: "early_epoch", rows: "12r" + strings.Repeat(" 1700000000123r 1700000000123w", 8), faults: []string{
			`x.log:2:1: got "1700000000123", want a time near that of the row before, 12`,
		}},
		{name: "long_line", rows: without("2031w"), faults: []string{
			`x.log:4:1: got more than 98304 bytes that begin with "0, 0, 0, 0, 0, 0, 0, 0, "…, want a row`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, faults, err := readAll(t, strings.NewReader(damaged(t, tt.name)))
			var got []string
			for _, r := range rows {
				mark := map[bool]string{true: "*"}[r.NewJob]
				got = append(got, fmt.Sprintf("%s%d%s", mark, r.Time, r.Direction.String()[:1]))
			}
			if d := cmp.Diff(tt.rows, strings.Join(got, " ")); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.faults, faults); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
			if err != io.EOF {
				t.Errorf("the final error is %v, want EOF", err)
			}
		})
	}
}

func TestReaderGivesUp(t *testing.T) {
	tests := []struct {
		name, log string
		want      error
		faults    int
	}{
		{"binary", damaged(t, "binary"), fiolog.ErrNotLog, 8},
		{"bins1857", damaged(t, "bins1857"), fiolog.ErrNotLog, 8},
		{"raw log", damaged(t, "raw_log"), fiolog.ErrNotLog, 8},
		{"one endless line", strings.Repeat("x", 3<<20), fiolog.ErrNotLog, 0},
		{"stored", string(golden.Gunzip(t, filepath.Join("testdata", "stored_hist.fz.gz"))), fiolog.ErrStoredCompressed, 0},
		{"stored, then inflated", "1003, 94415760687136, 0, 4096, 0\n1005, 94415760734800, 1, 4096, 0\n", fiolog.ErrStoredCompressed, 0},
		{"stored, samples", "\xeb\x03\x00\x00\x00\x00\x00\x00\x20\x80\xe0\xe1\xde\x55\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00", fiolog.ErrStoredCompressed, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, faults, err := readAll(t, strings.NewReader(tt.log))
			if !errors.Is(err, tt.want) || len(rows) > 0 || len(faults) != tt.faults {
				t.Errorf("got %d rows, errors %q and %v, want %d errors and %v", len(rows), faults, err, tt.faults, tt.want)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "x.log:") {
				t.Errorf("%q does not name the file", err)
			}
			if tt.faults > 0 && !strings.HasPrefix(err.Error(), faults[tt.faults-1]+":") {
				t.Errorf("%q does not say %q", err, faults[tt.faults-1])
			}
		})
	}
}

func TestReaderJunkBetweenRows(t *testing.T) {
	log := damaged(t, "binary_mid")
	rows, faults, err := readAll(t, strings.NewReader(log))
	lines := bytes.Count([]byte(log), []byte("\n"))
	if len(rows) != 18 || len(faults) == 0 || len(rows)+len(faults) > lines || err != io.EOF {
		t.Errorf("got %d rows, %d errors and %v, want all 18 rows, at most %d lines and EOF", len(rows), len(faults), err, lines)
	}
	for _, f := range faults {
		if strings.ContainsFunc(f, func(r rune) bool { return r != '…' && (r < ' ' || r > '~') }) {
			t.Errorf("%q is not printable", f)
		}
	}
}
