package query_test

import (
	"testing"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// TestTitleIsFound: the title of a run, as lists show it, finds the run; a size or depth in it is a word of its own.
func TestTitleIsFound(t *testing.T) {
	t.Parallel()
	made := func(name, benchmark, workload string, size int64, depth int) *mapping.Run {
		return &mapping.Run{
			Run: mapping.RunInfo{ID: "4f1d2c", Archive: "nightly.tar.gz", Name: name},
			CBT: mapping.CBT{Benchmark: benchmark, Workload: workload, Mode: "randwrite", OpSize: size, IODepth: depth},
		}
	}
	for _, run := range []*mapping.Run{
		made("results/00010000/id-00002710/x", "librbdfio", "4krandrw", 65536, 1),
		made("1/id-7c1f03ab/osd_ra-4096/op_size-4096", "radosbench", "", 4096, 16),
		made("0/id-7c/x/y", "pbench-fio", "", 512, 4),
		made("out", "", "", 0, 0),
	} {
		title := facts.Title(run)
		if f := (history.RunFilter{Text: title}); !f.Matches(run) {
			t.Errorf("%q does not find its run", title)
		}
	}
	sixteen := made("out", "", "", 65536, 16)
	for text, want := range map[string]bool{
		"64k qd16": true, "64KiB": true, "64kib randwrite": true, "4k": false, "4K qd16": false, "64K qd1": false, "qd": false,
	} {
		if f := (history.RunFilter{Text: text}); f.Matches(sixteen) != want {
			t.Errorf("%q of %q: %v", text, facts.Title(sixteen), !want)
		}
	}
}
