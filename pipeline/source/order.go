package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// found is a file whose path is not settled yet.
type found struct {
	file   *File
	in     *scope
	rel    string
	layers int
	met    met
}

// settle gives the files of one argument their final paths, drops those that are no
// longer wanted or are found twice, and adds the rest to the set in order.
func (s *scanner) settle() {
	list := s.found
	s.found = nil
	for _, f := range list {
		f.file.Path, f.file.torn = f.in.path(f.rel), f.in.isTorn()
	}
	isWanted := s.settled(list)
	last := make(map[string]found, len(list)) // what is used, by path
	doubles := doubles{seen: map[[2]*scope]*double{}}
	for _, f := range list {
		if !isWanted(f) {
			continue
		}
		have, twice := last[f.file.Path]
		if twice && f.layers > have.layers { // the less packed one is the more trustworthy
			doubles.add(f, have)
			continue
		}
		if twice { // as unpacking would have overwritten it
			doubles.add(have, f)
		}
		last[f.file.Path] = f
	}
	begin := len(s.set.Files)
	for _, f := range last {
		s.set.Files = append(s.set.Files, f.file)
	}
	slices.SortFunc(s.set.Files[begin:], func(a, b *File) int { return naturalCompare(a.Path, b.Path) })
	for _, d := range doubles.list {
		s.fail(d.lost.name, d.reason())
	}
}

// doubles groups files found twice by where, so that a folder beside its own
// archive is one problem and not a hundred thousand.
type doubles struct {
	list []*double
	seen map[[2]*scope]*double
}

type double struct {
	lost, used *File
	more       int
}

func (d *doubles) add(lost, used found) {
	where := [2]*scope{lost.in, used.in}
	if known := d.seen[where]; known != nil && lost.in != used.in {
		known.more++
		return
	}
	one := &double{lost: lost.file, used: used.file}
	d.seen[where] = one
	d.list = append(d.list, one)
}

func (d *double) reason() error {
	instead := d.used.Name() + " instead"
	switch {
	case d.more > 0:
		instead += fmt.Sprintf(", and so for %d more", d.more)
	case d.used.name == d.lost.name:
		instead = "the last one"
	}
	return fmt.Errorf("%w: used %s", ErrDuplicate, instead)
}

// naturalCompare orders paths as people do: runs of digits by their value, and a
// folder's content before a longer name.
func naturalCompare(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if isDigit(x[0]) && isDigit(y[0]) {
			var m, n string
			m, x = cutNumber(x)
			n, y = cutNumber(y)
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(rank(x[0]), rank(y[0]))
		}
		x, y = x[1:], y[1:]
	}
	// Equal but for leading zeros: any fixed order will do.
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// rank puts the slash before all other bytes.
func rank(c byte) int {
	if c == '/' {
		return -1
	}
	return int(c)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cutNumber splits off the leading digits, without leading zeros.
func cutNumber(s string) (number, rest string) {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}
