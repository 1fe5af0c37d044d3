package cbt

import (
	"cmp"
	"crypto/sha256"
	"errors"
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
		// Logs that have the content of another log of the same kind and number are copies under the name of another host
		// or volume, unless each has a report of its own.
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
		// CBT stores each report twice, as printed and its JSON alone, which may be the same. Equal reports of two hosts are
		// copies only if the logs of one host were copies, too, which are gone then: reports that still grow are short at
		// first.
		type device struct{ host, volume string }
		hasLogs := map[device]bool{}
		for _, l := range r.logs() {
			hasLogs[device{l.Host, l.Volume}] = true
		}
		var kept []Report
		slices.SortStableFunc(r.Reports, func(a, b Report) int { return cmp.Compare(a.Found, b.Found) })
		for _, f := range r.Reports {
			i := slices.IndexFunc(kept, func(k Report) bool {
				of, lostLogs := device{f.Host, f.Volume}, !r.isReported() && !hasLogs[device{f.Host, f.Volume}]
				isPair := k.Named && f.Named && (device{k.Host, k.Volume} == of || !lostLogs)
				return k.File != f.File && !isPair && c.same(k.File, f.File, leastOfReport)
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
	s.dropRuns(c)
	s.dropReportRuns(c)
}

// dropRuns drops a run if another run has all of its logs under the same names, and none or one of its reports. Two runs
// of the same load may have equal logs.
func (s *sorter) dropRuns(c *comparer) {
	// The outline has the names and sizes of a run's logs, which are the same for copies. It is empty if a size is not
	// known, or if all logs are empty.
	outline := func(r *Run) string {
		total, lines := int64(0), []string{r.argument}
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
	for _, runs := range groups(s.inOrder(present(s.runs)), outline) {
		if len(runs) < 2 || outline(runs[0]) == "" {
			continue
		}
		slices.SortStableFunc(runs, func(a, b *Run) int {
			return cmp.Or(min(len(b.Reports), 1)-min(len(a.Reports), 1), a.depth()-b.depth())
		})
		logs := make(map[*Run][]Log, len(runs)) // there may be thousands of runs of one outline
		for i, r := range runs {
			logs[r] = slices.SortedFunc(slices.Values(r.logs()), func(a, b Log) int {
				f, g := a.File, b.File
				return cmp.Or(cmp.Compare(path.Base(f.Path), path.Base(g.Path)), cmp.Compare(f.Size, g.Size), cmp.Compare(f.Path, g.Path))
			})
			j := slices.IndexFunc(runs[:i], func(other *Run) bool {
				digits := 0
				return !other.gone && slices.EqualFunc(logs[r], logs[other], func(f, g Log) bool {
					isSame := f.File.Size == 0 && g.File.Size == 0 || c.same(f.File, g.File, 0)
					digits += c.begin(f.File).digits
					return isSame
				}) && digits >= leastOfLog && c.mayBeOne(r.Reports, other.Reports)
			})
			if j >= 0 {
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
				return o.run != r && r.isReported() && o.file != f.File && c.same(o.file, f.File, leastOfReport)
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

// mayBeOne reports whether one execution of fio may have written the reports of both lists: one of them has none, or they
// share a report. Reports have the time at which fio wrote them, so those of two executions differ.
func (c *comparer) mayBeOne(a, b []Report) bool {
	isEmpty := func(r Report) bool { return r.File.Size == 0 }
	a, b = without(a, isEmpty), without(b, isEmpty)
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(x Report) bool {
		return slices.ContainsFunc(b, func(y Report) bool { return x.File == y.File || c.same(x.File, y.File, leastOfReport) })
	})
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
	h, buffer := sha256.New(), make([]byte, 32<<10)
	for {
		n, err := in.Read(buffer)
		h.Write(buffer[:n])
		for _, b := range buffer[:n] {
			if '1' <= b && b <= '9' {
				x.digits++
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			x.bad = true
			return x
		}
	}
	h.Sum(x.whole[:0])
	x.isRead = true
	return x
}
