package assign_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/testcost"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/fio2es/fio2es/pipeline/source"
)

// anyPath makes paths that look like CBT's, more or less.
func anyPath() *rapid.Generator[string] {
	dirs := []string{
		"results", "00000000", "00000001", "id-7c1f03ab", "id-00000001", "w.h1", "w.h1.lab", "v", "randread_4096.h1", "rbdfio", "rbdfio.h2",
		"osd_ra-00004096", "osd_ra-00004096.h1", "op_size-4096", "iodepth-001", "iodepth-002", "total_iodepth-16", "numjobs-1", "randread",
		"write", "collectl", "idle_monitoring.h1", "a", "x",
	}
	names := []string{
		"benchmark_config.yaml", "cbt_config.yaml", "output.0", "output.0.h1", "output.h2", "json_output.1.h1", "output.0.json.h1", "x.json", "x", "output.txt",
		"output.0_clat_hist.1.log", "output.0_clat_hist.1.log.h1", "output.0_clat_hist.1.log.fz.h1", "output.1_clat_hist.2.log.h2.lab", "output_clat_hist.1.log.h1",
		"output.0_clat_hist.log.h1", "output.0_bw.1.log.h1", "output.1_iops.1.log", "x_clat_hist.1.log", "y_lat.1.log", "_bw.1.log", "ceph_settings.out", "README.md",
	}
	return rapid.Custom(func(t *rapid.T) string {
		p := filepath.Join(rapid.SliceOfN(rapid.SampledFrom(dirs), 0, 6).Draw(t, "dirs")...)
		if rapid.Bool().Draw(t, "as CBT") {
			p = filepath.Join("results", "00000000", "id-7c1f03ab", p)
		}
		return filepath.Join(p, rapid.SampledFrom(names).Draw(t, "name"))
	})
}

func TestMain(m *testing.M) {
	testcost.Lower()
	m.Run()
}

// Every file is a run's log, or report, or configuration, or left, or skipped: one of these.
func TestEveryFileOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		folder, err := os.MkdirTemp("", "cbt")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(folder)
		root := filepath.Join(folder, "lab") // a scan also looks beside it, where other programs may have left reports
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		content := rapid.SampledFrom([]string{"", "a: [", "cluster: {benchmark: radosbench}", "cluster: {benchmark: fio, workloads: {w.h1: {}}, clients: [lab]}"})
		for _, p := range rapid.SliceOfN(anyPath(), 1, 40).Draw(t, "paths") {
			file := filepath.Join(root, p)
			if os.MkdirAll(filepath.Dir(file), 0o755) == nil { // not below a file
				_ = os.WriteFile(file, []byte(content.Draw(t, "content")), 0o644) // nor over a folder
			}
		}
		set, err := source.Scan(t.Context(), []string{root}, layout.Options())
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		files := evidence.All(set.Files)
		a, again := read(context.Background(), files), read(context.Background(), evidence.All(set.Files))
		checkOnce(t, files, a)
		if diff := cmp.Diff(shorts(a), shorts(again)); diff != "" {
			t.Errorf("read again:\n%s", diff)
		}
		if diff := cmp.Diff(reasons(a), reasons(again)); diff != "" {
			t.Errorf("left when read again:\n%s", diff)
		}
	})
}

func checkOnce(t *rapid.T, files []*evidence.File, a *assign.Archive) {
	const (
		log = 1 << iota
		report
		config
		left
		skipped
	)
	what, logs := map[*evidence.File]int{}, map[*evidence.File]int{}
	paths := map[string]bool{}
	for _, r := range a.Runs {
		if paths[r.Path] || r.Name() == "" {
			t.Errorf("path %q twice, or without a name: %q", r.Path, r.Name())
		}
		paths[r.Path] = true
		for _, l := range append(r.Logs[:len(r.Logs):len(r.Logs)], r.Others...) {
			logs[l.File]++
			what[l.File] |= log
		}
		for _, f := range r.Reports {
			what[f.File] |= report
		}
		what[r.Config] |= config
		what[r.ArchiveConfig] |= config
		if len(r.Logs)+len(r.Others)+len(r.Reports) == 0 {
			t.Errorf("%s is empty", r.Path)
		}
	}
	for _, l := range a.Left {
		what[l.File] |= left
	}
	for _, s := range a.Skipped {
		for _, f := range s.Files {
			what[f] |= skipped
		}
	}
	for _, f := range files {
		got, role := what[f], layout.RoleOf(f.Path)
		switch {
		case logs[f] > 1 || got&(got-1) != 0:
			t.Errorf("%s: %b, logs %d", f.Path, got, logs[f])
		case !layout.Wanted(f.Path) && got != report:
			t.Errorf("%s is of no use by its name, but %b", f.Path, got)
		case got == 0 && role == layout.RoleConfig && filepath.Base(f.Path) == layout.ArchiveConfigName && len(a.Skipped) > 0:
		case got == 0 && role != layout.RoleNone && role != layout.RoleLoose:
			t.Errorf("%s is nowhere", f.Path)
		}
	}
}

// anyFolder makes folders of fio's files as people make them: several runs, with reports,
// job files, copies and other things beside, above and below.
func anyFolder() *rapid.Generator[tree] {
	dirs := []string{"", "a/", "a/b/", "logs/", "1-read-4KiB/sample1/", "1-read-4KiB/sample1/clients/h1/", "backup/"}
	logs := []string{"x_clat_hist.1.log", "x_clat_hist.2.log", "y_clat_hist.1.log", "y_clat_hist.2.log", "x_clat_hist.1.log.bak", "fio_clat_hist.1.log",
		"x_clat.1.log", "x_clat_hist.1.log.h1", "x_clat_hist.1.log.h2", "y_clat_hist.log"}
	clues := []string{"x.json", "out.json", "out", "result.dat", "fio-result.txt", "x.json.bak", "x (1).json", "fio.job", "x.fio"}
	values := []string{"x", "y", "a/x", "logs/x", "../logs/y", "/home/u/a/x", "none"}
	return rapid.Custom(func(t *rapid.T) tree {
		files := tree{}
		for range rapid.IntRange(1, 8).Draw(t, "logs") {
			name := rapid.SampledFrom(dirs).Draw(t, "dir") + rapid.SampledFrom(logs).Draw(t, "log")
			files[name] = logText(rapid.IntRange(1, 3).Draw(t, "seed"))
		}
		for range rapid.IntRange(0, 5).Draw(t, "clues") {
			name := rapid.SampledFrom(dirs).Draw(t, "dir") + rapid.SampledFrom(clues).Draw(t, "clue")
			var jobs []job
			text := "[global]\nlog_hist_msec=1000\n"
			for range rapid.IntRange(1, 3).Draw(t, "jobs") {
				value := rapid.SampledFrom(values).Draw(t, "value")
				jobs = append(jobs, job{value, histMsec, "write_hist_log=" + value})
				text += "[" + value + "]\nwrite_hist_log=" + value + "\n"
			}
			files[name] = fioReport(jobs...)
			if layout.RoleOf(name) == layout.RoleJob {
				files[name] = text
			}
			if rapid.IntRange(0, 9).Draw(t, "empty") == 0 {
				files[name] = ""
			}
		}
		return files
	})
}

// A folder is the same as a tar of it, as two folders below others, and each time; no log is
// in two runs, and none is lost without a word.
func TestFoldersAnyWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := anyFolder().Draw(rt, "files")
		folder := files.read(t)
		want := append(found(folder), reasons(folder)...)
		packed := read(context.Background(), scan(t, files.pack(t, "arch")))
		deep := files.under("to/the").read(t)
		for how, a := range map[string]*assign.Archive{"packed": packed, "deeper": deep, "again": files.read(t)} {
			got := append(found(a), reasons(a)...)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "to/the/", "")
			}
			if diff := cmp.Diff(withoutPlaces(want), withoutPlaces(got)); diff != "" {
				rt.Errorf("(-folder +%s):\n%s", how, diff)
			}
		}
		seen := map[string]int{}
		for _, r := range folder.Runs {
			for _, l := range logsOf(r) {
				seen[l.File.Path]++
			}
		}
		for _, l := range folder.Left {
			seen[l.File.Path]++
		}
		for p := range files {
			if layout.RoleOf(p) == layout.RoleLog && seen[p] != 1 {
				rt.Errorf("%s is %d times in a run or left", p, seen[p])
			}
		}
	})
}

// withoutPlaces are texts without the names of files on disk.
func withoutPlaces(texts []string) []string {
	var all []string
	for _, t := range texts {
		all = append(all, diskName.ReplaceAllString(t, "…"))
	}
	return all
}

var diskName = regexp.MustCompile(`/tmp/[^,;: ]*|[^ ]*arch[^ ]*`)
