package cbt

import (
	"cmp"
	"crypto/sha256"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// dropCopies drops copies of files and runs, by their content, because their requests would count twice.
func (s *sorter) dropCopies() {
	c := newComparer()
	for _, r := range present(s.runs) {
		s.dropLogs(c, r)
		s.dropReports(c, r)
	}
	s.dropRuns(c)
	s.dropReportRuns(c)
}

// dropLogs drops logs of one run that have the content of another log of the same kind and number. They are copies
// under the name of another host or volume, unless each has a report of its own.
func (s *sorter) dropLogs(c *comparer, r *Run) {
	reportsOf := func(l Log) []Report {
		return without(r.Reports, func(f Report) bool { return !f.Named || f.Host != l.Host || f.Volume != l.Volume })
	}
	originals := c.copies(r.logs(), func(a, b Log) bool { return c.mayBeOne(reportsOf(a), reportsOf(b)) })
	r.dropLogs(func(l Log) bool {
		other := originals[l.File]
		if other != nil {
			s.leaveNotable(l.File, "the same content as "+other.Name()+", so it counts once")
		}
		return other != nil
	})
}

// dropReports drops reports of one run that have the content of another. CBT stores each twice, as printed and its JSON
// alone, which may be the same. Equal reports of two hosts are copies only if the logs of one host were copies, too.
// The reason is that reports that still grow are short at first.
func (s *sorter) dropReports(c *comparer, r *Run) {
	// Without logs of its host and volume, where others have some, a report may be a copy.
	lostLogs := func(f Report) bool {
		return !r.isReported() && !slices.ContainsFunc(r.logs(), func(l Log) bool { return l.Host == f.Host && l.Volume == f.Volume })
	}
	var kept []Report
	slices.SortStableFunc(r.Reports, compareReports)
	for _, f := range r.Reports {
		i := slices.IndexFunc(kept, func(k Report) bool {
			isPair := k.Named && f.Named && (k.Host == f.Host && k.Volume == f.Volume || !lostLogs(f))
			return k.File != f.File && !isPair && c.sameReport(k.File, f.File)
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

// dropRuns drops a run if another run has all of its logs under the same names, and none or one of its reports. Two runs
// of the same load may have equal logs.
func (s *sorter) dropRuns(c *comparer) {
	for _, runs := range groups(s.inOrder(present(s.runs)), (*Run).outline) {
		if len(runs) < 2 || runs[0].outline() == "" {
			continue
		}
		slices.SortStableFunc(runs, func(a, b *Run) int {
			return cmp.Or(min(len(b.Reports), 1)-min(len(a.Reports), 1), a.depth()-b.depth())
		})
		logs := make(map[*Run][]Log, len(runs)) // there may be thousands of runs of one outline
		for i, r := range runs {
			logs[r] = byName(&r.Output)
			if j := slices.IndexFunc(runs[:i], func(other *Run) bool {
				return !other.gone && c.sameRun(logs[r], logs[other]) && c.mayBeOne(r.Reports, other.Reports)
			}); j >= 0 {
				s.dropRun(r, runs[j])
			}
		}
	}
}

// dropReportRuns drops runs without logs if other runs have their reports.
func (s *sorter) dropReportRuns(c *comparer) {
	type key struct {
		argument string
		size     int64
	}
	type owned struct {
		file *source.File
		run  *Run
	}
	owners := map[key][]owned{}
	runs := s.inOrder(present(s.runs))
	// Runs with logs come first, then the ones higher up.
	rank := func(r *Run) int {
		if r.isReported() {
			return 1 + r.depth()
		}
		return 0
	}
	slices.SortStableFunc(runs, func(a, b *Run) int { return rank(a) - rank(b) })
	for _, r := range runs {
		var of *Run
		known := 0
		for _, f := range r.Reports {
			k := key{r.argument, f.File.Size}
			i := slices.IndexFunc(owners[k], func(o owned) bool {
				return o.run != r && r.isReported() && o.file != f.File && c.sameReport(o.file, f.File)
			})
			if i >= 0 {
				of, known = owners[k][i].run, known+1
			} else if f.File.Size > 0 {
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
	for _, f := range r.Files() {
		if f == r.Config || f == r.ArchiveConfig || f == r.Job || f.Beside {
			continue
		}
		if !slices.ContainsFunc(s.runs, func(r *Run) bool { return !r.gone && slices.Contains(r.Files(), f) }) {
			s.leaveNotable(f, "part of a copy of "+of.Path+", so it counts once")
		}
	}
}

func (r *Run) depth() int { return strings.Count(r.Path, "/") }

// outline returns the names and sizes of a run's logs as a text, which is the same for copies. It is empty if a size is
// not known, or if all logs are empty.
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

// comparer finds files of the same content. It reads each at most once.
type comparer struct {
	sums map[*source.File]*sum
}

// sum has what is known about a content.
type sum struct {
	first  [sha256.Size]byte // of its beginning
	whole  [sha256.Size]byte
	digits int  // number of digits other than 0
	isRead bool // all was read, so whole and digits are known
	bad    bool // it cannot be read
}

func newComparer() *comparer {
	return &comparer{sums: map[*source.File]*sum{}}
}

// The least number of digits other than 0 that two equal files must have to count as copies. Logs with fewer digits may
// be equal by chance, such as logs of two quiet hosts with wide bins. Reports differ by the time in them.
const (
	leastOfLog    = 100
	leastOfReport = 10
)

// same reports whether two files of one size have the same content, and enough of it.
func (c *comparer) same(a, b *source.File, least int) bool {
	if a.Size <= 0 || a.Size != b.Size || c.begin(a).first != c.begin(b).first {
		return false
	}
	x, y := c.finish(a), c.finish(b)
	return !x.bad && !y.bad && x.whole == y.whole && x.digits >= least
}

// sameReport is same for reports.
func (c *comparer) sameReport(a, b *source.File) bool { return c.same(a, b, leastOfReport) }

// mayBeOne reports whether one execution of fio may have written the reports of both lists: one of them has none, or they
// share a report. Reports have the time at which fio wrote them, so those of two executions differ.
func (c *comparer) mayBeOne(a, b []Report) bool {
	isEmpty := func(r Report) bool { return r.File.Size == 0 }
	a, b = without(a, isEmpty), without(b, isEmpty)
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(x Report) bool {
		return slices.ContainsFunc(b, func(y Report) bool { return x.File == y.File || c.sameReport(x.File, y.File) })
	})
}

// byName returns the logs of a run in the order of their names without folders, then of their sizes.
func byName(o *Output) []Log {
	return slices.SortedFunc(slices.Values(o.logs()), func(a, b Log) int {
		f, g := a.File, b.File
		return cmp.Or(cmp.Compare(path.Base(f.Path), path.Base(g.Path)), cmp.Compare(f.Size, g.Size), cmp.Compare(f.Path, g.Path))
	})
}

// sameRun reports whether two runs with the same outline have the same content. It takes their logs in the order of
// byName.
func (c *comparer) sameRun(x, y []Log) bool {
	digits := 0
	same := slices.EqualFunc(x, y, func(f, g Log) bool {
		isSame := f.File.Size == 0 && g.File.Size == 0 || c.same(f.File, g.File, 0)
		digits += c.begin(f.File).digits
		return isSame
	})
	return same && digits >= leastOfLog
}

// copies finds logs that have the content of an earlier log of the same kind and number, if mayBe says that one may be a
// copy of the other. It returns the earlier log for each. It reads only logs that may still be equal: first their
// beginnings, then the rest.
func (c *comparer) copies(logs []Log, mayBe func(a, b Log) bool) map[*source.File]*source.File {
	originals := map[*source.File]*source.File{}
	type key struct {
		kind fiolog.Kind
		job  int
		size int64
	}
	logs = without(logs, func(l Log) bool { return l.File.Size <= 0 })
	for _, sized := range groups(logs, func(l Log) key { return key{l.Kind, l.Job, l.File.Size} }) {
		if len(sized) < 2 {
			continue
		}
		for _, begun := range groups(sized, func(l Log) [sha256.Size]byte { return c.begin(l.File).first }) {
			if len(begun) < 2 {
				continue
			}
			for _, same := range groups(begun, func(l Log) sum { return *c.finish(l.File) }) {
				if x := c.finish(same[0].File); x.bad || x.digits < leastOfLog {
					continue
				}
				for i, l := range same {
					j := slices.IndexFunc(same[:i], func(o Log) bool { return originals[o.File] == nil && mayBe(o, l) })
					if j >= 0 {
						originals[l.File] = same[j].File
					}
				}
			}
		}
	}
	return originals
}

// beginLen is how much of two files of one size is compared first: three rows of a
// histogram log, which differ if the logs do.
const beginLen = 16 << 10

// begin reads the beginning of a file, once.
func (c *comparer) begin(f *source.File) *sum {
	x := c.sums[f]
	if x == nil {
		x = &sum{first: sha256.Sum256(beginning(f, beginLen))}
		c.sums[f] = x
	}
	return x
}

// finish reads the whole file, once.
func (c *comparer) finish(f *source.File) *sum {
	x := c.begin(f)
	if x.isRead || x.bad {
		return x
	}
	in, err := f.Open()
	if err != nil {
		x.bad = true
		return x
	}
	defer in.Close()
	h, digits := sha256.New(), &digitCounter{}
	if _, err := io.Copy(io.MultiWriter(h, digits), in); err != nil {
		x.bad = true
		return x
	}
	h.Sum(x.whole[:0])
	x.digits, x.isRead = digits.n, true
	return x
}

// digitCounter counts digits other than 0.
type digitCounter struct{ n int }

func (d *digitCounter) Write(p []byte) (int, error) {
	for _, c := range p {
		if '1' <= c && c <= '9' {
			d.n++
		}
	}
	return len(p), nil
}
