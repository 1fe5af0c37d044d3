package cbt

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/pipeline/source"
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
//   - a log, if another of the same size may be a copy of it, or if the user named it and its name says nothing;
//   - one of CBT's YAML files, if names do not show where a folder's name ends and a host begins, or whether reports
//     without logs are fio's;
//   - outside of CBT's layout, job files, and the first report in a file if its name and place do not show to which run
//     it belongs.
//
// When ctx ends, Read returns soon, with an incomplete archive. The caller has to check ctx.
func Read(ctx context.Context, files []*source.File) *Archive {
	var left leftovers
	c := newCatalog(files, &left)
	places := newPlaces(ctx, c)
	kinds := c.sort(&left)

	runs := newDrafts(places, &left)
	for i := range kinds.logs {
		runs.addLog(&kinds.logs[i])
	}
	runs.dropAllJobsLogs()
	skipped := places.skip(kinds.reports, runs)
	reports := slices.DeleteFunc(kinds.reports, func(f *source.File) bool {
		return skipped[folderOf(f, places.of(f, false).config)] != nil || runs.addReport(f)
	})
	a := newAttribution(runs, reports, kinds.jobs)
	a.attribute()
	runs.uniteDepths()
	runs.dropBandwidth()
	a.describe()
	duplicates{runs, newComparer()}.drop()
	return finish(runs, skipped)
}

// finish returns the archive. Configurations that no run has are added to Left.
func finish(runs *drafts, skipped map[folder]*Skipped) *Archive {
	a, c, left := &Archive{}, runs.places.catalog, runs.left
	present := runs.present()
	runs.inOrder(present)
	numberTwins(present)
	used := map[*source.File]bool{}
	for _, r := range present {
		slices.SortStableFunc(r.Logs, compareLogs)
		slices.SortStableFunc(r.Others, compareLogs)
		slices.SortStableFunc(r.Reports, func(a, b Report) int {
			return cmp.Or(compareReports(a, b), c.order[a.File]-c.order[b.File])
		})
		used[r.Config], used[r.ArchiveConfig] = true, true
		a.Runs = append(a.Runs, &r.Run)
	}
	for _, s := range skipped {
		a.Skipped = append(a.Skipped, *s)
		used[s.archiveConfig] = true
		for _, f := range s.Files {
			used[f] = true // its configuration is one of its files
		}
	}
	slices.SortFunc(a.Skipped, func(a, b Skipped) int { return c.order[a.Files[0]] - c.order[b.Files[0]] })
	for _, f := range c.configs {
		switch {
		case used[f]:
		case path.Base(f.Path) == configName:
			left.add(f, "neither logs nor reports of fio belong to this configuration")
		default:
			left.add(f, "the archive of this configuration has no runs")
		}
	}
	slices.SortStableFunc(*left, func(a, b Left) int { return c.order[a.File] - c.order[b.File] })
	a.Roots = a.roots(*left)
	a.Left = left.firstTen()
	return a
}

// roots returns the arguments that have something to read: files of runs or of skipped benchmarks, files that users may
// expect to be read, or files that another argument also has.
func (a *Archive) roots(left leftovers) map[string]bool {
	roots := map[string]bool{}
	for _, r := range a.Runs {
		for _, f := range r.Files() {
			roots[f.Root] = true
		}
	}
	for _, s := range a.Skipped {
		for _, f := range s.Files {
			roots[f.Root] = true
		}
	}
	for _, l := range left {
		roots[l.File.Root] = roots[l.File.Root] || l.Notable || l.Reason == foundTwice
	}
	return roots
}

// numberTwins numbers runs that have the same path, such as the run of the logs x_* in a folder, and the run in its
// subfolder x.
func numberTwins(runs []*draft) {
	seen := map[folder]int{}
	for _, r := range runs {
		key := folder{r.argument, r.Archive, r.Path}
		if seen[key]++; seen[key] > 1 {
			r.doubt("another run has the same path, so this one gets a number; the number changes if that run is removed")
			r.Path += fmt.Sprintf("#%d", seen[key])
			r.name = ""
		}
	}
}

// without returns a copy of a list without the items for which drop returns true.
func without[T any](list []T, drop func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// addNew appends what is not in a list yet.
func addNew[T comparable](list []T, one T) []T {
	if n := len(list); n > 0 && list[n-1] == one || slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// groups returns lists of the values that have the same key, in the order of their first values.
func groups[T any, K comparable](list []T, keyOf func(T) K) [][]T {
	var all [][]T
	at := map[K]int{}
	for _, one := range list {
		k := keyOf(one)
		i, ok := at[k]
		if !ok {
			i = len(all)
			at[k], all = i, append(all, nil)
		}
		all[i] = append(all[i], one)
	}
	return all
}

// Left is a file that belongs to no run.
type Left struct {
	File   *source.File
	Reason string
	// Notable means that people may expect it to be read: it is a log or a report, or
	// they named it.
	Notable bool
	// More is how many other files have the same kind of reason and are not listed:
	// ten of each kind are.
	More int
}

const foundTwice = "found twice: it was given twice"

// leftovers are the files that belong to no run.
type leftovers []Left

func (l *leftovers) add(f *source.File, reason string) {
	*l = append(*l, Left{File: f, Reason: reason, Notable: f.Named})
}

// addNotable adds a file that people may expect to be read.
func (l *leftovers) addNotable(f *source.File, reason string) {
	*l = append(*l, Left{File: f, Reason: reason, Notable: true})
}

// firstTen keeps ten files for each kind of reason. The last of them has the number of the files that are left out.
func (l leftovers) firstTen() []Left {
	var kinds alike.Counter
	last := map[string]int{}
	first := l[:0]
	for _, one := range l {
		kind := alike.Kind(one.Reason) + strconv.FormatBool(one.Notable)
		if kinds.Add(kind) {
			last[kind] = len(first)
			first = append(first, one)
		}
	}
	kinds.More(func(kind string, n int) {
		if at, ok := last[kind]; ok {
			first[at].More = n
		}
	})
	return first
}
