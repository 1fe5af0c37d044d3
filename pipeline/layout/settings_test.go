package layout

import (
	"maps"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

func TestSize(t *testing.T) {
	for in, want := range map[string]int64{
		"4096": 4096, "4k": 4096, "4K": 4096, "4kb": 4096, "1m": 1 << 20, "2G": 2 << 30, "4096B": 4096, "": 0, "k": 0, "x": 0, "-4k": 0,
		"9223372036854775807g": 0, "4ki": 4096, "4KiB": 4000,
	} {
		if got := size(in); got != want {
			t.Errorf("size(%q) = %d, want %d", in, got, want)
		}
	}
}

func FuzzConfigure(f *testing.F) {
	f.Add([]byte("cluster: {benchmark: librbdfio, iteration: 3, mode: randrw, op_size: 4096, iodepth: [8], total_iodepth: 3, time_based: true}"))
	f.Add([]byte("benchmark: fio\nbs: 4k\nclients: {a: x, 'u@b:22': y}\nworkloads: {w: {mode: write, op_size: 8k}, v: {}}\nosds: [c]\nosds_per_node: 4\n"))
	f.Add([]byte("cluster: {1: 2, null: 3, ~: [a, {b: c}], ? [x] : y}"))
	f.Add([]byte("a: &a [x]\nb: {<<: *a}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := evidence.ParseYAML(data)
		if (err == nil) != (len(m) > 0) {
			t.Fatalf("%d keys and error %v", len(m), err)
		}
		flat := flattener{into: map[string]any{}}
		_ = flat.file("x", "", m)
		size := 0
		for k, v := range flat.into {
			s, ok := v.(string)
			if !ok {
				t.Fatalf("%q is a %T", k, v)
			}
			size += len(k) + len(s)
		}
		if size > maxFlat {
			t.Fatalf("flattened to %d bytes", size)
		}
		before := maps.Clone(m)
		for _, known := range []mapping.CBT{{}, {Workload: "w", OpSize: 1}} {
			r := Settings{CBT: known}
			r.Mode = "read"
			r.fill(cluster(m), known.Workload == "" && len(data)%2 == 0)
			r.fillCluster(asMap(m["cluster"]))
			if r.Mode != "read" || known.OpSize > 0 && r.OpSize != known.OpSize {
				t.Fatalf("what the path says was lost: %+v", r.CBT)
			}
			for _, n := range []int64{r.OpSize, r.IODepth, r.TotalIODepth, r.NumJobs, r.Procs, r.Volumes, r.RunSeconds, int64(r.OSDs)} {
				if n < 0 {
					t.Fatalf("less than 0: %+v", r.CBT)
				}
			}
		}
		if len(before) != len(m) {
			t.Fatal("the configuration was changed")
		}
	})
}
