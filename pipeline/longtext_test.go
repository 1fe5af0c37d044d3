package pipeline

import (
	"archive/tar"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/internal/memtest"
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

// A small archive of reports that unpack to very much text is refused by name, before the
// text is read.
func TestLongText(t *testing.T) {
	const mb = 1 << 20
	many := strings.Repeat(fullJob(0)+"\n", 3000) // some 15 MB
	tests := []struct {
		name  string
		files []string
		times int
		text  int64 // at most so much is read
		want  []bool
	}{
		{"one file of 700 MB", []string{"a/out.json"}, 47, 0, []bool{false}},
		{"a file that is within the limit", []string{"a/out.json"}, 1, 16 * mb, []bool{true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := repeated(t, tt.files, tt.times, many)
			var good []bool
			text := int64(0)
			used := memtest.Measure(t, func() {
				a, err := Open(t.Context(), []string{"-"}, bytes.NewReader(in), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				for _, run := range a.Runs {
					good = append(good, !isRefused(t.Context(), run))
				}
				text = a.Runs[0].Budget.Text()
			})
			t.Logf("%d KB: %d MB of text read, %d MB, %v", len(in)>>10, text>>20, used.Peak>>20, used.Time)
			if !slices.Equal(good, tt.want) || text > tt.text || used.Peak > 400*mb {
				t.Errorf("runs that were read %v, %d bytes of text, %d of memory", good, text, used.Peak)
			}
		})
	}
}
