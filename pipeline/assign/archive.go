// Package assign says which evidence is one execution of fio: [Read] finds which files make up a run, on which host,
// volume and job each log was written, and with which settings the run was made. [New] finds its jobs, once the reports and the
// first rows of its logs were read: which report covers which log, and what the rows of each job are read from.
//
// Names decide, and CBT's YAML files where names do not suffice. Archives that CBT did not
// make are folders of fio's logs, with one run for each folder and log prefix. Options in
// reports and job files name logs. So they show which prefixes are of one run, and to which
// run a report belongs. A report that no log fits is a run, too. Several prefixes are one run
// only if one report names them, or if they were written at the same time.
//
// No guess is silent. Files that belong to no run are in [Archive.Left] with the reason,
// benchmarks that are not fio's in [Archive.Skipped]. What is likely but not certain is in
// [Run.Doubts]. A report that may be of another execution is a candidate.
//
// Files become runs in steps, which [Read] lists. First the folders above a file and its name say what it is and, for
// logs and for reports of CBT and pbench-fio, which run has it. Outside of their layouts other reports and job files are
// clues: those that name logs of several runs make them one, and the reports go to runs. After that runs are split
// whose prefixes ran at different times. In the end copies are dropped. Outside of these layouts, files of
// several hosts are one run only if the user says so (hosts.go).
//
// Jobs are found in steps, too, and no step opens a file. Options, places and times of files show which logs an entry of a report
// may cover, and its bins prove it, because they contain all rows (covers.go). Then each job gets the best source of rows that
// it has. Faults and doubts are [Remarks].
package assign

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// Archive is what was found under one or more paths.
type Archive struct {
	Runs    []*Run          // in the order of their first files
	Left    []Left          // files that look like fio's or CBT's and belong to no run
	Skipped []Skipped       // benchmarks that are not fio's
	Roots   map[string]bool // the arguments under which any of these were found
}

// Read sorts files into runs. It reads few of them:
//
//   - a log, if another of the same size may be a copy of it, if the user named it and its name says nothing, or its ends
//     if only times can show to which run it belongs;
//   - one of CBT's YAML files, if names do not show where a folder's name ends and a host begins, or whether reports
//     without logs are fio's;
//   - outside of CBT's layout, job files, and the first report in a file if its name and place do not show to which run
//     it belongs.
//
// If there are paths, what was found under them becomes one run, and it is an error if a path does not have the files of one
// host. When ctx ends, Read returns soon, with an incomplete archive. The caller has to check ctx.
func Read(ctx context.Context, files []*evidence.File, paths []HostPath) (*Archive, error) {
	s := newSorter(ctx, files)
	logs, reports, jobs := s.kinds()
	for i := range logs {
		s.addLog(&logs[i])
	}
	s.dropAllJobsLogs()
	skipped := s.skip(reports)
	reports = slices.DeleteFunc(reports, func(f *evidence.File) bool {
		return skipped[layout.FolderOf(f, s.PlaceOf(f, false).Config)] != nil || s.addReport(f)
	})
	c := s.clues(reports, jobs)
	c.attribute()
	s.uniteDepths()
	s.dropBandwidth()
	c.describe()
	if len(paths) > 0 {
		if err := s.oneRun(paths); err != nil {
			return nil, err
		}
	}
	s.dropCopies()
	if len(paths) == 0 {
		s.suggestOneRun()
	}

	a := &Archive{Runs: s.inOrder(present(s.runs)), Roots: map[string]bool{}}
	used := map[*evidence.File]bool{}
	use := func(f *evidence.File) { used[f], a.Roots[f.Root] = true, true }
	// Runs may have the same path, such as the run of the logs x_* in a folder, and the run in its subfolder x.
	twins := map[layout.Folder]int{}
	for _, r := range a.Runs {
		key := layout.Folder{Argument: r.argument, Archive: r.Archive, Path: r.Path}
		if twins[key]++; twins[key] > 1 {
			r.doubt("another run has the same path, so this one gets a number; the number changes if that run is removed")
			r.Path += fmt.Sprintf("#%d", twins[key])
		}
		slices.SortStableFunc(r.Logs, compareLogs)
		slices.SortStableFunc(r.Others, compareLogs)
		slices.SortStableFunc(r.Reports, func(a, b Report) int {
			return cmp.Or(cmp.Compare(a.Found, b.Found), s.order[a.File]-s.order[b.File])
		})
		for _, f := range r.Files() {
			use(f)
		}
		if r.Below = r.Path; len(paths) > 0 || len(r.Files()) == 0 {
			continue
		}
		if name, below, at, ok := s.Archive(r.Files()[0], r.at, r.Path); ok {
			r.Archive, r.Path, r.at = name, below, at
		}
	}
	for _, one := range skipped {
		a.Skipped = append(a.Skipped, *one)
		used[one.archiveConfig] = true
		for _, f := range one.Files {
			use(f) // its configuration is one of its files
		}
	}
	slices.SortFunc(a.Skipped, func(a, b Skipped) int { return s.order[a.Files[0]] - s.order[b.Files[0]] })
	for _, f := range s.Configs() { // those that no run has
		switch {
		case used[f]:
		case path.Base(f.Path) == layout.ConfigName:
			s.leave(f, "neither logs nor reports of fio belong to this configuration")
		default:
			s.leave(f, "the archive of this configuration has no runs")
		}
	}
	slices.SortStableFunc(s.left, func(a, b Left) int { return s.order[a.File] - s.order[b.File] })
	left := alike.List[Left]{Shown: 10}
	for _, one := range s.left {
		a.Roots[one.File.Root] = a.Roots[one.File.Root] || one.Notable || one.Reason == foundTwice
		left.Add(alike.Kind(one.Reason)+strconv.FormatBool(one.Notable), one)
	}
	left.Each(func(_ string, one Left, more int) {
		one.More = more
		a.Left = append(a.Left, one)
	})
	return a, nil
}
