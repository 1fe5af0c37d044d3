package source

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"github.com/fio2es/fio2es/internal/alike"
)

// notes has the problems of a scan, and why the scan ends. Methods of the scan add to it and return no errors. Those
// that read in a loop check ended.
type notes struct {
	ctx      context.Context
	budget   *Budget
	problems []*Problem
	alike    alike.Counter
	quiet    bool  // problems do not count
	fatal    error // why the scan ends
}

// ended reports whether the scan must end.
func (n *notes) ended() bool {
	if n.fatal == nil {
		n.fatal = n.ctx.Err()
	}
	return n.fatal != nil
}

// fail notes a problem. A limit that is passed, and a failure of the spool, end the scan.
func (n *notes) fail(name string, err error) {
	if n.ended() {
		return
	}
	if named, ok := err.(*fs.PathError); ok { // the name is another form of this one
		err = named.Err
	}
	p := &Problem{Name: name, Err: err}
	switch {
	case errors.Is(err, ErrTooMuch) || errors.Is(err, errSpool):
		n.fatal = p
	case !n.quiet && n.alike.Add(err.Error()):
		n.problems = append(n.problems, p)
		n.hold(priceOfFile, name)
	}
}

// damaged notes an error of a decoder or an archive.
func (n *notes) damaged(name string, err error) { n.fail(name, damage(err)) }

// hold charges what is kept in memory: n bytes, and a name.
func (n *notes) hold(bytes int64, name string) {
	if err := n.budget.hold(bytes + priceOfName*int64(len(name))); err != nil {
		n.fatal = err
	}
}

// all are the problems, and of each kind how many more there are.
func (n *notes) all() []*Problem {
	n.alike.More(func(kind string, more int) {
		n.problems = append(n.problems, &Problem{Name: "and " + strconv.Itoa(more) + " more like this", Err: errors.New(kind)})
	})
	return n.problems
}
