package cbt

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/source"
)

// Archive is what was found under one or more paths.
type Archive struct {
	Runs    []*Run          // in the order of their first files
	Left    []Left          // what looks like fio's or CBT's but belongs to no run
	Skipped []Skipped       // benchmarks that are not fio's
	Roots   map[string]bool // the arguments under which there is any of these
}

// Read sorts files into runs. It reads a log only if another of the same size may be a
// copy of it, or if the user named a file by a name that says nothing. It reads one of CBT's
// YAML files only if names leave a question: where a host's name begins in that of a folder,
// and whether reports without any log are fio's. Outside CBT's layout
// it reads job files, and the first of fio's reports in a file where names and places do not
// show whose it is.
//
// When ctx ends it returns soon, with an incomplete archive: the caller has to look at ctx.
func Read(ctx context.Context, files []*source.File) *Archive {
	var left leftovers
	c := newCatalog(files, &left)
	places := newPlaces(ctx, c)
	budget := new(Budget)
	kinds := c.sort(&left)

	runs := newDrafts(places, &left)
	for i := range kinds.logs {
		runs.addLog(&kinds.logs[i])
	}
	runs.dropAllJobsLogs()
	runs.uniteFamilies()
	skipped := places.skip(kinds.reports, runs)
	reports := slices.DeleteFunc(kinds.reports, func(f *source.File) bool {
		return skipped[folderOf(f, places.of(f, false).config)] != nil || runs.addReport(f)
	})
	a := newAttribution(runs, budget, reports, kinds.jobs)
	a.attribute()
	runs.uniteDepths()
	a.describe()
	duplicates{runs, newComparer(budget)}.drop()
	return finish(runs, skipped, budget)
}

// finish is the outcome, with the configurations that no run has.
func finish(runs *drafts, skipped map[folder]*Skipped, budget *Budget) *Archive {
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
		r.Budget = budget
		used[r.Config], used[r.ArchiveConfig] = true, true
		a.Runs = append(a.Runs, &r.Run)
	}
	for _, s := range skipped {
		a.Skipped = append(a.Skipped, *s)
		used[s.archiveConfig] = true
		for _, f := range s.Files {
			used[f] = true // its configuration, too
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

// roots are the arguments that have files of runs, of skipped benchmarks, that people may expect to be read, or that
// another argument has, too.
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

// numberTwins numbers runs of one path: of logs x_* in a folder, and of those in its folder x.
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

// without is a copy of a list that lacks what drop reports.
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

// groups are the values that have a key in common, in the order of the first of each.
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
