package fiolog

import (
	"bytes"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
)

// oracle reads a line in the most obvious way. ok is false if any number is bad.
func oracle(line string) (numbers []uint64, ok bool) {
	for i, field := range strings.Split(strings.TrimRight(line, " \t\r\n"), ",") {
		field = strings.Trim(field, " \t")
		v, err := strconv.ParseUint(field, 10, 64)
		if err != nil || strings.ContainsAny(field, "+_") || i == 0 && v > math.MaxInt64 || i == 1 && v > 2 {
			return nil, false
		}
		numbers = append(numbers, v)
	}
	return numbers, len(numbers) >= headFields
}

// numbers are those that a row was made of.
func (r *row) numbers(bins *binBuffer) []uint64 {
	out := make([]uint64, headFields+r.columns)
	out[0], out[1], out[2] = r.time, r.direction, r.blockSize
	for _, b := range bins[:r.used] {
		out[headFields+b.Index] = b.Count
	}
	return out
}

// sum is that of a row's counts, at most 2^64-1.
func sum(counts []uint64) uint64 {
	total := uint64(0)
	for _, n := range counts {
		if n > math.MaxUint64-total {
			return math.MaxUint64
		}
		total += n
	}
	return total
}

// checkParse compares both parsers with the oracle on the first line of b.
func checkParse(tb rapid.TB, b []byte) {
	tb.Helper()
	line := b
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		line = b[:i+1]
	}
	want, wantOK := oracle(string(line))
	var bins binBuffer
	var r row
	f, ok := parseSlow(bytes.TrimRight(line, " \t\r\n"), &bins, &r)
	if ok != wantOK {
		tb.Fatalf("parseSlow(%q) is %t, %+v, want %t", line, ok, f, wantOK)
	}
	if !ok && (f.column < 1 || f.column > len(line)+1 || f.got == "" || f.want == "") {
		tb.Fatalf("parseSlow(%q) reports %+v", line, f)
	}
	if ok && r.columns != len(want)-headFields {
		tb.Fatalf("parseSlow(%q) finds %d columns, want %d", line, r.columns, len(want)-headFields)
	}
	if ok && r.columns <= hist.MaxColumns {
		if d := cmp.Diff(want, r.numbers(&bins)); d != "" {
			tb.Fatalf("parseSlow(%q) (-want +got):\n%s", line, d)
		}
		if total := sum(want[headFields:]); r.total != total {
			tb.Fatalf("parseSlow(%q) adds up to %d, want %d", line, r.total, total)
		}
	}
	r = row{}
	n := parseFast(b, &bins, &r)
	if n == 0 {
		return
	}
	if n != len(line) || !wantOK {
		tb.Fatalf("parseFast(%q) takes %d bytes, want %d, %t", b, n, len(line), wantOK)
	}
	if d := cmp.Diff(want, r.numbers(&bins)); d != "" {
		tb.Fatalf("parseFast(%q) (-want +got):\n%s", line, d)
	}
	if total := sum(want[headFields:]); r.total != total {
		tb.Fatalf("parseFast(%q) adds up to %d, want %d", line, r.total, total)
	}
}

// TestParseShort has all short texts, of good and of bad bytes, in all the places where
// parseFast looks at several of them at once.
func TestParseShort(t *testing.T) {
	const alphabet, longest = "059, \n-\x10\x1c", 4
	text := make([]byte, 0, longest)
	var check func()
	check = func() {
		for _, before := range []string{"", "7, ", "0, 0, 0, ", "12, 345, "} {
			checkParse(t, []byte("1, 0, 4096, "+before+string(text)+", 12, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0\n"))
		}
		if len(text) == longest {
			return
		}
		for _, c := range []byte(alphabet) {
			text = append(text, c)
			check()
			text = text[:len(text)-1]
		}
	}
	check()
}

func TestParseRandomRows(t *testing.T) {
	count := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, 9), rapid.Uint64Range(0, 120), rapid.Uint64Range(0, 2000), rapid.Uint64())
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		n := rapid.SampledFrom([]int{1, 2, 7, 8, 9, 29, 58, 116}).Draw(t, "columns")
		sep := rapid.SampledFrom([]string{", ", ", ", ",", " , ", ",\t"}).Draw(t, "separator")
		b.WriteString("1000" + sep + "1" + sep + "4096")
		zeroes := rapid.IntRange(0, 30).Draw(t, "zeroes")
		for range n {
			b.WriteString(sep + strconv.FormatUint(count.Draw(t, "count"), 10))
		}
		b.WriteString(strings.Repeat(sep+"0", zeroes))
		b.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "", "x\n", ", \n", "\n2000, 0, 4096, 0\n"}).Draw(t, "end"))
		at := rapid.IntRange(-20, b.Len()-1).Draw(t, "damage at")
		row := []byte(b.String())
		if at >= 0 {
			row[at] = rapid.Byte().Draw(t, "damage")
		}
		checkParse(t, row)
	})
}

func TestParseTotalTooLarge(t *testing.T) {
	const most = "9999999999999999999, " // that parseFast takes
	var bins binBuffer
	var r row
	row := "1, 0, 4096, " + strings.Repeat(most+"5, 123, ", 4) + "7\n"
	checkParse(t, []byte(row))
	if n := parseFast([]byte(row), &bins, &r); n == 0 || r.total != math.MaxUint64 {
		t.Errorf("%d bytes of %q add up to %d, want the largest number", n, row, r.total)
	}
}

// TestParseFastTakesRealRows makes sure that it is not parseSlow that reads real logs.
func TestParseFastTakesRealRows(t *testing.T) {
	for _, name := range []string{"good.log.gz", "one-file.log.gz", "stalls.log.gz", "trims.log.gz"} {
		log, rows := golden.Gunzip(t, filepath.Join("testdata", name)), 0
		var bins binBuffer
		for rest := log; len(rest) > 0; rows++ {
			checkParse(t, rest)
			n := parseFast(rest, &bins, new(row))
			if n == 0 {
				t.Fatalf("%s: row %d is left to parseSlow", name, rows+1)
			}
			rest = rest[n:]
		}
	}
}

func TestReaderRealLogs(t *testing.T) {
	tests := []struct {
		name     string
		rows     int
		requests uint64
		newJobs  []int // line numbers
	}{
		{"good.log.gz", 18, 14452, nil},
		{"one-file.log.gz", 30, 7512, []int{11, 21}},
		{"stalls.log.gz", 26, 6504, nil},
		{"trims.log.gz", 11, 410, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := golden.Gunzip(t, filepath.Join("testdata", tt.name))
			rows, faults, err := readAll(t, bytes.NewReader(log))
			if len(faults) > 0 || err != io.EOF {
				t.Fatalf("got errors %q and %v, want none and EOF", faults, err)
			}
			var requests uint64
			var newJobs []int
			for i, r := range rows {
				requests += r.Total
				if r.NewJob {
					newJobs = append(newJobs, r.Line)
				}
				if r.Line != i+1 || r.Layout != hist.Fio3(0) {
					t.Errorf("row %d is of line %d, layout %v", i+1, r.Line, r.Layout)
				}
				checkBins(t, r.Layout, r.Bins)
			}
			if len(rows) != tt.rows || requests != tt.requests {
				t.Errorf("got %d rows of %d requests, want %d of %d", len(rows), requests, tt.rows, tt.requests)
			}
			if d := cmp.Diff(tt.newJobs, newJobs); d != "" {
				t.Errorf("new jobs (-want +got):\n%s", d)
			}
		})
	}
}

// TestReaderPieces reads the same from a source that returns pieces of any length.
func TestReaderPieces(t *testing.T) {
	log := strings.Repeat(damaged(t, "wrongcount_mid")+damaged(t, "long_line"), 3) + damaged(t, "trunc_midnumber")
	want, wantFaults, _ := readAll(t, strings.NewReader(log))
	for name, src := range map[string]io.Reader{
		"half":          iotest.HalfReader(strings.NewReader(log)),
		"data with EOF": iotest.DataErrReader(strings.NewReader(log)),
		"one byte":      iotest.OneByteReader(strings.NewReader(log)),
	} {
		t.Run(name, func(t *testing.T) {
			got, faults, err := readAll(t, src)
			if d := cmp.Diff(want, got, cmp.Comparer(func(a, b hist.Layout) bool { return a == b })); d != "" || err != io.EOF {
				t.Errorf("rows (-want +got), %v:\n%s", err, d)
			}
			if d := cmp.Diff(wantFaults, faults); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
		})
	}
}

func TestReaderSourceFails(t *testing.T) {
	broken := errors.New("broken pipe")
	log := golden.Gunzip(t, filepath.Join("testdata", "good.log.gz"))
	rows, faults, err := readAll(t, io.MultiReader(bytes.NewReader(log[:20000]), iotest.ErrReader(broken)))
	if len(rows) != 3 || len(faults) > 0 || !errors.Is(err, broken) || err.Error() != "read x.log: broken pipe" {
		t.Errorf("got %d rows, %q and %v", len(rows), faults, err)
	}
	stuck := io.MultiReader(bytes.NewReader(log[:20000]), readerFunc(func([]byte) (int, error) { return 0, nil }))
	if _, _, err := readAll(t, stuck); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a source that returns nothing ends with %v", err)
	}
	liar := readerFunc(func(b []byte) (int, error) { return len(b) + 1, nil })
	if _, _, err := readAll(t, liar); err == nil || err == io.EOF {
		t.Errorf("a source that claims too much ends with %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestReaderDoesNotAllocate(t *testing.T) {
	log := repeat(golden.Gunzip(t, filepath.Join("testdata", "good.log.gz")), 4<<20)
	r := NewReader(bytes.NewReader(log), "x.log", ClatHist)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(500, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("a row takes %v allocations, want 0", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"1, 0, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 12, 3, 0, 123456, 1234567, 0\n",
		"1, 0, 4096, 0\r\n", "1,0,4096,1\n", "1 ,\t2 ,\t4096 ,\t7\n", "18446744073709551615, 0, 0, 0\n",
		"1, 0, 4096, 18446744073709551615, 18446744073709551616, 0, 0, 0, 0\n", "1, 3, 0, 0\n",
		"9, 0, 4096, ,- 5, 00000000000000000000001, 0, 0, 0, 0, 0, 0, 0, 0\n", "", "\n", ",,,\n",
		"1, 0, 4096" + strings.Repeat(", 0", 40) + "\n2, 0, 4096, 1, 2, 3\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkParse(t, b) })
}

func FuzzReader(f *testing.F) {
	for _, name := range []string{"tabs_spaces", "backwards", "cut_to_928", "nul"} {
		log := []byte(damaged(f, name))
		f.Add(log[:12000], 1, 7)
	}
	f.Add(busyLog(6, 29, 5), 3, 2)
	f.Fuzz(func(t *testing.T, b []byte, times, step int) {
		log := bytes.Repeat(b, min(max(times, 1), 4))
		want, wantFaults, wantErr := readAll(t, bytes.NewReader(log))
		step = min(max(step, 1), 1<<20)
		got, faults, err := readAll(t, readerFunc(func() func([]byte) (int, error) {
			src := bytes.NewReader(log)
			return func(p []byte) (int, error) { return src.Read(p[:min(step, len(p))]) }
		}()))
		if len(got) != len(want) || !cmp.Equal(faults, wantFaults) || (err == io.EOF) != (wantErr == io.EOF) {
			t.Fatalf("in pieces of %d: %d rows, %q, %v; at once: %d rows, %q, %v", step, len(got), faults, err, len(want), wantFaults, wantErr)
		}
		for i, r := range got {
			if r.Layout != want[i].Layout || !cmp.Equal(r.Bins, want[i].Bins) || r.Total != want[i].Total || r.Time != want[i].Time || r.NewJob != want[i].NewJob {
				t.Fatalf("row %d differs: %+v and %+v", i, r, want[i])
			}
		}
	})
}

// checkBins fails the test unless bins ascend and are the layout's.
func checkBins(t *testing.T, l hist.Layout, bins []hist.Bin) {
	t.Helper()
	last := -1
	for i, b := range bins {
		if int(b.Index) <= last || int(b.Index) >= l.Len() {
			t.Fatalf("bin %d, the %dth, is not in range or does not ascend", b.Index, i)
		}
		last = int(b.Index)
	}
}
