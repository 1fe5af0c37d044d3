package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that records its errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, format)
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "want")
	if err := os.WriteFile(path, []byte("a\nbegin\nb\nend\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		call   func(t testing.TB)
		errors int
	}{
		{"equal", func(t testing.TB) { File(t, path, "a\nbegin\nb\nend\nc\n") }, 0},
		{"other", func(t testing.TB) { File(t, path, "a\n") }, 1},
		{"equal section", func(t testing.TB) { Section(t, path, "begin", "end", "b\n") }, 0},
		{"other section", func(t testing.TB) { Section(t, path, "begin", "end", "") }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			if tt.call(r); len(r.errors) != tt.errors {
				t.Errorf("%d errors, want %d: %s", len(r.errors), tt.errors, strings.Join(r.errors, "\n"))
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	defer func(old bool) { *update = old }(*update)
	*update = true
	path := filepath.Join(t.TempDir(), "want")
	File(t, path, "begin\nend\n")
	Section(t, path, "begin", "end", "new\n")
	*update = false
	File(t, path, "begin\nnew\nend\n")
}
