package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/pipeline"
)

// TestExamine examines the files of other tests, complete and with some files missing.
func TestExamine(t *testing.T) {
	corpus := filepath.Join("..", "..", "testdata", "corpus")
	var got strings.Builder
	add := func(title, dir string) {
		archive, err := pipeline.Open(context.Background(), []string{dir}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		fmt.Fprintf(&got, "# %s\n", title)
		for _, r := range archive.Runs {
			all, _, err := Examine(context.Background(), r, pipeline.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range all {
				got.WriteString(strings.ReplaceAll(text(&a), filepath.ToSlash(dir), title))
			}
		}
	}
	entries, err := os.ReadDir(corpus)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			add(e.Name(), filepath.Join(corpus, e.Name()))
		}
	}
	for _, c := range []struct{ title, from, without string }{
		{"completions alone", "two-jobs-rw", "_clat_hist. out.txt"}, {"no report", "two-jobs-rw", "out.txt"},
		{"one log and no completions", "two-jobs-rw", "_clat_hist.2. _clat."}, {"a report alone", "two-jobs-rw", "_clat"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(corpus, c.from))); err != nil {
			t.Fatal(err)
		}
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			for _, part := range strings.Fields(c.without) {
				if strings.Contains(f.Name(), part) {
					os.Remove(filepath.Join(dir, f.Name()))
				}
			}
		}
		add(c.title, dir)
	}
	golden.File(t, filepath.Join("testdata", "examine.golden"), got.String())
}
