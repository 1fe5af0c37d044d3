package pipeline_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/pipeline/source"
)

// frame is a text as zstd, which may stand before or behind others.
func frame(t *testing.T, text []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(text, nil)
}

// repeated is a tar.zst, on standard input, of files that are a text again and again.
func repeated(t *testing.T, names []string, times int, text string) []byte {
	t.Helper()
	var packed, plain bytes.Buffer
	w := tar.NewWriter(&plain)
	many := bytes.Repeat(frame(t, []byte(text)), times)
	size := int64(times * len(text))
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		packed.Write(frame(t, plain.Bytes()))
		packed.Write(many)
		plain.Reset()
		plain.Write(make([]byte, -size&511)) // to the next block
		w = tar.NewWriter(&plain)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	packed.Write(frame(t, plain.Bytes()))
	return packed.Bytes()
}

// A small archive of reports that unpack to very much text is cut.
func TestLongText(t *testing.T) {
	many := strings.Repeat(fullJob(0)+"\n", 3000) // some 15 MB
	for _, tt := range []struct {
		name   string
		times  int
		isLong bool
	}{
		{"700 MB", 47, true},
		{"15 MB", 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := repeated(t, []string{"a/out.json"}, tt.times, many)
			var err error
			runs := 0
			used := memtest.Measure(t, func() { runs, err = readAll(t.Context(), bytes.NewReader(in)) })
			t.Logf("%d KB: %d MB, %v: %v", len(in)>>10, used.Peak>>20, used.Time, err)
			if errors.Is(err, source.ErrTooMuch) != tt.isLong || (runs == 1) == tt.isLong || used.Peak > 400<<20 {
				t.Errorf("%d runs, %v, %d bytes of memory", runs, err, used.Peak)
			}
		})
	}
}
