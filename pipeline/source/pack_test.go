package source

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// TestPack packs contents as the spool does, and reads them in pieces of several sizes.
func TestPack(t *testing.T) {
	row := "1000, 0, 4096" + strings.Repeat(", 0", 700) + ", 17, 3" + strings.Repeat(", 0", 1154) + "\n"
	for name, c := range map[string]struct {
		text string
		most int // bytes packed
	}{
		"empty":         {"", 0},
		"one byte":      {"x", 30},
		"rows":          {strings.Repeat(row, 200), len(row)*200/40 + 100},
		"report":        {strings.Repeat(`{"name" : "job", "lat" : 17.25},`+"\n", 20_000), 640_000 / 4},
		"noise":         {noise(200_000, 1), 201_000},
		"all the same":  {strings.Repeat("\x00", 3*packBlock+5), 200},
		"block":         {strings.Repeat("a, ", packBlock)[:packBlock], 40},
		"short repeats": {strings.Repeat("0, 0, 0, 0, 17", 9000), 9000 * 14 / 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := &spool{memory: 1 << 30}
			kept, size, cut, err := s.add(iotest.HalfReader(strings.NewReader(c.text)), pack)
			if err != nil || cut != nil || size != int64(len(c.text)) || kept.Size() > int64(c.most) {
				t.Fatalf("%v, %v: %d of %d bytes packed to %d, want at most %d", cut, err, size, len(c.text), kept.Size(), c.most)
			}
			for _, piece := range []int{1, 1000, packBlock, 1 << 20} {
				r := &reader{}
				in, err := spooled(kept)(r)
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

func TestRunsGiveBackWhatTheyWereMadeOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		for range rapid.IntRange(0, 20).Draw(t, "parts") {
			part := rapid.SliceOfN(rapid.ByteRange('0', '2'), 0, 40).Draw(t, "part")
			text = append(text, bytes.Repeat(part, rapid.IntRange(1, 30).Draw(t, "times"))...)
		}
		text = text[:min(len(text), packBlock)]
		got := make([]byte, len(text))
		if packed := appendRuns(nil, text); !expandRuns(got, packed) || !bytes.Equal(got, text) {
			t.Fatalf("%q came back as %q", text, got)
		}
	})
}

// FuzzUnpack reads spools that something else has written to: it may fail, but no more.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(nil, []byte(strings.Repeat("0, ", 100))))
	f.Add(pack(nil, []byte(noise(1000, 1))))
	f.Add([]byte("\x03\x00\x00\x80\x10\x00\x00\x00\x00\x05\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &reader{}
		in, err := spooled(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))))(r)
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

func BenchmarkPack(b *testing.B) {
	row := []byte("1000, 0, 4096")
	rng := rand.New(rand.NewSource(1))
	for col := range 1856 {
		n := ", 0"
		if col > 700 && col < 1000 {
			n = [...]string{", 1", ", 12", ", 0"}[rng.Intn(3)]
		}
		row = append(row, n...)
	}
	block := bytes.Repeat(append(row, '\n'), 20)[:packBlock]
	var dst []byte
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		dst = pack(dst[:0], block)
	}
	b.ReportMetric(float64(len(block))/float64(len(dst)), "to-1")
}
