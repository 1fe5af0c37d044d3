package sqlite_test

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// TestVersion1: a history of version 1, which has an example of CBT, is read as it is. What opens it for writing writes documents of
// this version beside its own, and all of them have their labels.
func TestVersion1(t *testing.T) {
	packed, err := os.Open("testdata/version1.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	in, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(in)
	path := filepath.Join(t.TempDir(), "h.db")
	if err = errors.Join(err, os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
	documents := func(s *sqlite.Store) (text string, all []*mapping.Interval) {
		for _, level := range []mapping.Level{mapping.Cluster, mapping.Host} {
			for d, err := range s.Intervals(t.Context(), history.Selection{Level: level}) {
				if err != nil {
					t.Fatal(err)
				}
				text, all = text+string(d.AppendJSON(nil))+"\n", append(all, d)
			}
		}
		return text, all
	}
	read, err := sqlite.OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	text, all := documents(read)
	golden.File(t, "testdata/version1.ndjson", text)
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}

	s := open(t, path)
	defer closing(t, s)
	if again, _ := documents(s); again != text {
		t.Errorf("opened for writing: %s", again)
	}
	if err := s.Put(t.Context(), all[:3]); err != nil {
		t.Fatal(err)
	}
	if again, _ := documents(s); again != text {
		t.Errorf("with documents of both versions: %s", again)
	}
	if _, err := s.Annotate(t.Context(), all[0].Run.ID, mapping.Annotation{Labels: map[string]string{"release": "squid"}}); err != nil {
		t.Fatal(err)
	}
	again, _ := documents(s)
	if n := strings.Count(again, `"release":"squid"`); n != len(all) {
		t.Errorf("%d of %d documents have the label: %s", n, len(all), again)
	}
}
