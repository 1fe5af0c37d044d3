package fiolog

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
)

// block is a part of a log: packed rows, or text that is none.
type block struct{ packed, text []byte }

// packAll packs a log in blocks of at most some bytes of text, and compares the text of each with the log.
func packAll(tb rapid.TB, log []byte, most int) (blocks []block) {
	tb.Helper()
	for len(log) > 0 {
		packed, n := RowCodec{}.Pack([]byte("before"), log, most)
		if !bytes.HasPrefix(packed, []byte("before")) || n > most {
			tb.Fatalf("%d bytes of %d at most, appended to %q", n, most, packed)
		}
		b := block{packed: packed[len("before"):]}
		if n == 0 {
			b, n = block{}, 1+bytes.IndexByte(log, '\n')
			if n == 0 {
				n = len(log)
			}
		}
		b.text, log = log[:n], log[n:]
		blocks = append(blocks, b)
		if b.packed == nil {
			continue
		}
		text := make([]byte, n, n+5)
		if !(RowCodec{}).Unpack(text, b.packed) || !bytes.Equal(text, b.text) {
			tb.Fatalf("%q came back as %q", b.text, text)
		}
		for _, size := range []int{n - 1, n + 1} {
			if (RowCodec{}).Unpack(make([]byte, size), b.packed) {
				tb.Fatalf("%d bytes came back as %d", n, size)
			}
		}
	}
	return blocks
}

// packedLog reads blocks as they were packed, or their text.
type packedLog struct {
	blocks []block
	read   int // of the text of the first block
	packed int // blocks that were read as they were packed
}

func (p *packedLog) ReadPacked(b []byte) int {
	if len(p.blocks) == 0 || p.blocks[0].packed == nil || p.read > 0 || len(p.blocks[0].packed) > len(b) {
		return 0
	}
	n := copy(b, p.blocks[0].packed)
	p.blocks = p.blocks[1:]
	p.packed++
	return n
}

func (p *packedLog) Read(b []byte) (int, error) {
	if len(p.blocks) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.blocks[0].text[p.read:])
	if p.read += n; p.read == len(p.blocks[0].text) {
		p.blocks, p.read = p.blocks[1:], 0
	}
	return n, nil
}

// checkPacked compares a log that was packed with its text: its rows and errors are equal. It returns how many blocks
// were read as they were packed.
func checkPacked(tb rapid.TB, log []byte, most int) int {
	tb.Helper()
	want, wantFaults, wantErr := readAll(tb, bytes.NewReader(log))
	src := &packedLog{blocks: packAll(tb, log, most)}
	got, faults, err := readAll(tb, src)
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b hist.Layout) bool { return a == b })); d != "" {
		tb.Fatalf("rows of text and packed:\n%s", d)
	}
	if d := cmp.Diff(wantFaults, faults); d != "" || err.Error() != wantErr.Error() {
		tb.Fatalf("errors of text and packed, %v and %v:\n%s", wantErr, err, d)
	}
	return src.packed
}

func TestPackedRealLogs(t *testing.T) {
	for _, name := range []string{"good.log.gz", "one-file.log.gz", "stalls.log.gz", "trims.log.gz"} {
		log := golden.Gunzip(t, filepath.Join("testdata", name))
		if blocks := packAll(t, log, 2*len(log)); len(blocks) != 1 || len(blocks[0].packed) > len(log)/10 {
			t.Errorf("%s: %d blocks, the first of %d bytes of %d", name, len(blocks), len(blocks[0].packed), len(log))
		}
		if n := checkPacked(t, log, 16<<10); n == 0 {
			t.Errorf("%s: all rows are read as text", name)
		}
	}
}

// TestPackedDamage: damaged lines stay text, between rows that are packed.
func TestPackedDamage(t *testing.T) {
	good := string(golden.Gunzip(t, filepath.Join("testdata", "good.log.gz")))
	for _, name := range []string{
		"wrongcount_mid", "long_line", "trunc_midnumber", "tabs_spaces", "backwards", "cut_to_928", "nul",
	} {
		if n := checkPacked(t, []byte(good+damaged(t, name)+good), 16<<10); n == 0 {
			t.Errorf("%s: all rows are read as text", name)
		}
	}
}

// TestPackedRows packs rows of any numbers in any form.
func TestPackedRows(t *testing.T) {
	count := rapid.OneOf(rapid.Just(uint64(0)), rapid.Just(uint64(0)), rapid.Uint64Range(0, 9), rapid.Uint64Range(90, 140), rapid.Uint64())
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SampledFrom([]int{29, 58, 1856}).Draw(t, "columns")
		var log []byte
		for row := range rapid.IntRange(1, 12).Draw(t, "rows") {
			fields := make([]string, headFields+columns)
			for i := range fields {
				fields[i] = "0"
			}
			fields[0] = strconv.Itoa(1000 * (row + rapid.IntRange(-1, 1).Draw(t, "late") + 1))
			fields[1] = strconv.FormatUint(rapid.Uint64Range(0, 3).Draw(t, "direction"), 10)
			fields[2] = strconv.FormatUint(rapid.Uint64().Draw(t, "block size"), 10)
			for range rapid.IntRange(0, 40).Draw(t, "bins") {
				i := rapid.IntRange(0, columns-1).Draw(t, "bin")
				fields[headFields+i] = strconv.FormatUint(count.Draw(t, "count"), 10)
			}
			zeros := rapid.SampledFrom([]string{"", "", "", "0"}).Draw(t, "zeros before")
			end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\n", "\r\n", ", 0\n", "\n\n", " \n"}).Draw(t, "end")
			log = append(log, zeros+strings.Join(fields, ", ")+end...)
		}
		if at := rapid.IntRange(-3*len(log), len(log)-1).Draw(t, "damage at"); at >= 0 {
			log[at] = rapid.Byte().Draw(t, "damage")
		}
		checkPacked(t, log, rapid.SampledFrom([]int{100, 6000, 16 << 10}).Draw(t, "most"))
	})
}

func TestPackedRowsDoNotAllocate(t *testing.T) {
	log := repeat(golden.Gunzip(t, filepath.Join("testdata", "good.log.gz")), 4<<20)
	r := NewReader(&packedLog{blocks: packAll(t, log, 16<<10)}, "x.log", ClatHist)
	next := func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	next()
	if n := testing.AllocsPerRun(500, next); n != 0 {
		t.Errorf("a row takes %v allocations, want 0", n)
	}
}

// FuzzPacked reads packed rows that something else wrote: they are refused, or are rows that a log may have.
func FuzzPacked(f *testing.F) {
	packed, _ := RowCodec{}.Pack(nil, busyLog(3, 29, 5), 1<<20)
	f.Add(packed, 500)
	f.Add([]byte{5, 1, 0, 1, 2, 1, 0, 200, 1}, 20)
	f.Add([]byte{5, 1, 0, 1, 2, 2, 1, 1, 1, 1}, 20)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		text := make([]byte, min(max(size, 0), 1<<16))
		if (RowCodec{}).Unpack(text, b) && len(text) > 0 && text[len(text)-1] != '\n' {
			t.Errorf("%q are no lines", text)
		}
		log := busyLog(3, 29, 5)
		rows, _, err := readAll(t, &packedLog{blocks: []block{{text: log}, {packed: b, text: []byte("x")}}})
		if err != io.EOF && !errors.Is(err, errPacked) || len(rows) < 3 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
		for _, r := range rows {
			checkBins(t, r.Layout, r.Bins)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	log := logOf(36, 1856, 220, 4000)
	var dst []byte
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		dst, _ = RowCodec{}.Pack(dst[:0], log, len(log))
	}
	b.ReportMetric(float64(len(log))/float64(len(dst)), "to-1")
}

func BenchmarkUnpack(b *testing.B) {
	log := logOf(36, 1856, 220, 4000)
	packed, n := RowCodec{}.Pack(nil, log, len(log))
	b.SetBytes(int64(n))
	for b.Loop() {
		RowCodec{}.Unpack(log[:n], packed)
	}
}
