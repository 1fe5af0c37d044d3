package cbt

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/pipeline/source"
)

// duplicates drops copies of files and runs, by their content, because their requests would count twice.
type duplicates struct {
	runs     *drafts
	contents *comparer
}

func (d duplicates) drop() {
	for _, r := range d.runs.present() {
		d.dropLogs(r)
		d.dropReports(r)
	}
	d.dropRuns()
	d.dropReportRuns()
}

// dropLogs drops logs of one run that have the content of another log of the same kind and number. They are copies
// under the name of another host or volume, unless each has a report of its own.
func (d duplicates) dropLogs(r *draft) {
	reportsOf := func(l Log) []Report {
		return without(r.Reports, func(f Report) bool { return !f.Named || f.Host != l.Host || f.Volume != l.Volume })
	}
	originals := d.contents.copies(r.logs(), func(a, b Log) bool { return d.contents.mayBeOne(reportsOf(a), reportsOf(b)) })
	r.dropLogs(func(l Log) bool {
		other := originals[l.File]
		if other != nil {
			d.runs.left.addNotable(l.File, "the same content as "+other.Name()+", so it counts once")
		}
		return other != nil
	})
}

// dropReports drops reports of one run that have the content of another. CBT stores each twice, as printed and its JSON
// alone, which may be the same. Equal reports of two hosts are copies only if the logs of one host were copies, too.
// The reason is that reports that still grow are short at first.
func (d duplicates) dropReports(r *draft) {
	// Without logs of its host and volume, where others have some, a report may be a copy.
	lostLogs := func(f Report) bool {
		return !r.isReported() && !slices.ContainsFunc(r.logs(), func(l Log) bool { return l.Host == f.Host && l.Volume == f.Volume })
	}
	var kept []Report
	slices.SortStableFunc(r.Reports, compareReports)
	for _, f := range r.Reports {
		i := slices.IndexFunc(kept, func(k Report) bool {
			isPair := k.Named && f.Named && (k.Host == f.Host && k.Volume == f.Volume || !lostLogs(f))
			return k.File != f.File && !isPair && d.contents.sameReport(k.File, f.File)
		})
		switch {
		case i < 0:
			kept = append(kept, f)
		case !f.File.Beside && !slices.ContainsFunc(*d.runs.left, func(l Left) bool { return l.File == f.File }):
			d.runs.left.addNotable(f.File, "the same content as "+kept[i].File.Name()+", so it counts once")
		}
	}
	r.Reports = kept
}

// dropRuns drops a run if another run has all of its logs under the same names, and none or one of its reports. Two runs
// of the same load may have equal logs.
func (d duplicates) dropRuns() {
	for _, runs := range groups(d.runs.present(), (*draft).outline) {
		if len(runs) < 2 || runs[0].outline() == "" {
			continue
		}
		slices.SortStableFunc(runs, func(a, b *draft) int {
			return cmp.Or(min(len(b.Reports), 1)-min(len(a.Reports), 1), a.depth()-b.depth(), d.runs.first(a)-d.runs.first(b))
		})
		logs := make(map[*draft][]Log, len(runs)) // there may be thousands of runs of one outline
		for i, r := range runs {
			logs[r] = byName(&r.Output)
			if j := slices.IndexFunc(runs[:i], func(other *draft) bool {
				return !other.gone && d.contents.sameRun(logs[r], logs[other]) && d.contents.mayBeOne(r.Reports, other.Reports)
			}); j >= 0 {
				d.dropRun(r, runs[j])
			}
		}
	}
}

// dropReportRuns drops runs without logs if other runs have their reports.
func (d duplicates) dropReportRuns() {
	type key struct {
		argument string
		size     int64
	}
	type owned struct {
		file *source.File
		run  *draft
	}
	owners := map[key][]owned{}
	runs := d.runs.present()
	// Runs with logs come first, then the ones higher up.
	slices.SortStableFunc(runs, func(a, b *draft) int {
		rank := func(r *draft) int {
			if r.isReported() {
				return 1 + r.depth()
			}
			return 0
		}
		return cmp.Or(rank(a)-rank(b), d.runs.first(a)-d.runs.first(b))
	})
	for _, r := range runs {
		var of *draft
		known := 0
		for _, f := range r.Reports {
			k := key{r.argument, f.File.Size}
			i := slices.IndexFunc(owners[k], func(o owned) bool {
				return o.run != r && r.isReported() && o.file != f.File && d.contents.sameReport(o.file, f.File)
			})
			if i >= 0 {
				of, known = owners[k][i].run, known+1
			} else if f.File.Size > 0 {
				owners[k] = append(owners[k], owned{f.File, r})
			}
		}
		if of != nil && known == len(r.Reports) {
			d.dropRun(r, of)
		}
	}
}

// dropRun drops a run that is a copy of another, with the files that no other run has.
func (d duplicates) dropRun(r, of *draft) {
	r.gone = true
	for _, f := range r.Files() {
		if f == r.Config || f == r.ArchiveConfig || f == r.Job || f.Beside {
			continue
		}
		if !slices.ContainsFunc(d.runs.all, func(r *draft) bool { return !r.gone && slices.Contains(r.Files(), f) }) {
			d.runs.left.addNotable(f, "part of a copy of "+of.Path+", so it counts once")
		}
	}
}

func (r *draft) depth() int { return strings.Count(r.Path, "/") }

// outline returns the names and sizes of a run's logs as a text, which is the same for copies. It is empty if a size is
// not known, or if all logs are empty.
func (r *draft) outline() string {
	total := int64(0)
	lines := []string{r.argument}
	for _, l := range r.logs() {
		if l.File.Size < 0 {
			return ""
		}
		lines = append(lines, path.Base(l.File.Path)+" "+strconv.FormatInt(l.File.Size, 10))
		total += l.File.Size
	}
	if total == 0 {
		return ""
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}
