package assign_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// logText is a log with enough in it to be known again; seeds make others of its size.
func logText(seed int) string {
	var b strings.Builder
	for row := range 40 {
		fmt.Fprintf(&b, "%d, 1, 4096, %d, %d, 0\n", 1000*(row+1), 100+(seed*7+row)%899, 100+(seed*13+row*3)%899)
	}
	return b.String()
}

// runFiles are the runs with the files of their logs and reports.
func runFiles(a *assign.Archive) []string {
	var all []string
	for _, r := range a.Runs {
		var files []string
		for _, f := range r.Files() {
			files = append(files, f.Path)
		}
		all = append(all, r.Below+": "+strings.Join(files, " "))
	}
	slices.Sort(all)
	return all
}

var idDir = strings.TrimSuffix(id, "/")

// duplicateCases are folders with copies in them.
var duplicateCases = []struct {
	name  string
	files tree
	want  []string
	left  []string // paths
}{
	{
		name: "copies by name are no hosts",
		files: tree{
			"x_clat_hist.1.log": logText(1), "x_clat_hist.1.log.bak": logText(2), "x_clat_hist.1.log.old": logText(3), "x_clat_hist.1.log~": logText(4),
			"x_clat_hist.1.log.1": logText(5), "x_clat_hist.1 (copy).log": logText(6), "Copy of x_clat_hist.1.log": logText(7), "x_clat_hist.2.log.orig": logText(8),
			"x_clat_hist.1.log.10.0.0.1": logText(9),
		},
		want: []string{"x: x_clat_hist.1.log x_clat_hist.1.log.10.0.0.1"},
		left: []string{"Copy of x_clat_hist.1.log", "x_clat_hist.1 (copy).log", "x_clat_hist.1.log.1", "x_clat_hist.1.log.bak", "x_clat_hist.1.log.old",
			"x_clat_hist.1.log~", "x_clat_hist.2.log.orig"},
	},
	{
		name:  "the same log under two hosts' names",
		files: tree{"x_clat_hist.1.log.a": logText(1), "x_clat_hist.1.log.b": logText(1), "x_clat_hist.2.log.a": logText(2), "x_clat_hist.2.log.b": logText(3)},
		want:  []string{"x: x_clat_hist.1.log.a x_clat_hist.2.log.a x_clat_hist.2.log.b"},
		left:  []string{"x_clat_hist.1.log.b"},
	},
	{
		name:  "jobs that did the same are no copies, nor are logs with next to nothing in them",
		files: tree{"x_clat_hist.1.log": logText(1), "x_clat_hist.2.log": logText(1), "y_clat_hist.1.log.a": "1000, 0, 4096, 1\n", "y_clat_hist.1.log.b": "1000, 0, 4096, 1\n"},
		want:  []string{"x: x_clat_hist.1.log x_clat_hist.2.log", "y: y_clat_hist.1.log.a y_clat_hist.1.log.b"},
	},
	{
		name: "two nights with equal logs, and a copy of one of them",
		files: tree{
			"night1/" + id + "output.0_clat_hist.1.log.h1": logText(1), "night1/" + id + "output.0.h1": fioReport(job{"j", "bs=1k"}), "night1/" + id + "json_output.0.h1": "",
			"night2/" + id + "output.0_clat_hist.1.log.h1": logText(1), "night2/" + id + "output.0.h1": fioReport(job{"j", "bs=2k"}), "night2/" + id + "json_output.0.h1": "",
			"saved/" + id + "output.0_clat_hist.1.log.h1": logText(1), "saved/" + id + "output.0.h1": fioReport(job{"j", "bs=2k"}), "saved/" + id + "json_output.0.h1": "",
		},
		want: []string{
			"night1/" + idDir + ": night1/" + id + "output.0_clat_hist.1.log.h1 night1/" + id + "json_output.0.h1 night1/" + id + "output.0.h1",
			"night2/" + idDir + ": night2/" + id + "output.0_clat_hist.1.log.h1 night2/" + id + "json_output.0.h1 night2/" + id + "output.0.h1",
		},
		left: []string{"saved/" + id + "json_output.0.h1", "saved/" + id + "output.0.h1", "saved/" + id + "output.0_clat_hist.1.log.h1"},
	},
	{
		name: "two hosts with equal logs and reports of their own",
		files: tree{
			id + "output.0_clat_hist.1.log.h1": logText(1), id + "output.0.h1": fioReport(job{"j", "bs=1k"}),
			id + "output.0_clat_hist.1.log.h2": logText(1), id + "output.0.h2": fioReport(job{"j", "bs=2k"}),
		},
		want: []string{idDir + ": " + id + "output.0_clat_hist.1.log.h1 " + id + "output.0_clat_hist.1.log.h2 " + id + "output.0.h1 " + id + "output.0.h2"},
	},
	{
		name: "a folder with copies of all",
		files: tree{
			"x_clat_hist.1.log": logText(1), "x_clat_hist.2.log": logText(2), "backup/x_clat_hist.1.log": logText(1), "backup/x_clat_hist.2.log": logText(2),
		},
		want: []string{"x: x_clat_hist.1.log x_clat_hist.2.log"},
		left: []string{"backup/x_clat_hist.1.log", "backup/x_clat_hist.2.log"},
	},
	{
		name: "a folder with an older run of the same names",
		files: tree{
			"x_clat_hist.1.log": logText(1), "x_clat_hist.2.log": logText(2), "backup/x_clat_hist.1.log": logText(1), "backup/x_clat_hist.2.log": logText(3),
		},
		want: []string{"backup/x: backup/x_clat_hist.1.log backup/x_clat_hist.2.log", "x: x_clat_hist.1.log x_clat_hist.2.log"},
	},
	{
		name: "reports",
		files: tree{
			"x_clat_hist.1.log": logText(1), "x.json": fioReport(job{"j", histMsec, "write_hist_log=x"}), "x (1).json": fioReport(job{"j", histMsec, "write_hist_log=x"}),
			"x.json.bak": fioReport(job{"j", histMsec, "write_hist_log=x", "bs=8k"}), "copy.json": fioReport(job{"j", histMsec, "write_hist_log=x"}),
		},
		want: []string{"x: x_clat_hist.1.log x.json"},
		left: []string{"copy.json", "x (1).json", "x.json.bak"},
	},
	{
		name:  "reports without logs",
		files: tree{"a.json": fioReport(job{"j", "size=1"}), "b/a.json": fioReport(job{"j", "size=1"}), "c.json": fioReport(job{"j", "size=2"})},
		want:  []string{"a: a.json", "c: c.json"},
		left:  []string{"b/a.json"},
	},
	{
		name: "a CBT archive twice",
		files: tree{"a/" + id + "output.0_clat_hist.1.log.h1": logText(1), "b/" + id + "output.0_clat_hist.1.log.h1": logText(1),
			"a/" + id + layout.ConfigName: yamlOf("benchmark: fio"), "b/" + id + layout.ConfigName: yamlOf("benchmark: fio")},
		want: []string{"a/" + strings.TrimSuffix(id, "/") + ": a/" + id + "output.0_clat_hist.1.log.h1 a/" + id + layout.ConfigName},
		left: []string{"b/" + id + layout.ConfigName, "b/" + id + "output.0_clat_hist.1.log.h1"},
	},
	{
		name: "CBT's two forms of one report, and the report of one host for another",
		files: tree{id + "output.0.h1": fioReport(job{"j"}), id + "json_output.0.h1": fioReport(job{"j"}), id + "output.0.h2": fioReport(job{"j"}),
			id + "output.0_clat_hist.1.log.h1": logText(1), id + "output.0_clat_hist.1.log.h2": logText(1)},
		want: []string{strings.TrimSuffix(id, "/") + ": " + id + "output.0_clat_hist.1.log.h1 " + id + "json_output.0.h1 " + id + "output.0.h1"},
		left: []string{id + "output.0.h2", id + "output.0_clat_hist.1.log.h2"},
	},
	{
		name:  "the copy that has the report",
		files: tree{"x_clat_hist.1.log": logText(1), "run/x_clat_hist.1.log": logText(1), "run/x.json": fioReport(job{"j", histMsec, "write_hist_log=x"})},
		want:  []string{"run/x: run/x_clat_hist.1.log run/x.json"},
		left:  []string{"x_clat_hist.1.log"},
	},
	{
		name: "logs that begin alike",
		files: tree{"x_clat_hist.1.log.a": strings.Repeat(logText(1), 20) + "1\n", "x_clat_hist.1.log.b": strings.Repeat(logText(1), 20) + "2\n",
			"x_clat_hist.1.log.c": strings.Repeat(logText(1), 20) + "2\n"},
		want: []string{"x: x_clat_hist.1.log.a x_clat_hist.1.log.b"},
		left: []string{"x_clat_hist.1.log.c"},
	},
	{
		name:  "logs of another kind",
		files: tree{"x_clat_hist.1.log": logText(1), "x_bw.1.log": logText(1)},
		want:  []string{"x: x_clat_hist.1.log x_bw.1.log"},
	},
	{
		name:  "two runs with next to nothing in their logs are no copies",
		files: tree{"a/x_clat_hist.1.log": "1000, 0, 4096, 1\n", "b/x_clat_hist.1.log": "1000, 0, 4096, 1\n"},
		want:  []string{"a/x: a/x_clat_hist.1.log", "b/x: b/x_clat_hist.1.log"},
	},
	{
		name: "two runs in which fio has only begun to write its reports are no copies",
		files: tree{"a/" + id + "json_output.0.h1": "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n",
			"b/" + id + "json_output.0.h1": "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n"},
		want: []string{"a/" + idDir + ": a/" + id + "json_output.0.h1", "b/" + idDir + ": b/" + id + "json_output.0.h1"},
	},
	{
		name:  "a copy of CBT's files",
		files: tree{}.with(id+"output.0_clat_hist.1.log.h1", id+"output.0_clat_hist.1.log.h1.bak", id+"json_output.0.h1", id+"output.0.10.0.0.1"),
		want:  []string{strings.TrimSuffix(id, "/") + ": " + id + "output.0_clat_hist.1.log.h1 " + id + "json_output.0.h1 " + id + "output.0.10.0.0.1"},
		left:  []string{id + "output.0_clat_hist.1.log.h1.bak"},
	},
}

func TestDuplicates(t *testing.T) {
	for _, tt := range duplicateCases {
		t.Run(tt.name, func(t *testing.T) {
			for how, a := range map[string]*assign.Archive{"folder": tt.files.read(t), "packed": read(context.Background(), scan(t, tt.files.pack(t, "arch")))} {
				if diff := cmp.Diff(tt.want, runFiles(a)); diff != "" {
					t.Errorf("%s: runs (-want +got):\n%s", how, diff)
				}
				var left []string
				for _, l := range a.Left {
					left = append(left, l.File.Path)
					if !l.Notable && !strings.HasSuffix(l.File.Path, ".yaml") {
						t.Errorf("%s: %s is left in silence: %s", how, l.File.Path, l.Reason)
					}
				}
				slices.Sort(left)
				if diff := cmp.Diff(tt.left, left); diff != "" {
					t.Errorf("%s: left (-want +got):\n%s", how, diff)
				}
			}
		})
	}
}

// However a run is copied within a tree, it is read once.
func TestCopiesCountOnce(t *testing.T) {
	dirs := []string{"backup", "old/run", "z", "a/b/c"}
	rapid.Check(t, func(rt *rapid.T) {
		files, report := tree{}, fioReport(job{"j", histMsec, "write_hist_log=x"})
		jobs := rapid.IntRange(1, 3).Draw(rt, "jobs")
		for j := range jobs {
			files[fmt.Sprintf("run/x_clat_hist.%d.log", j+1)] = logText(j)
		}
		if rapid.Bool().Draw(rt, "report") {
			files["run/x.json"] = report
		}
		all := tree{}
		for p, content := range files {
			all[p] = content
			for _, d := range rapid.Permutation(dirs).Draw(rt, "dirs")[:rapid.IntRange(0, 4).Draw(rt, "copies")] {
				all[d+"/"+filepath.Base(p)+"~"] = content
			}
		}
		for _, d := range rapid.Permutation(dirs).Draw(rt, "dirs")[:rapid.IntRange(0, 4).Draw(rt, "copies")] {
			for p, content := range files {
				all[d+"/"+filepath.Base(p)] = content
			}
		}
		a := all.read(t)
		logs := 0
		for _, r := range a.Runs {
			logs += len(r.Logs)
		}
		if len(a.Runs) != 1 || logs != jobs {
			rt.Errorf("%q, left %q", runFiles(a), reasons(a))
		}
	})
}
