package assign

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
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

// drafted sorts logs into runs by their names alone.
func drafted(t *testing.T, names ...string) *sorter {
	t.Helper()
	s := newSorter(t.Context(), listed(names...))
	logs, _, _ := s.kinds()
	for _, l := range logs {
		s.addLog(&l)
	}
	return s
}

// inWords are runs with the logs that they have, by file.
func inWords(s *sorter) []string {
	var all []string
	for _, r := range present(s.runs) {
		var logs []string
		for _, l := range r.logs() {
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
		name  string
		logs  []string
		want  []string
		left  []string
		unite func(*sorter)
	}{
		{"one prefix", []string{"x_clat_hist.1.log", "x_clat_hist.2.log", "x_bw.1.log"}, []string{"x: x_bw.1.log x_clat_hist.1.log x_clat_hist.2.log"}, nil, nil},
		{"volumes are of one run", []string{"x.0_clat_hist.1.log", "x.1_clat_hist.1.log"}, []string{"x: x.0_clat_hist.1.log x.1_clat_hist.1.log"}, nil, nil},
		{"prefixes and folders", []string{"x_clat_hist.1.log", "y_clat_hist.1.log", "a/x_clat_hist.1.log"},
			[]string{"a/x: x_clat_hist.1.log", "x: x_clat_hist.1.log", "y: y_clat_hist.1.log"}, nil, nil},
		{"a host on the folder", []string{"id-7c1f03ab/w.h1/numjobs-1/output.0_lat.1.log", "id-7c1f03ab/w.h2/numjobs-1/output.0_lat.1.log"},
			[]string{"id-7c1f03ab/w/numjobs-1: output.0_lat.1.log output.0_lat.1.log"}, nil, nil},
		{"a second log of a job", []string{"x_clat_hist.1.log", "x_clat_hist.1.log.fz"}, []string{"x: x_clat_hist.1.log"}, []string{"x_clat_hist.1.log.fz"}, nil},
		{"all jobs beside single ones", []string{"x_clat_hist.log", "x_clat_hist.1.log", "x_bw.log"}, []string{"x: x_bw.log x_clat_hist.1.log"},
			[]string{"x_clat_hist.log"}, (*sorter).dropAllJobsLogs},
		{"depths of one total", []string{w + "iodepth-1/output.0_lat.1.log", w + "iodepth-2/output.1_lat.1.log"},
			[]string{"id-7c1f03ab/w/total_iodepth-3: output.0_lat.1.log output.1_lat.1.log"}, nil, (*sorter).uniteDepths},
		{"a volume in two depths", []string{w + "iodepth-1/output.0_lat.1.log", w + "iodepth-2/output.0_lat.1.log"},
			[]string{"id-7c1f03ab/w/total_iodepth-3/iodepth-1: output.0_lat.1.log", "id-7c1f03ab/w/total_iodepth-3/iodepth-2: output.0_lat.1.log"}, nil, (*sorter).uniteDepths},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := drafted(t, tt.logs...)
			if tt.unite != nil {
				tt.unite(s)
			}
			if diff := cmp.Diff(tt.want, inWords(s)); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			var files []*evidence.File
			for _, l := range s.left {
				files = append(files, l.File)
			}
			if diff := cmp.Diff(tt.left, paths(files)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNumberedThrough: jobs of one execution have the numbers 1 to n on each host, and no
// number twice.
func TestNumberedThrough(t *testing.T) {
	tests := []struct {
		runs     string // logs of each as HOST.JOB
		entries  int
		through  bool
		collides bool
	}{
		{"a.1 a.2|a.3", 1, true, false},
		{"a.1 a.2|a.3", 3, false, false},
		{"a.1|a.3", 1, false, false},
		{"a.1 b.1|a.2 b.2", 1, true, false},
		{"a.1 b.1|a.2", 1, false, false},
		{"a.0|a.1 a.2", 1, false, false},
		{"a.1|a.1 a.2", 1, true, true},
		{"a.0|a.0", 1, false, false},
	}
	for _, tt := range tests {
		var runs []*Run
		for i, logs := range strings.Split(tt.runs, "|") {
			r := &Run{}
			for _, text := range strings.Fields(logs) {
				l := Log{Kind: fiolog.ClatHist, Prefix: string(rune('x' + i)), File: evidence.Of(&source.File{})}
				if _, err := fmt.Sscanf(strings.Replace(text, ".", " ", 1), "%s %d", &l.Host, &l.Job); err != nil {
					t.Fatal(err)
				}
				r.Logs = append(r.Logs, l)
			}
			runs = append(runs, r)
		}
		if got := countsThrough(runs, tt.entries); got != tt.through {
			t.Errorf("%s, %d entries: numbered through: %v", tt.runs, tt.entries, got)
		}
		if got := collision(runs); (got != "") != tt.collides {
			t.Errorf("%s: collision %q", tt.runs, got)
		}
	}
}
