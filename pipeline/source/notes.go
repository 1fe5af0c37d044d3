package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/fio2es/fio2es/pipeline/internal/alike"
)

// notes has the problems of a scan, and why the scan ends. Methods of the scan add to it and return no errors. Those
// that read in a loop check ended.
type notes struct {
	ctx      context.Context
	limits   *Limits
	problems []*Problem
	alike    alike.Counter
	quiet    bool  // problems do not count
	count    int   // files and problems
	names    int64 // bytes of their names
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
	case errors.Is(err, ErrTooLarge) || errors.Is(err, errSpool):
		n.fatal = p
	case !n.quiet && n.alike.Add(err.Error()):
		n.problems = append(n.problems, p)
		n.more(name)
	}
}

// damaged notes an error of a decoder or an archive.
func (n *notes) damaged(name string, err error) { n.fail(name, damage(err)) }

// more counts one file or problem, with its name.
func (n *notes) more(name string) {
	n.count++
	n.names += int64(len(name))
	switch {
	case n.names > n.limits.Names:
		n.fatal = fmt.Errorf("%w: their names have more than %d bytes: name fewer of them, or folders one by one", ErrTooManyFiles, n.limits.Names)
	case n.count > n.limits.Files:
		n.fatal = fmt.Errorf("%w: more than %d: name fewer of them, or folders one by one", ErrTooManyFiles, n.limits.Files)
	}
}

// all are the problems, and of each kind how many more there are.
func (n *notes) all() []*Problem {
	n.alike.More(func(kind string, more int) {
		n.problems = append(n.problems, &Problem{Name: "and " + strconv.Itoa(more) + " more like this", Err: errors.New(kind)})
	})
	return n.problems
}
