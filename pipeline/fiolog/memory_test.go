package fiolog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestSaveMemory: what is read does not depend on how much memory reading takes.
func TestSaveMemory(t *testing.T) {
	wide := fmt.Sprintf("1000, 0, 4096%s\n", strings.Repeat(", 12345678901234567", 1856)) // more than the small buffer
	for name, log := range map[string]string{
		"rows": string(fiolog.LogOf(36, 1856, 220, 4000)), "wide rows": strings.Repeat(wide, 5), "bad": "x\n" + wide + "y\n" + wide,
		"too long": wide + strings.Repeat("1", 1<<20) + "\n" + wide, "short": "1000, 0, 4096",
	} {
		read := func(save bool) (all []string) {
			r := fiolog.NewReader(bytes.NewReader([]byte(log)), name, fiolog.ClatHist)
			if save {
				r.SaveMemory()
			}
			for {
				rec, err := r.Next()
				if rec != nil {
					all = append(all, fmt.Sprint(*rec))
				}
				if err != nil {
					all = append(all, err.Error())
				}
				if err != nil && !errors.As(err, new(*fiolog.SyntaxError)) {
					return all
				}
			}
		}
		if diff := cmp.Diff(read(false), read(true)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestReadersAtOnce: a reader of a log that many are read beside takes little.
func TestReadersAtOnce(t *testing.T) {
	const logs = 1000
	row := []byte("1000, 0, 4096" + strings.Repeat(", 0", hist.Fio3(0).Len()-1) + ", 5\n")
	text := bytes.Repeat(row, 20)
	var readers []*fiolog.Reader
	used := memtest.Measure(t, func() {
		for range logs {
			r := fiolog.NewReader(io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text))), "x", fiolog.ClatHist)
			r.SaveMemory()
			if rec, err := r.Next(); err != nil || rec.Total != 5 {
				t.Fatal(rec, err)
			}
			readers = append(readers, r)
		}
	})
	if most := int64(logs * 60 << 10); used.Peak > most || len(readers) != logs {
		t.Errorf("%d readers took %d bytes, more than %d", len(readers), used.Peak, most)
	}
}
