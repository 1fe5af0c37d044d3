package pipeline_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// TestHostsApart: hosts whose clocks or files do not fit together, and that they may be lined up at their starts.
func TestHostsApart(t *testing.T) {
	archive, err := pipeline.Open(t.Context(), []string{filepath.Join("..", "testdata", "corpus", "cbt-archive")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	run := archive.Runs[slices.IndexFunc(archive.Runs, func(r *assign.Run) bool { return slices.Contains(r.HostNames(), "hostB") })]
	for _, c := range []struct {
		opt  pipeline.Options
		warn bool
	}{
		{pipeline.Options{}, false},
		{pipeline.Options{Offsets: map[string]time.Duration{"hostB": time.Hour}}, true},
		{pipeline.Options{Offsets: map[string]time.Duration{"hostB": time.Hour}, Align: pipeline.AlignJob}, false},
	} {
		result, err := Read(t.Context(), run, c.opt, func(*window.Window) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		isApart := func(err error) bool { return strings.Contains(err.Error(), "its jobs did not run at the same time") }
		if slices.ContainsFunc(result.Skipped, isApart) != c.warn || result.Run.Run.Complete == c.warn {
			t.Errorf("%+v: %q", c.opt, result.Skipped)
		}
	}
}
