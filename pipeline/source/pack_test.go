package source

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
)

// TestPack packs contents as the spool does, and reads them in pieces of several sizes.
func TestPack(t *testing.T) {
	row := "1000, 0, 4096" + strings.Repeat(", 0", 700) + ", 17, 3" + strings.Repeat(", 0", 1154) + "\n"
	for name, c := range map[string]struct {
		text string
		most int // bytes packed
	}{
		"empty":        {"", 0},
		"one byte":     {"x", 30},
		"rows":         {strings.Repeat(row, 200), len(row) * 200 / 15},
		"report":       {strings.Repeat(`{"name" : "job", "lat" : 17.25},`+"\n", 20_000), 640_000 / 4},
		"noise":        {noise(200_000, 1), 201_000},
		"all the same": {strings.Repeat("\x00", 3*packBlock+5), 200},
		"known":        {strings.Repeat(strings.Repeat("=", 90)+"\n", 20_000), 20_000 * 2},
		"known lines":  {strings.Repeat("x\n==========\n"+noise(1000, 1)+"\n", 300), 301_000},
		"no end":       {strings.Repeat("=", 3*chunkLen), 100_000},
		"long lines":   {strings.Repeat(noise(chunkLen+7, 2)+"\n===\n", 3), 3*chunkLen + 9000},
	} {
		t.Run(name, func(t *testing.T) {
			s := &spool{memory: 1 << 30, codec: dashes{}}
			kept := &kept{}
			size, cut, err := s.add(kept, iotest.HalfReader(strings.NewReader(c.text)), s.pack)
			check(t, s.wait())
			if err != nil || cut != nil || size != int64(len(c.text)) || kept.size != size || kept.Size() > int64(c.most) {
				t.Fatalf("%v, %v: %d of %d bytes packed to %d, want at most %d", cut, err, size, len(c.text), kept.Size(), c.most)
			}
			for _, piece := range []int{1, 1000, packBlock, 1 << 20} {
				r := &reader{}
				in, err := s.packed(kept)(r)
				check(t, err)
				got, err := io.ReadAll(struct{ io.Reader }{&pieces{in, piece}})
				check(t, err)
				if string(got) != c.text {
					t.Errorf("in pieces of %d: %d bytes that differ", piece, len(got))
				}
				check(t, r.Close())
			}
		})
	}
}

// pieces reads at most n bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// dashes packs lines of "=" into their lengths.
type dashes struct{}

func (dashes) Pack(dst, text []byte, most int) (packed []byte, n int) {
	for {
		size := len(text[n:]) - len(bytes.TrimLeft(text[n:], "="))
		if n+size >= min(len(text), most) || text[n+size] != '\n' || size > 255 {
			return dst, n
		}
		dst = append(dst, byte(size))
		n += size + 1
	}
}

func (dashes) Unpack(dst, packed []byte) bool {
	var text []byte
	for _, size := range packed {
		text = append(append(text, bytes.Repeat([]byte("="), int(size))...), '\n')
	}
	return copy(dst, text) == len(text) && len(text) == len(dst)
}

// TestReadPacked reads some blocks as the codec packed them, and all others as text.
func TestReadPacked(t *testing.T) {
	line := strings.Repeat("=", 99) + "\n"
	text := strings.Repeat(line, 400) + "x\n" + strings.Repeat(line, 5) + "no end"
	set := scan(t, Options{Codec: dashes{}}, write(t, t.TempDir(), "a.tar.zst", zst(t, tarOf(t, tree{"a": text}))))
	in, err := set.Files[0].Open()
	check(t, err)
	defer in.Close()
	packed := in.(interface{ ReadPacked(p []byte) int })
	got, known, buf := "", 0, make([]byte, packBlock)
	for i := 0; err == nil; i++ {
		n := 0
		switch i % 3 {
		case 0:
			n, err = in.Read(buf[:10]) // the rest of a block is text, too
			got += string(buf[:n])
		case 1:
			if n = packed.ReadPacked(buf[:1]); n > 0 {
				t.Fatalf("%d bytes fit into one", n)
			}
		default:
			if n = packed.ReadPacked(buf); n > 0 {
				known++
			}
			for _, size := range buf[:n] {
				got += strings.Repeat("=", int(size)) + "\n"
			}
		}
	}
	if err != io.EOF || got != text || known == 0 {
		t.Errorf("%v: %d bytes of %d, %d blocks as they were packed", err, len(got), len(text), known)
	}
}

// TestSum: the sum of a content that was unpacked is that of the bytes that it gives.
func TestSum(t *testing.T) {
	files := tree{"rows": strings.Repeat("====\n", 2*chunkLen/5), "empty": "", "short": "x", "noise": noise(chunkLen+7, 1)}
	dir := t.TempDir()
	write(t, dir, "a.tar.zst", zst(t, tarOf(t, files)))
	write(t, dir, "b.tar.gz", gz(t, tarOf(t, files))[:chunkLen])
	write(t, dir, "c.tar", tarOf(t, tree{"later.zst": string(zst(t, []byte(files["noise"]))), "twice.gz.zst": string(zst(t, gz(t, []byte("twice"))))}))
	write(t, dir, "plain", []byte("x"))
	read := map[string]bool{}
	for _, sums := range []bool{true, false} {
		set := scan(t, Options{Codec: dashes{}, Sums: sums}, dir)
		for _, f := range set.Files {
			if _, _, ok := f.Sum(); ok && f.Path == "c/later" {
				t.Errorf("%s: a sum before it was unpacked", f.Path)
			}
			in, err := f.Open()
			check(t, err)
			text, _ := io.ReadAll(in) // one is cut
			check(t, in.Close())
			size, sum, ok := f.Sum()
			if ok && (!sums || size != int64(len(text)) || sum != xxhash.Sum64(text)) {
				t.Errorf("%s: %d bytes of %d, sum %x, want %x", f.Path, size, len(text), sum, xxhash.Sum64(text))
			}
			read[f.Path] = read[f.Path] || ok
		}
	}
	want := map[string]bool{
		"a/rows": true, "a/empty": true, "a/short": true, "a/noise": true, "b/empty": true, "b/noise": true,
		"c/later": true, "c/twice": false, "plain": false,
	}
	if d := cmp.Diff(want, read); d != "" {
		t.Errorf("have a sum (-want +got):\n%s", d)
	}
}

// FuzzUnpack reads spools that something else has written to: it may fail, but no more.
func FuzzUnpack(f *testing.F) {
	s := &spool{codec: dashes{}}
	for _, text := range []string{strings.Repeat("0, ", 100), strings.Repeat("===\n", 20), noise(1000, 1)} {
		packed, _ := s.pack(nil, []byte(text))
		f.Add(packed)
	}
	f.Add([]byte("\x03\x00\x00\x80\x10\x00\x00\x00\x00\x05\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &reader{}
		in, err := s.packed(&kept{SectionReader: io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))})(r)
		check(t, err)
		defer r.Close()
		n, err := io.Copy(io.Discard, in)
		if err != nil && !errors.Is(err, errSpoiled) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
		if n > int64(len(b))*packBlock {
			t.Errorf("%d bytes out of %d", n, len(b))
		}
	})
}
