package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Listing lists the files that [Scan] would open, without their contents.
type Listing struct {
	Files    []Listed   // on disk, each as often as it was met
	Problems []*Problem // what a scan would refuse by its name or kind
}

// Listed is a file on disk.
type Listed struct {
	Name string // as [File.Disk] has it
	Info fs.FileInfo
}

// ErrPipe says that something can be read only once, so it cannot be listed.
var ErrPipe = errors.New("standard input and pipes cannot be listed")

// List lists the files that Scan would look into, with the same paths and options. It opens folders only. If the
// listing does not change, a scan finds the same, because a change of content shows in the size or the times of a file.
// The listing may have more files than a scan looks into. List fails as Scan does, and with [ErrPipe].
func List(ctx context.Context, paths []string, opt Options) (*Listing, error) {
	opt.Progress = nil
	s, err := scanAll(ctx, paths, opt, &Listing{})
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	s.listing.Problems = s.all()
	return s.listing, nil
}

// list notes a file that a scan would open.
func (s *scanner) list(it item, info fs.FileInfo, err error) {
	switch {
	case err != nil:
		s.fail(it.name, err)
	case it.met == asArgument && !info.Mode().IsRegular():
		s.fatal = ErrPipe
	case !info.Mode().IsRegular():
		s.fail(it.name, irregular(info.Mode()))
	default:
		s.listing.Files = append(s.listing.Files, Listed{it.name, info})
		if it.rel = trimCompression(it.rel); path.Dir(it.rel) == "." { // only these decide whether files beside the argument are searched
			s.keep(it, info.Size(), body{})
		}
	}
}

// has reports whether a file was listed last.
func (l *Listing) has(name string) bool {
	return l != nil && len(l.Files) > 0 && l.Files[len(l.Files)-1].Name == name
}
