package layout

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
func emptyPlaces(t testing.TB) *Tree {
	p := NewTree(t.Context(), nil)
	p.samples[Folder{Argument: "arch", Archive: "arch", Path: "bench/1-randread-16KiB/sample1"}] = sample{hasReport: true}
	return p
}

func fileIn(dir string) *evidence.File {
	return evidence.Of(&source.File{Root: "arch", Archive: "arch", Path: path.Join(dir, "x")})
}

func TestPlaces(t *testing.T) {
	tests := []struct {
		dir  string
		want Place
	}{
		{".", Place{Folder: "."}},
		{"a/b.h1", Place{Folder: "a/b.h1"}},
		{"randread/iodepth-8", Place{Folder: "randread/iodepth-8", Known: mapping.CBT{IODepth: 8}}},
		{"iodepth-x/op_size-8.h", Place{Folder: "iodepth-x/op_size-8.h"}},
		{"op_size-99999999999999999999", Place{Folder: "op_size-99999999999999999999"}},
		{"r/00000002/id-7c1f03ab", Place{
			Program: OfCBT, Folder: "r/00000002/id-7c1f03ab", Config: "r/00000002/id-7c1f03ab", Root: "r", Known: mapping.CBT{Iteration: new(2)},
		}},
		{"id-7c1f03ab/rbdfio.h1/op_size-4096/read", Place{
			Program: OfCBT, Folder: "id-7c1f03ab/rbdfio/op_size-4096/read", Host: "h1", Config: "id-7c1f03ab",
			Known: mapping.CBT{Benchmark: RBDFio, Mode: "read", OpSize: 4096},
		}},
		{"id-7c1f03ab/randrw_8192.h1/iodepth-4/numjobs-2", Place{
			Program: OfCBT, Folder: "id-7c1f03ab/randrw_8192/iodepth-4/numjobs-2", Host: "h1", Config: "id-7c1f03ab",
			ModeSize: true, Known: mapping.CBT{Mode: "randrw", OpSize: 8192, IODepth: 4, NumJobs: 2},
		}},
		{"id-7c1f03ab/w.h1.lab/numjobs-1", Place{
			Program: OfCBT, Folder: "id-7c1f03ab/w/numjobs-1", Host: "h1.lab", Config: "id-7c1f03ab",
			Doubt: "w.h1.lab: h1.lab is taken for a host: no configuration says where its name begins",
			Known: mapping.CBT{Workload: "w", NumJobs: 1},
		}},
		{"old/w.h1/numjobs-2/total_iodepth-16/iodepth-8", Place{
			Folder: "old/w/numjobs-2/total_iodepth-16/iodepth-8", Host: "h1",
			Known: mapping.CBT{Workload: "w", NumJobs: 2, TotalIODepth: 16, IODepth: 8},
		}},
		{"bench/1-randread-16KiB/sample1/clients/h1", Place{
			Program: OfSample, Folder: "bench/1-randread-16KiB/sample1", Host: "h1",
			Known: mapping.CBT{Benchmark: mapping.PBench, Mode: "randread", OpSize: 16 << 10},
		}},
		{"bench/1-randread-16KiB/sample2", Place{Folder: "bench/1-randread-16KiB/sample2"}},
	}
	p := emptyPlaces(t)
	for _, tt := range tests {
		got := p.PlaceOf(fileIn(tt.dir), false)
		if diff := cmp.Diff(tt.want, got); diff != "" {
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
			if diff := cmp.Diff(want, emptyPlaces(t).PlaceOf(fileIn("x/"+name+"-0007"), false).Known); diff != "" {
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
		if total := TotalOf(dir); (total != "") != want || want && total+"/iodepth-" != dir[:len(total)+9] {
			t.Errorf("%s: %q", dir, total)
		}
	}
}
