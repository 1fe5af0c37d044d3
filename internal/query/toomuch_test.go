package query

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/source"
)

// TestTooMuch: an export that takes too much memory for its size is left out by name, and the one beside it is read.
func TestTooMuch(t *testing.T) {
	dir := t.TempDir()
	const header = "host,direction,start_ms,end_ms,low_ns,high_ns,count\n"
	var large strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&large, "h%d,read,0,1,0,17000000000,1856\n", i)
	}
	var paths []string
	for name, text := range map[string]string{"large.csv": large.String(), "small.csv": "a,read,0,1000,1000,2000,5\n"} {
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(paths[len(paths)-1], []byte(header+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Open(t.Context(), paths, FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if p := files.Problems; len(files.histograms) != 1 || len(p) != 1 || !errors.Is(p[0], source.ErrTooMuch) || !strings.HasSuffix(p[0].Name, "large.csv") {
		t.Errorf("%d runs, %v", len(files.histograms), p)
	}
}
