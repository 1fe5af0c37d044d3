package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ulikunitz/xz"

	"github.com/fio2es/fio2es/internal/memtest"
)

// xzBlocked makes a stream of blocks of some size.
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

// unxz decodes a file, as far as it is good.
func unxz(b []byte) ([]byte, error) {
	d, err := decode(xzed, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(&metered{meter: new(meter), r: d})
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
		if got, err := unxz(twice); err != nil || !bytes.Equal(got, append(bytes.Clone(part), part...)) {
			t.Errorf("blocks of %d bytes: %d of %d bytes, %v", size, len(got), 2*len(part), err)
		}
	}
}

func TestXzDictionaries(t *testing.T) {
	text := []byte(strings.Repeat("1, 2, 3\n", 100))
	blocks := xzBlocked(t, text, 400)
	one := xzip(t, text)
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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []byte
			var err error
			used := memtest.Measure(t, func() { got, err = unxz(tt.in) })
			t.Logf("%d bytes: %d MB, %v: %v", len(tt.in), used.Peak>>20, used.Time, err)
			if !errors.Is(err, ErrFormat) || len(got) < tt.least {
				t.Errorf("%d bytes and error %v, want ErrFormat after %d", len(got), err, tt.least)
			}
			if used.Peak > 300<<20 || used.Time > time.Minute {
				t.Errorf("it took %d bytes and %v", used.Peak, used.Time)
			}
		})
	}
}

// TestXzManyStreams: streams share one dictionary, though each asks for 128 MiB.
func TestXzManyStreams(t *testing.T) {
	text := []byte(strings.Repeat("1, 2, 3\n", 1000))
	const streams = 2000
	many := bytes.Repeat(xzWithDict(t, xzip(t, text), 1, 30), streams)
	var got []byte
	var err error
	used := memtest.Measure(t, func() { got, err = unxz(many) })
	t.Logf("%d bytes: %d MB, %v", len(many), used.Peak>>20, used.Time)
	if want := bytes.Repeat(text, streams); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
	if used.Peak > 300<<20 || used.Time > time.Minute {
		t.Errorf("it took %d bytes and %v", used.Peak, used.Time)
	}
}

// TestManyLargeDecoders: files that are open at the same time do not each have a decoder with a
// dictionary or window.
func TestManyLargeDecoders(t *testing.T) {
	const files = 12 // 0.75 GiB of dictionaries, or 1.5 GiB of windows
	text := make([]byte, 100<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(text)
	for name, packed := range map[string][]byte{
		"x.log.xz":  xzWithDict(t, xzip(t, text), 1, 28), // 64 MiB, as of xz -9
		"x.log.zst": zstOfWindow(text),
	} {
		t.Run(path.Ext(name), func(t *testing.T) {
			dir := t.TempDir()
			for i := range files {
				write(t, dir, strconv.Itoa(i)+"/"+name, packed)
			}
			used := memtest.Measure(t, func() {
				set := scan(t, Options{}, dir)
				if len(set.Files) != files || len(set.Problems) > 0 {
					t.Errorf("%d files, problems %v", len(set.Files), set.Problems)
				}
				for _, f := range set.Files {
					r, err := f.Open()
					check(t, err)
					defer r.Close()
					check(t, second(io.CopyN(io.Discard, r, int64(len(text)/2))))
				}
			})
			t.Logf("%d MB, %v", used.Peak>>20, used.Time)
			if used.Peak > 300<<20 {
				t.Errorf("it took %d bytes", used.Peak)
			}
		})
	}
}

// zstOfWindow is a frame with a window of 128 MiB, of blocks that are stored.
func zstOfWindow(b []byte) []byte {
	const windowOf128MiB = (27 - 10) << 3
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, windowOf128MiB}
	for part := range slices.Chunk(b, 4<<10) {
		out = append(out, byte(len(part)<<3), byte(len(part)>>5), 0)
		out = append(out, part...)
	}
	return append(out, 1, 0, 0) // the last block
}

// FuzzXz decodes any bytes: another decoder, which is less strict, makes the same of them, or more.
func FuzzXz(f *testing.F) {
	text := []byte("1, 2, 3\n")
	blocks := xzBlocked(f, text, 4)
	for _, seed := range [][]byte{
		xzip(f, text), blocks, append(bytes.Clone(blocks), blocks...), xzWithDict(f, blocks, 1, 20), xzWithDict(f, blocks, 2, 40),
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
		got, err := unxz(b)
		if errors.Is(err, ErrFormat) {
			return // the other decoder would take the memory
		}
		r, other := xz.NewReader(bytes.NewReader(b))
		var want []byte
		if other == nil {
			want, other = io.ReadAll(r)
		}
		if other == nil && (!bytes.HasPrefix(want, got) || err == nil && len(got) < len(want)) {
			t.Fatalf("%d bytes, %v, want %d", len(got), err, len(want))
		}
	})
}
