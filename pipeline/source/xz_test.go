package source

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ulikunitz/xz"

	"github.com/fio2es/fio2es/internal/memtest"
)

// xzBlocked is a stream of blocks of so many bytes.
func xzBlocked(t tb, b []byte, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := xz.WriterConfig{BlockSize: size, DictCap: 1 << 16}.NewWriter(&out)
	check(t, err)
	check(t, second(w.Write(b)))
	check(t, w.Close())
	return out.Bytes()
}

// xzWithDict replaces the size of the dictionary in the nth block header of an xz file by
// that of a code, 40 for 4 GiB. No other bytes may look like such a header.
func xzWithDict(t tb, b []byte, nth int, code byte) []byte {
	t.Helper()
	b = bytes.Clone(b)
	for at := 12; at+12 <= len(b); at += 4 {
		length := (int(b[at]) + 1) * 4
		if b[at] == 0 || at+length > len(b) || crc32.ChecksumIEEE(b[at:at+length-4]) != binary.LittleEndian.Uint32(b[at+length-4:]) {
			continue
		}
		if nth--; nth > 0 {
			continue
		}
		dict := bytes.Index(b[at:at+length], []byte{0x21, 1}) + at + 2
		b[dict] = code
		binary.LittleEndian.PutUint32(b[at+length-4:], crc32.ChecksumIEEE(b[at:at+length-4]))
		return b
	}
	t.Fatal("no such block")
	return nil
}

func decodeXz(b []byte) ([]byte, error) {
	d, err := decode(xzed, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
}

func TestXzOfManyBlocks(t *testing.T) {
	var text bytes.Buffer
	for i := range 20_000 {
		text.Write(binary.AppendUvarint(nil, uint64(i*i)))
	}
	want := text.Bytes()
	for _, size := range []int64{1, 2, 3, 4, 5, 1000, 1001, 1 << 20} {
		part := want[:min(int64(len(want)), size*300)]
		packed := xzBlocked(t, part, size)
		twice := append(append(bytes.Clone(packed), make([]byte, 8)...), packed...)
		if got, err := decodeXz(twice); err != nil || !bytes.Equal(got, append(bytes.Clone(part), part...)) {
			t.Errorf("blocks of %d bytes: %d of %d bytes, %v", size, len(got), 2*len(part), err)
		}
	}
}

func TestXzDictionaries(t *testing.T) {
	text := []byte(strings.Repeat("1, 2, 3\n", 100))
	blocks := xzBlocked(t, text, 400)
	one := xzip(t, text)
	var many []byte
	for range 30_000 { // 128 MiB each
		many = append(many, xzWithDict(t, one[:len(one):len(one)], 1, 30)...)
	}
	tests := []struct {
		name  string
		in    []byte
		least int // bytes that are read before
	}{
		{"first block", xzWithDict(t, blocks, 1, 40), 0},
		{"second block", xzWithDict(t, blocks, 2, 40), 400},
		{"second block, a little too much", xzWithDict(t, blocks, 2, 31), 400},
		{"second stream", append(bytes.Clone(one), xzWithDict(t, one, 1, 40)...), len(text)},
		{"stream behind padding", append(append(bytes.Clone(one), 0, 0, 0, 0), xzWithDict(t, one, 1, 40)...), len(text)},
		{"many streams", many, len(text)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got int64
			var err error
			used := memtest.Measure(t, func() {
				var d *decoder
				if d, err = decode(xzed, bytes.NewReader(tt.in)); err == nil {
					got, err = io.Copy(io.Discard, d)
				}
			})
			t.Logf("%d bytes: %d MB, %v: %v", len(tt.in), used.Peak>>20, used.Time, err)
			if !errors.Is(err, ErrFormat) || got < int64(tt.least) {
				t.Errorf("%d bytes and error %v, want ErrFormat after %d", got, err, tt.least)
			}
			if used.Peak > 450<<20 || used.Time > time.Minute {
				t.Errorf("it took %d bytes and %v", used.Peak, used.Time)
			}
		})
	}
}

// FuzzXz decodes any bytes: what is made of them is bounded, and what the format's own
// decoder accepts is read as it is.
func FuzzXz(f *testing.F) {
	text := []byte("1, 2, 3\n")
	blocks := xzBlocked(f, text, 4)
	for _, seed := range [][]byte{
		xzip(f, text), blocks, append(bytes.Clone(blocks), blocks...), xzWithDict(f, blocks, 1, 31), xzWithDict(f, blocks, 2, 40),
		append(append(bytes.Clone(blocks), 0, 0, 0, 0), blocks...), blocks[:len(blocks)-9], xzip(f, nil),
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, mend bool) {
		if mend && len(b) > 24 { // so that what was changed passes the checksums of the first headers
			b = bytes.Clone(b)
			binary.LittleEndian.PutUint32(b[8:], crc32.ChecksumIEEE(b[6:8]))
			if end := 12 + int(b[12])*4; end+4 <= len(b) {
				binary.LittleEndian.PutUint32(b[end:], crc32.ChecksumIEEE(b[12:end]))
			}
		}
		x := newXzBlocks(iotestOneByte{bytes.NewReader(b)})
		passed, err := io.ReadAll(x)
		if !bytes.HasPrefix(b, passed) || err == nil && len(passed) != len(b) {
			t.Fatalf("%d of %d bytes passed, %v", len(passed), len(b), err)
		}
		if whole, other := io.ReadAll(newXzBlocks(bytes.NewReader(b))); len(whole) != len(passed) || (other == nil) != (err == nil) {
			t.Fatalf("%d bytes at once, %d one by one, %v", len(whole), len(passed), err)
		}
		if err == nil || errors.Is(err, ErrFormat) {
			return // what the decoder says of it does not matter
		}
		r, err := xz.NewReader(bytes.NewReader(b)) // what it says of the part that passed, and then ends, does not matter
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r); err == nil {
			t.Fatal("refused, though the decoder reads it")
		}
	})
}

// iotestOneByte reads one byte at a time.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

// FuzzRecoverZip reads zips without a directory: no panic, and what is read of a member is
// part of the file.
func FuzzRecoverZip(f *testing.F) {
	files := tree{"a/x.log": "1, 2, 3\n", "a/y.log": strings.Repeat("4, 5, 6\n", 100), "../z.log": "z", "d/": ""}
	for _, method := range []uint16{zip.Deflate, zip.Store} {
		whole := zipOf(f, files, method)
		for _, n := range []int{len(whole) - 10, len(whole) / 2, 40, 30} {
			f.Add(whole[:n])
		}
		f.Add(append(bytes.Clone(whole[:len(whole)-10]), whole[:200]...))
	}
	const most = 1 << 20
	opt := Options{Limits: Limits{Depth: 3, Files: 100, Bytes: most, Ratio: 50, RatioAfter: 1 << 16}, SpoolMemory: 1 << 10}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append([]byte(localMagic), b[min(4, len(b)):]...)
		if at := bytes.LastIndex(b, []byte("PK\x05\x06")); at >= 0 {
			b = b[:at] // the directory
		}
		opt := opt
		opt.Stdin, opt.TempDir = bytes.NewReader(b), t.TempDir()
		set, err := Scan(context.Background(), []string{"-"}, opt)
		if err != nil {
			if !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrTooManyFiles) {
				t.Fatal(err)
			}
			return
		}
		defer set.Close()
		if len(set.Problems) == 0 {
			t.Error("nothing says that the zip is damaged")
		}
		for _, file := range set.Files {
			one, _ := readCut(t, file)
			two, _ := readCut(t, file)
			if one != two || len(one) > most+bufLen {
				t.Errorf("%s: %d and %d bytes", file.Path, len(one), len(two))
			}
		}
	})
}
