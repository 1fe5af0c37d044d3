package cbt

import (
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/source"
)

// emptyPlaces know no configuration. Folders of samples are those below bench.
func emptyPlaces(t testing.TB) *sorter {
	p := newSorter(t.Context(), nil)
	p.samples[folder{argument: "arch", archive: "arch", path: "bench/1-randread-16KiB/sample1"}] = sample{hasReport: true}
	return p
}

func fileIn(dir string) *evidence.File {
	return evidence.Of(&source.File{Root: "arch", Archive: "arch", Path: path.Join(dir, "x")})
}

func TestPlaces(t *testing.T) {
	tests := []struct {
		dir  string
		want place
	}{
		{".", place{folder: "."}},
		{"a/b.h1", place{folder: "a/b.h1"}},
		{"randread/iodepth-8", place{folder: "randread/iodepth-8", known: mapping.CBT{IODepth: 8}}},
		{"iodepth-x/op_size-8.h", place{folder: "iodepth-x/op_size-8.h"}},
		{"op_size-99999999999999999999", place{folder: "op_size-99999999999999999999"}},
		{"r/00000002/id-7c1f03ab", place{
			layout: ofCBT, folder: "r/00000002/id-7c1f03ab", config: "r/00000002/id-7c1f03ab", root: "r", known: mapping.CBT{Iteration: new(2)},
		}},
		{"id-7c1f03ab/rbdfio.h1/op_size-4096/read", place{
			layout: ofCBT, folder: "id-7c1f03ab/rbdfio/op_size-4096/read", host: "h1", config: "id-7c1f03ab",
			known: mapping.CBT{Benchmark: rbdfio, Mode: "read", OpSize: 4096},
		}},
		{"id-7c1f03ab/randrw_8192.h1/iodepth-4/numjobs-2", place{
			layout: ofCBT, folder: "id-7c1f03ab/randrw_8192/iodepth-4/numjobs-2", host: "h1", config: "id-7c1f03ab",
			modeSize: true, known: mapping.CBT{Mode: "randrw", OpSize: 8192, IODepth: 4, NumJobs: 2},
		}},
		{"id-7c1f03ab/w.h1.lab/numjobs-1", place{
			layout: ofCBT, folder: "id-7c1f03ab/w/numjobs-1", host: "h1.lab", config: "id-7c1f03ab",
			doubt: "w.h1.lab: h1.lab is taken for a host: no configuration says where its name begins",
			known: mapping.CBT{Workload: "w", NumJobs: 1},
		}},
		{"old/w.h1/numjobs-2/total_iodepth-16/iodepth-8", place{
			folder: "old/w/numjobs-2/total_iodepth-16/iodepth-8", host: "h1",
			known: mapping.CBT{Workload: "w", NumJobs: 2, TotalIODepth: 16, IODepth: 8},
		}},
		{"bench/1-randread-16KiB/sample1/clients/h1", place{
			layout: ofSample, folder: "bench/1-randread-16KiB/sample1", host: "h1",
			known: mapping.CBT{Benchmark: mapping.PBench, Mode: "randread", OpSize: 16 << 10},
		}},
		{"bench/1-randread-16KiB/sample2", place{folder: "bench/1-randread-16KiB/sample2"}},
	}
	p := emptyPlaces(t)
	for _, tt := range tests {
		got := p.placeOf(fileIn(tt.dir), false)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(place{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.dir, diff)
		}
	}
}

// TestEachFolderNumber: each name of a setting in folders is found, and sets that setting alone.
func TestEachFolderNumber(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := numbers[rapid.IntRange(0, len(numbers)-1).Draw(rt, "setting")]
		for _, name := range n.folders {
			want := mapping.CBT{}
			*n.of(&want) = 7
			if diff := cmp.Diff(want, emptyPlaces(t).placeOf(fileIn("x/"+name+"-0007"), false).known); diff != "" {
				rt.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		other := rapid.StringMatching(`[a-z_]{1,9}-?[0-9x]{0,3}`).Draw(rt, "other")
		if of, digits, ok := folderNumber(other); ok && (of == nil || digits == "") {
			rt.Errorf("%s: %q", other, digits)
		}
	})
}

func TestTotalOf(t *testing.T) {
	for dir, want := range map[string]bool{
		"w/total_iodepth-3/iodepth-000001": true, "total_iodepth-3/iodepth-1": true, "w/total_iodepth-3": false, "iodepth-1": false,
		"w/total_iodepth-3/iodepth-1/read": false, "w/total_iodepth-x/iodepth-1": false, ".": false,
	} {
		if total := totalOf(dir); (total != "") != want || want && total+"/iodepth-" != dir[:len(total)+9] {
			t.Errorf("%s: %q", dir, total)
		}
	}
}
