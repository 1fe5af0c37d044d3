package cbt

import (
	"cmp"
	"crypto/sha256"
	"io"
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

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
