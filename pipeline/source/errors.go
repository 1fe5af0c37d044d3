package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"unicode"

	"github.com/therootcompany/xz"

	"github.com/fio2es/fio2es/internal/alike"
)

// The reasons for a Problem or for the end of a scan; test with errors.Is.
var (
	// ErrEscapes refuses a member name that is absolute, climbs with "..", is
	// longer than 4,096 bytes or has a NUL or a backslash.
	ErrEscapes = errors.New("name leads out of the archive")
	// ErrLink refuses a symbolic or hard link.
	ErrLink = errors.New("link is not followed")
	// ErrSpecial refuses a device, pipe, socket or unknown kind of member.
	ErrSpecial = errors.New("not a regular file")
	// ErrDepth refuses an archive (or folder) nested too deep.
	ErrDepth = errors.New("nested too deep")
	// ErrDuplicate notes that a path was found more than once and which is used.
	ErrDuplicate = errors.New("path found more than once")
	// ErrDamaged notes that an archive or compressed stream is cut short or
	// corrupt; what came before the damage is used.
	ErrDamaged = errors.New("damaged or cut short")
	// ErrFormat notes content that its name promises to be packed but is not, or
	// that is packed in a way this package does not read.
	ErrFormat = errors.New("format not understood")
	// ErrChanged refuses to read an archive that was changed since the scan.
	ErrChanged = errors.New("file was changed since the scan")
)

// Problem is something that was refused or could not be read while the scan continued.
type Problem struct {
	Name string // where, in the form of File.Name
	Err  error  // why; wraps one of the reasons above or an error of the system
}

// Error returns "name: cause"; a name with unprintable characters is quoted.
func (p *Problem) Error() string { return printable(p.Name) + ": " + p.Err.Error() }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// errEnds is [io.ErrUnexpectedEOF] with a text for users.
var errEnds error = endsEarly{}

type endsEarly struct{}

func (endsEarly) Error() string        { return "it ends too early" }
func (endsEarly) Is(target error) bool { return target == io.ErrUnexpectedEOF }

// damage marks the error of a decoder, once.
func damage(err error) error {
	switch {
	case errors.Is(err, ErrDamaged) || errors.Is(err, ErrFormat) || errors.Is(err, ErrTooMuch):
		return err
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Errorf("%w: xz dictionary of more than %d bytes", ErrFormat, maxWindow)
	case errors.Is(err, xz.ErrOptions) || errors.Is(err, xz.ErrUnsupportedCheck):
		return fmt.Errorf("%w: %w", ErrFormat, err)
	case errors.Is(err, xz.ErrBuf):
		err = fmt.Errorf("%w: %w", err, errEnds)
	case err == io.ErrUnexpectedEOF:
		err = errEnds
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// printable returns a name without control characters, cut to a length that fits a message.
func printable(name string) string {
	const most = 512
	if len(name) > most {
		name = name[:most] + "..."
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return strconv.Quote(name)
		}
	}
	return name
}

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
