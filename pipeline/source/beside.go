package source

import (
	"context"
	"os"
	"path"
	"path/filepath"
)

// besides are the places already seen, so that nothing is found twice.
type besides struct {
	given   map[string]bool // absolute paths of the arguments
	visited map[string]bool // folders
}

// arguments takes note of all arguments.
func (b *besides) arguments(roots []string) {
	b.given, b.visited = map[string]bool{}, map[string]bool{}
	for _, root := range roots {
		if abs, err := filepath.Abs(root); err == nil && root != "-" {
			b.given[abs] = true
		}
	}
}

// isGiven reports whether a file is an argument, or below one.
func (b *besides) isGiven(abs string) bool {
	for {
		above := filepath.Dir(abs)
		if b.given[abs] {
			return true
		}
		if above == abs {
			return false
		}
		abs = above
	}
}

// beside lists what may belong to an argument and lies beside it. found is what the
// argument gave.
func (s *scanner) beside(ctx context.Context, root string, found []*File) error {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil // it was good enough for the argument itself
	}
	isFile, atTop := false, false
	for _, f := range found {
		isFile = isFile || f.Named
		atTop = atTop || path.Dir(f.Path) == "." && s.opt.Look.Near(f.Path)
	}
	dir := filepath.Dir(root)
	if isFile {
		if err := s.besideIn(ctx, dir, filepath.Dir(abs)); err != nil {
			return err
		}
		return s.besideIn(ctx, filepath.Join(dir, ".."), filepath.Dir(filepath.Dir(abs)))
	}
	if !atTop {
		return nil
	}
	if abs == root {
		return s.besideIn(ctx, dir, dir)
	}
	return s.besideIn(ctx, filepath.Join(root, ".."), filepath.Dir(abs))
}

// besideIn lists what is of interest directly in a folder. A file there that cannot be read
// is no problem, because it may not belong to an argument.
func (s *scanner) besideIn(ctx context.Context, dir, abs string) error {
	if s.sides.visited[abs] || s.sides.given[abs] {
		return nil
	}
	s.sides.visited[abs] = true
	names := besideNames(dir)
	s.quiet = true
	defer func() { s.quiet = false }()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		it := item{
			name: filepath.Join(dir, name), root: dir, archive: baseName(abs), rel: name, beside: true,
		}
		short := trimCompression(name)
		if s.opt.Look.Near(short) || !s.opt.Want(short) && !s.opt.Look.Name(short) || s.sides.isGiven(filepath.Join(abs, name)) {
			continue
		}
		f, err := openNow(it.name)
		if err != nil {
			continue
		}
		if err := s.disk(ctx, it, "", it.name, f); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

// besideNames are the regular files of a folder, or none if there are too many.
func besideNames(dir string) []string {
	at, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer at.Close()
	entries, err := at.ReadDir(10 * maxLooks) // io.EOF for an empty folder
	if err != nil || len(entries) == 10*maxLooks {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && archiveSuffix(e.Name()) == "" {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxLooks {
		return nil
	}
	return names
}
