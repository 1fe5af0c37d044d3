package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestSettingsText: ids of versions of earlier releases stay.
func TestSettingsText(t *testing.T) {
	c := mapping.CBT{Benchmark: "librbdfio", OpSize: 4096, Iteration: new(2)}
	const want = "{Benchmark:librbdfio Workload: Mode: RWMixRead:0 OpSize:4096 IODepth:0 TotalIODepth:0 NumJobs:0 Procs:0 Volumes:0 " +
		"Clients:0 OSDs:0 OSDHosts:0 Pool: CephVersion: OSDReadAhead:0 ReadAhead:0 RunSeconds:0 RampSeconds:0 Iteration:2}"
	e := pipeline.Execution{Settings: c}
	if got := e.Version(nil); got != fmt.Sprintf("%016x", xxhash.Sum64String("\n\n"+want+"\n")) {
		t.Errorf("%s is not of %s", got, want)
	}
	if *c.Iteration != 2 {
		t.Error("the settings were changed")
	}
}

// TestContradiction: the configuration of another run in the folder of a run is said.
func TestContradiction(t *testing.T) {
	for config, want := range map[string]string{
		"mode: randwrite\n  op_size: 4096": "",
		"mode: randrw":                     "has mode randrw, and fio's report randwrite",
		"op_size: 65536":                   "has 65536 bytes a request, and fio's report 4096",
		"benchmark: fio":                   "",
	} {
		dir := filepath.Join(t.TempDir(), "lab")
		if err := os.CopyFS(filepath.Join(dir, "results", "00000001"), os.DirFS(filepath.Join("..", "testdata", "corpus", "cbt-archive", "results", "00000001"))); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "results", "00000001", "id-7c1f03ab", "benchmark_config.yaml")
		if err := os.WriteFile(file, []byte("cluster:\n  "+config+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		result, err := Read(t.Context(), onlyRun(t, dir), pipeline.Options{}, func(*window.Window) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		var notes strings.Builder
		for _, n := range result.Notes {
			fmt.Fprintln(&notes, n)
		}
		if got := notes.String(); want == "" && strings.Contains(got, "those of another run") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", config, got)
		}
	}
}

// TestSettingsOfPbench: the folder's name comes first, and fio's options complete it.
func TestSettingsOfPbench(t *testing.T) {
	_, res := readRun(t, filepath.Join("assign", "testdata", "pbench"), "fio_demo_2026.11.22T02.20.00/2-randread-16KiB/sample1", pipeline.Options{})
	want := mapping.CBT{Benchmark: "pbench-fio", Mode: "randread", OpSize: 16384, IODepth: 4, NumJobs: 2, RunSeconds: 4, Iteration: new(0)}
	if diff := cmp.Diff(want, res.Run.CBT); diff != "" {
		t.Error(diff)
	}
}
