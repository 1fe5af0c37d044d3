package assign

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// The least number of digits other than 0 that files of one content must have to count as copies. Logs with fewer may be
// equal by chance, such as logs of two quiet hosts with wide bins. Reports differ by the time in them, once fio has written
// more than its first notes.
const (
	leastOfLog    = 100
	leastOfReport = 10
)

// dropCopies drops copies of files and runs, by their content, because their requests would count twice.
func (s *sorter) dropCopies() {
	same := s.contents()
	isCopy := func(a, b *evidence.File) bool {
		return a != b && same[a].first == same[b].first && same[a].digits >= leastOfReport
	}
	// Reports have the time at which fio wrote them, so those of two executions differ: lists of reports may be of one
	// execution if they share a report, or if one of them is empty.
	mayBeOne := func(a, b []Report) bool {
		isEmpty := func(r Report) bool { return r.File.Size == 0 }
		a, b = without(a, isEmpty), without(b, isEmpty)
		return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(x Report) bool {
			return slices.ContainsFunc(b, func(y Report) bool { return x.File == y.File || isCopy(x.File, y.File) })
		})
	}
	for _, r := range present(s.runs) {
		// Logs that have the content of another log of the same kind and number are copies under the name of another host
		// or volume, unless each has a report of its own.
		type key struct {
			kind  fiolog.Kind
			job   int
			first *evidence.File
		}
		reportsOf := func(l Log) []Report {
			return without(r.Reports, func(f Report) bool { return !f.Named || f.Host != l.Host || f.Volume != l.Volume })
		}
		originals := map[*evidence.File]*evidence.File{}
		for _, equal := range group.By(r.logs(), func(l Log) key { return key{l.Kind, l.Job, same[l.File].first} }) {
			for i, l := range equal {
				j := slices.IndexFunc(equal[:i], func(o Log) bool {
					return same[l.File].digits >= leastOfLog && originals[o.File] == nil && mayBeOne(reportsOf(o), reportsOf(l))
				})
				if j >= 0 {
					originals[l.File] = equal[j].File
				}
			}
		}
		r.dropLogs(func(l Log) bool {
			other := originals[l.File]
			if other != nil {
				s.leaveNotable(l.File, "the same content as "+other.Name()+", so it counts once")
			}
			return other != nil
		})
		// CBT stores each report twice, as printed and its JSON alone, which may be the same. Equal reports of two hosts are
		// copies only if the logs of one host were copies, too, which are gone then: reports that still grow are short at
		// first.
		hasLogs := map[JobKey]bool{}
		for _, l := range r.logs() {
			hasLogs[JobKey{Host: l.Host, Volume: l.Volume}] = true
		}
		var kept []Report
		slices.SortStableFunc(r.Reports, func(a, b Report) int { return cmp.Compare(a.Found, b.Found) })
		for _, f := range r.Reports {
			i := slices.IndexFunc(kept, func(k Report) bool {
				lostLogs := !r.isReported() && !hasLogs[JobKey{Host: f.Host, Volume: f.Volume}]
				isPair := k.Named && f.Named && (k.Host == f.Host && k.Volume == f.Volume || !lostLogs)
				return !isPair && isCopy(k.File, f.File)
			})
			switch {
			case i < 0:
				kept = append(kept, f)
			case !f.File.Beside && !slices.ContainsFunc(s.left, func(l Left) bool { return l.File == f.File }):
				s.leaveNotable(f.File, "the same content as "+kept[i].File.Name()+", so it counts once")
			}
		}
		r.Reports = kept
	}
	// A run is a copy if another run has all of its logs under the same names, and none or one of its reports. Two runs of
	// the same load may have equal logs.
	depth := func(r *Run) int { return strings.Count(r.Path, "/") }
	outline := func(r *Run) string {
		lines := []string{r.argument}
		for _, l := range r.logs() {
			content := "empty"
			if l.File.Size != 0 {
				content = strconv.Itoa(s.order[same[l.File].first])
			}
			lines = append(lines, path.Base(l.File.Path)+" "+content)
		}
		slices.Sort(lines[1:])
		return strings.Join(lines, "\n")
	}
	for _, runs := range group.By(s.inOrder(present(s.runs)), outline) {
		digits := 0
		for _, l := range runs[0].logs() {
			digits += same[l.File].digits
		}
		if digits < leastOfLog {
			continue
		}
		slices.SortStableFunc(runs, func(a, b *Run) int {
			return cmp.Or(min(len(b.Reports), 1)-min(len(a.Reports), 1), depth(a)-depth(b))
		})
		for i, r := range runs {
			j := slices.IndexFunc(runs[:i], func(o *Run) bool { return !o.gone && mayBeOne(r.Reports, o.Reports) })
			if j >= 0 {
				s.dropRun(r, runs[j])
			}
		}
	}
	// So is a run without logs if other runs have its reports: runs with logs, or runs higher up.
	rank := func(r *Run) int {
		if r.isReported() {
			return 1 + depth(r)
		}
		return 0
	}
	type key struct {
		argument string
		first    *evidence.File
	}
	type owned struct {
		file *evidence.File
		run  *Run
	}
	owners := map[key][]owned{}
	runs := s.inOrder(present(s.runs))
	slices.SortStableFunc(runs, func(a, b *Run) int { return rank(a) - rank(b) })
	for _, r := range runs {
		var of *Run
		known := 0
		for _, f := range r.Reports {
			k := key{r.argument, same[f.File].first}
			i := slices.IndexFunc(owners[k], func(o owned) bool { return o.run != r && isCopy(o.file, f.File) })
			if r.isReported() && i >= 0 {
				of, known = owners[k][i].run, known+1
			} else {
				owners[k] = append(owners[k], owned{f.File, r})
			}
		}
		if of != nil && known == len(r.Reports) {
			s.dropRun(r, of)
		}
	}
}

// dropRun drops a run that is a copy of another, with the files that no other run has.
func (s *sorter) dropRun(r, of *Run) {
	r.gone = true
	for _, f := range r.written() {
		if !f.Beside && !slices.ContainsFunc(s.runs, func(r *Run) bool { return !r.gone && slices.Contains(r.Files(), f) }) {
			s.leaveNotable(f, "part of a copy of "+of.Path+", so it counts once")
		}
	}
}

type copyOf struct {
	first  *evidence.File // with that content; the file itself if no file before it has it
	digits int            // other than 0, if several files have the content
}

// contents finds the logs and reports of runs that have the same content. Files whose size is not known, empty files and
// those that cannot be read are like no other. It reads files only as long as another may be equal: first the beginnings of
// those of one size, then the rest.
func (s *sorter) contents() map[*evidence.File]copyOf {
	all := map[*evidence.File]copyOf{}
	var files []*evidence.File
	for _, r := range present(s.runs) {
		for _, f := range r.written() {
			if _, ok := all[f]; ok {
				continue
			}
			all[f] = copyOf{first: f}
			if f.Size > 0 {
				files = append(files, f)
			}
		}
	}
	for _, sized := range group.By(files, func(f *evidence.File) int64 { return f.Size }) {
		if len(sized) < 2 {
			continue
		}
		for _, begun := range group.By(sized, (*evidence.File).Beginning) {
			if len(begun) < 2 {
				continue
			}
			digests := map[*evidence.File]evidence.Digest{}
			for _, equal := range group.By(begun, func(f *evidence.File) string { digests[f] = f.Digest(); return digests[f].Hash }) {
				for _, f := range equal {
					if d := digests[f]; d.Size == f.Size {
						all[f] = copyOf{equal[0], d.Digits}
					}
				}
			}
		}
	}
	return all
}
