package source

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// found is a file whose path is not settled yet.
type found struct {
	file   *File
	in     *scope
	rel    string
	layers int
	looked bool
}

// settle gives the files of one argument their final paths, drops those that are no
// longer wanted or are found twice, and adds the rest to the set in order.
func (s *scanner) settle(ctx context.Context) error {
	last := make(map[string]int, len(s.found)) // path to the index of what is used
	var doubles doubles
	for _, f := range s.found {
		f.file.Path = f.in.path(f.rel)
	}
	near, overlooked := s.near(), s.overlooked()
	for i, f := range s.found {
		dir := path.Dir(f.file.Path)
		switch {
		case f.looked && (overlooked[dir] || !near[dir] || !s.opt.Look.Name(f.file.Path)),
			f.in != nil && !f.looked && !s.opt.Want(f.file.Path):
			continue
		}
		j, twice := last[f.file.Path]
		switch {
		case !twice:
			last[f.file.Path] = i
		case f.layers <= s.found[j].layers:
			last[f.file.Path] = i // as unpacking would have overwritten it
			doubles.add(s.found[j], f)
		default: // the less packed one is the more trustworthy
			doubles.add(f, s.found[j])
		}
	}
	begin := len(s.set.Files)
	for _, i := range last {
		s.set.Files = append(s.set.Files, s.found[i].file)
	}
	slices.SortFunc(s.set.Files[begin:], func(a, b *File) int { return naturalCompare(a.Path, b.Path) })
	s.found = nil
	for _, d := range doubles.list {
		if err := s.fail(ctx, d.lost.name, d.reason()); err != nil {
			return err
		}
	}
	return nil
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
	if d.seen == nil {
		d.seen = make(map[[2]*scope]*double)
	}
	d.seen[where] = &double{lost: lost.file, used: used.file}
	d.list = append(d.list, d.seen[where])
}

func (d *double) reason() error {
	switch {
	case d.more > 0:
		return fmt.Errorf("%w: used %s instead, and so for %d more", ErrDuplicate, d.used.Name(), d.more)
	case d.used.name == d.lost.name:
		return fmt.Errorf("%w: used the last one", ErrDuplicate)
	}
	return fmt.Errorf("%w: used %s instead", ErrDuplicate, d.used.Name())
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
