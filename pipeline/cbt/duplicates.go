package cbt

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

var numberMark = regexp.MustCompile(`^\.\d+$`)

// dropOldReports drops reports whose names say that they are older than another that
// is there: out.json.bak beside out.json.
func (s *sorter) dropOldReports(reports []*source.File) []*source.File {
	return without(reports, func(f *source.File) bool {
		base := path.Base(f.Path)
		original, mark := fiolog.CutCopyMark(base)
		isOld := mark != "" && strings.ContainsRune("~.-", rune(mark[0])) && !strings.HasPrefix(mark, "- ")
		isVolume := numberMark.MatchString(mark) && reportFile.MatchString(base) // or part of an address
		if !isOld || isVolume || f.Named || roleOf(original) != roleReport || !s.hasOriginal(f) {
			return false
		}
		if f.Beside || !isReport(f) {
			return true
		}
		s.leaveOut(f, fmt.Sprintf("a copy of a report, as its name says (%s)", mark))
		return true
	})
}

// dropDuplicates drops files and runs that are there twice with the same content, because
// their requests would count twice.
func (s *sorter) dropDuplicates() {
	t := duplicates{sums: map[*source.File]*sum{}, budget: s.budget}
	for _, r := range s.present() {
		s.dropDuplicateLogs(r, &t)
		s.dropDuplicateReports(r, &t)
	}
	s.dropDuplicateRuns(&t)
	s.dropDuplicateReportRuns(&t)
}

// dropDuplicateLogs drops logs of one run that have the content of another of the same
// kind and number: copies under another host's name, or of another volume.
func (s *sorter) dropDuplicateLogs(r *Run, t *duplicates) {
	type key struct {
		kind         fiolog.Kind
		job          int
		size         int64
		first, whole [sha256.Size]byte
	}
	keys := map[*source.File]key{}
	for _, l := range r.logs() {
		if l.File.Size > 0 {
			keys[l.File] = key{kind: l.Kind, job: l.Job, size: l.File.Size}
		}
	}
	// Only files that may still be the same are read: first their beginnings, then the rest.
	compare := func(read func(*source.File, key)) {
		count := map[key]int{}
		for _, k := range keys {
			count[k]++
		}
		for f, k := range keys {
			if count[k] > 1 {
				read(f, k)
			}
		}
	}
	compare(func(f *source.File, k key) {
		k.first = *t.begin(f).first
		keys[f] = k
	})
	compare(func(f *source.File, k key) {
		x := t.begin(f)
		if t.finish(f, x); x.bad || x.digits < leastOfLog {
			delete(keys, f)
			return
		}
		k.whole = *x.whole
		keys[f] = k
	})
	originals := map[key]*source.File{}
	r.dropLogs(func(l Log) bool {
		k, ok := keys[l.File]
		if !ok {
			return false
		}
		if other := originals[k]; other != nil {
			s.leaveOut(l.File, "the same content as "+other.Name()+", so it counts once")
			return true
		}
		originals[k] = l.File
		return false
	})
}

// dropDuplicateReports drops reports of one run that have the content of another. CBT keeps
// each twice, as it was printed and the JSON alone, which may be the same. Of two hosts
// they are copies only where the logs of one were copies, too: reports that grow have
// little in them at first.
func (s *sorter) dropDuplicateReports(r *Run, t *duplicates) {
	var kept []Report
	slices.SortStableFunc(r.Reports, compareReports)
	for _, f := range r.Reports {
		i := slices.IndexFunc(kept, func(k Report) bool {
			isPair := k.Named && f.Named && (k.Host == f.Host && k.Volume == f.Volume || !s.lostLogs(r, f))
			return k.File != f.File && !isPair && t.sameReport(k.File, f.File)
		})
		switch {
		case i < 0:
			kept = append(kept, f)
		case !f.File.Beside && !slices.ContainsFunc(s.left, func(l Left) bool { return l.File == f.File }):
			s.leaveOut(f.File, "the same content as "+kept[i].File.Name()+", so it counts once")
		}
	}
	r.Reports = kept
}

// lostLogs reports whether a run has logs, but none of the host and volume of a report.
func (s *sorter) lostLogs(r *Run, f Report) bool {
	return !r.isReported() && !slices.ContainsFunc(r.logs(), func(l Log) bool { return l.Host == f.Host && l.Volume == f.Volume })
}

// dropDuplicateReportRuns drops runs without logs whose reports are other runs', too.
func (s *sorter) dropDuplicateReportRuns(t *duplicates) {
	type key struct {
		argument string
		size     int64
	}
	owners := map[key][]ownedReport{}
	alone := func(r *Run) int { // runs with logs come first, then the ones higher up
		if r.isReported() {
			return 1 + strings.Count(r.Path, "/")
		}
		return 0
	}
	runs := s.present()
	slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Or(alone(a)-alone(b), s.first(a)-s.first(b)) })
	for _, r := range runs {
		var of *Run
		known := 0
		for _, f := range r.Reports {
			k := key{r.argument, f.File.Size}
			i := slices.IndexFunc(owners[k], func(o ownedReport) bool {
				return o.run != r && r.isReported() && o.file != f.File && t.sameReport(o.file, f.File)
			})
			if i >= 0 {
				of, known = owners[k][i].run, known+1
			} else if f.File.Size > 0 {
				owners[k] = append(owners[k], ownedReport{f.File, r})
			}
		}
		if of != nil && known == len(r.Reports) {
			s.dropDuplicate(r, of)
		}
	}
}

// ownedReport is a report of a run.
type ownedReport struct {
	file *source.File
	run  *Run
}

// dropDuplicateRuns drops runs all of whose logs are in another run under the same names.
func (s *sorter) dropDuplicateRuns(t *duplicates) {
	groups := map[string][]*Run{}
	var order []string
	for _, r := range s.present() {
		if key := r.outline(); key != "" {
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], r)
		}
	}
	for _, key := range order {
		runs := groups[key]
		slices.SortStableFunc(runs, func(a, b *Run) int {
			return cmp.Or(min(len(b.Reports), 1)-min(len(a.Reports), 1), strings.Count(a.Path, "/")-strings.Count(b.Path, "/"), s.first(a)-s.first(b))
		})
		for i, r := range runs {
			j := slices.IndexFunc(runs[:i], func(other *Run) bool { return !other.gone && t.sameRun(r, other) })
			if j < 0 {
				continue
			}
			s.dropDuplicate(r, runs[j])
		}
	}
}

// dropDuplicate drops a run that is a copy of another.
func (s *sorter) dropDuplicate(r, of *Run) {
	r.gone = true
	for _, f := range r.Files() {
		if f != r.Config && f != r.ArchiveConfig && f != r.Job && !s.isUsed(f) && !f.Beside {
			s.leaveOut(f, "part of a copy of "+of.Path+", so it counts once")
		}
	}
}

// isUsed reports whether a file is in a run that is still there.
func (s *sorter) isUsed(f *source.File) bool {
	return slices.ContainsFunc(s.all, func(r *Run) bool { return !r.gone && slices.Contains(r.Files(), f) })
}

// outline is the names and sizes of a run's logs, "" where a size is not known, or nothing
// is in them: copies have the same.
func (r *Run) outline() string {
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
