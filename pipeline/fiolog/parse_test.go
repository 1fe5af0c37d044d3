package fiolog

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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

// TestParseLongestRow has all columns that there can be, as wide as they can be.
func TestParseLongestRow(t *testing.T) {
	for _, count := range []string{", 9999999999999999", ", 00000000000000000001"} {
		checkParse(t, []byte("1000, 0, 4096"+strings.Repeat(count, hist.MaxColumns)+"\n"))
	}
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

func benchmarkRow(b *testing.B, log []byte, parse func(line []byte, bins *binBuffer, r *row)) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	var bins binBuffer
	for b.Loop() {
		for rest := log; len(rest) > 0; {
			var r row
			n := bytes.IndexByte(rest, '\n') + 1
			parse(rest[:n], &bins, &r)
			rest = rest[n:]
		}
	}
}

func BenchmarkParse(b *testing.B) {
	log := LogOf(36, 1856, 220, 40)
	b.Run("fast", func(b *testing.B) {
		benchmarkRow(b, log, func(line []byte, bins *binBuffer, r *row) { parseFast(line, bins, r) })
	})
	b.Run("fast/long counts", func(b *testing.B) {
		benchmarkRow(b, LogOf(36, 1856, 220, 4000), func(line []byte, bins *binBuffer, r *row) { parseFast(line, bins, r) })
	})
	b.Run("slow", func(b *testing.B) {
		benchmarkRow(b, log, func(line []byte, bins *binBuffer, r *row) { parseSlow(line[:len(line)-1], bins, r) })
	})
	b.Run("plain loop", func(b *testing.B) { benchmarkRow(b, log, plainLoop) })
	b.Run("newlines only", func(b *testing.B) {
		benchmarkRow(b, log, func([]byte, *binBuffer, *row) {})
	})
}

// plainLoop is what one would write first: a number is digits, all else separates.
func plainLoop(line []byte, bins *binBuffer, r *row) {
	v, digits, field := uint64(0), false, 0
	for _, c := range line {
		if d := c - '0'; d <= 9 {
			v, digits = v*10+uint64(d), true
			continue
		}
		if !digits {
			continue
		}
		if field >= headFields && v != 0 {
			bins[r.used&(binSlots-1)] = hist.Bin{Index: uint32(field - headFields), Count: v}
			r.used++
		}
		v, digits = 0, false
		field++
	}
}

// LogOf is a log of rows in which n of the bins are not zero: clustered, with gaps, as a device with two kinds of latency
// has them. mean is that of their counts.
func LogOf(rows, columns, n int, mean float64) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	counts := make([]int, columns)
	for i := range rows {
		clear(counts)
		for left := n; left > 0; {
			at := columns/2 + int(rng.NormFloat64()*float64(columns)/14)
			if at >= 0 && at < columns && counts[at] == 0 {
				counts[at] = 1 + int(rng.ExpFloat64()*mean)
				left--
			}
		}
		fmt.Fprintf(&b, "%d, %d, 4096", 1000*(i/2+1)+i%2, i%2)
		for _, c := range counts {
			fmt.Fprintf(&b, ", %d", c)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
