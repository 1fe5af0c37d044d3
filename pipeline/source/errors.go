package source

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode"

	"github.com/therootcompany/xz"
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
