package assign_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/source"
)

// listed are files without content, found under one folder.
func listed(names ...string) []*evidence.File {
	var files []*evidence.File
	for _, name := range names {
		files = append(files, evidence.Of(&source.File{Root: "/lab/arch", Archive: "arch", Path: name}))
	}
	return files
}

func paths(files []*evidence.File) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	slices.Sort(all)
	return all
}

// inWords are runs with the logs that they have, by file.
func inWords(a *assign.Archive) []string {
	var all []string
	for _, r := range a.Runs {
		var logs []string
		for _, l := range logsOf(r) {
			logs = append(logs, path.Base(l.File.Path))
		}
		slices.Sort(logs)
		all = append(all, r.Path+": "+strings.Join(logs, " "))
	}
	slices.Sort(all)
	return all
}

// TestDrafts: logs become runs by their folders and prefixes.
func TestDrafts(t *testing.T) {
	const w = "id-7c1f03ab/w.h1/total_iodepth-3/"
	tests := []struct {
		name string
		logs []string
		want []string
		left []string
	}{
		{"one prefix", []string{"x_clat_hist.1.log", "x_clat_hist.2.log", "x_bw.1.log"}, []string{"x: x_bw.1.log x_clat_hist.1.log x_clat_hist.2.log"}, nil},
		{"volumes are of one run", []string{"x.0_clat_hist.1.log", "x.1_clat_hist.1.log"}, []string{"x: x.0_clat_hist.1.log x.1_clat_hist.1.log"}, nil},
		{"prefixes and folders", []string{"x_clat_hist.1.log", "y_clat_hist.1.log", "a/x_clat_hist.1.log"},
			[]string{"a/x: x_clat_hist.1.log", "x: x_clat_hist.1.log", "y: y_clat_hist.1.log"}, nil},
		{"a host on the folder", []string{"id-7c1f03ab/w.h1/numjobs-1/output.0_lat.1.log", "id-7c1f03ab/w.h2/numjobs-1/output.0_lat.1.log"},
			[]string{"id-7c1f03ab/w/numjobs-1: output.0_lat.1.log output.0_lat.1.log"}, nil},
		{"a second log of a job", []string{"x_clat_hist.1.log", "x_clat_hist.1.log.fz"}, []string{"x: x_clat_hist.1.log"}, []string{"x_clat_hist.1.log.fz"}},
		{"all jobs beside single ones", []string{"x_clat_hist.log", "x_clat_hist.1.log", "x_bw.log"}, []string{"x: x_bw.log x_clat_hist.1.log"},
			[]string{"x_clat_hist.log"}},
		{"depths of one total", []string{w + "iodepth-1/output.0_lat.1.log", w + "iodepth-2/output.1_lat.1.log"},
			[]string{"id-7c1f03ab/w/total_iodepth-3: output.0_lat.1.log output.1_lat.1.log"}, nil},
		{"a volume in two depths", []string{w + "iodepth-1/output.0_lat.1.log", w + "iodepth-2/output.0_lat.1.log"},
			[]string{"id-7c1f03ab/w/total_iodepth-3/iodepth-1: output.0_lat.1.log", "id-7c1f03ab/w/total_iodepth-3/iodepth-2: output.0_lat.1.log"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := read(t.Context(), listed(tt.logs...))
			if diff := cmp.Diff(tt.want, inWords(a)); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			var files []*evidence.File
			for _, l := range a.Left {
				files = append(files, l.File)
			}
			if diff := cmp.Diff(tt.left, paths(files)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}
