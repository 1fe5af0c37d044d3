package cbt

import (
	"cmp"
	"crypto/sha256"
	"io"
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/source"
)

// duplicates finds files of the same content.
type duplicates struct {
	sums   map[*source.File]*sum
	budget *Budget
	text   int64 // bytes of packed reports that were compared
}

// sum is what is known of a content: first of its beginning.
type sum struct {
	first, whole *[sha256.Size]byte
	digits       int // other than 0
	bad          bool
}

// How many digits other than 0 two files must have in common. Logs with fewer may be the
// same by chance, as those of two quiet hosts in wide bins; reports have the time.
const (
	leastOfLog    = 100
	leastOfReport = 10
)

// same reports whether two files of one size have the same content, and enough of it.
func (t *duplicates) same(a, b *source.File, least int) bool {
	if a.Size <= 0 || a.Size != b.Size {
		return false
	}
	x, y := t.begin(a), t.begin(b)
	if x.bad || y.bad || *x.first != *y.first {
		return false
	}
	t.finish(a, x)
	t.finish(b, y)
	return !x.bad && !y.bad && *x.whole == *y.whole && x.digits >= least
}

// sameReport is same for reports. Packed ones are compared as far as their text may be read at
// all ([Budget]): those beyond are refused by name, later.
func (t *duplicates) sameReport(a, b *source.File) bool {
	if a.Size <= 0 || a.Size != b.Size || *t.begin(a).first != *t.begin(b).first {
		return false
	}
	for _, f := range [...]*source.File{a, b} {
		x, most := t.begin(f), t.budget.mostText(f)
		if most == 0 || x.whole != nil || x.bad {
			continue
		}
		if t.text += f.Size; t.text > most {
			x.bad = true
		}
	}
	return t.same(a, b, leastOfReport)
}

// sameRun reports whether two runs of the same outline have the same content.
func (t *duplicates) sameRun(a, b *Run) bool {
	x, y := a.logs(), b.logs()
	byName := func(a, b Log) int {
		f, g := a.File, b.File
		return cmp.Or(cmp.Compare(path.Base(f.Path), path.Base(g.Path)), cmp.Compare(f.Size, g.Size), cmp.Compare(f.Path, g.Path))
	}
	slices.SortFunc(x, byName)
	slices.SortFunc(y, byName)
	digits := 0
	same := slices.EqualFunc(x, y, func(f, g Log) bool {
		if f.File.Size == 0 && g.File.Size == 0 {
			return true
		}
		isSame := t.same(f.File, g.File, 0)
		digits += t.begin(f.File).digits
		return isSame
	})
	return same && digits >= leastOfLog
}

// beginLen is how much of two files of one size is compared first: three rows of a
// histogram log, which differ if the logs do.
const beginLen = 16 << 10

// begin reads the beginning of a file, once.
func (t *duplicates) begin(f *source.File) *sum {
	if x := t.sums[f]; x != nil {
		return x
	}
	x := &sum{}
	t.sums[f] = x
	first := sha256.Sum256(beginning(f, beginLen))
	x.first = &first
	return x
}

// finish reads the whole file, once.
func (t *duplicates) finish(f *source.File, x *sum) {
	if x.whole != nil || x.bad {
		return
	}
	in, err := f.Open()
	if err != nil {
		x.bad = true
		return
	}
	defer in.Close()
	h, digits := sha256.New(), &digitCounter{}
	if _, err := io.Copy(io.MultiWriter(h, digits), in); err != nil {
		x.bad = true
		return
	}
	x.whole, x.digits = (*[sha256.Size]byte)(h.Sum(nil)), digits.n
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
