package source

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// wanted reports whether the item is an argument, was found by its content, or may come
// to have a path that is wanted.
func (s *scanner) wanted(it item) bool {
	return it.top && s.opt.Named && !promisesPacked(it.rel) || it.look || it.beside || it.in.mayBe(it.rel, s.opt.Want)
}

// interesting reports whether the item is worth a look at its content.
func (s *scanner) interesting(it item) bool {
	if promisesPacked(it.rel) {
		return true
	}
	return s.wanted(it)
}

// random looks at bytes that can be read in any order. They stay where they are if that is
// possible.
func (s *scanner) random(ctx context.Context, it item, x extent) error {
	wanted := int64(sniffLen)
	if it.look || it.beside {
		wanted = lookLen
	}
	head := make([]byte, min(wanted, x.n))
	n, err := x.at.ReadAt(head, x.off)
	k := detect(head[:n])
	if s.isForeign(it, k, func() []byte { return head[:n] }) {
		return nil
	}
	if err != nil && err != io.EOF {
		return s.fail(ctx, it.name, err)
	}
	if x.cut != nil {
		if err := s.fail(ctx, it.name, x.cut); err != nil {
			return err
		}
	}
	if it.layers == 0 && k != plain {
		s.set.packed += x.n
	}
	if h, ok := x.at.(*handle); ok && k.isArchive() {
		h.isArchive = true
	}
	switch k {
	case tarred:
		return s.tarAt(ctx, it, x)
	case zipped:
		return s.zip(ctx, it, x)
	case plain:
		if err := s.mislabelled(ctx, it, head[:n]); err != nil {
			return err
		}
		return s.keep(it, x.n, x.open, x.cut)
	default:
		it.again, it.cut = x.open, x.cut
		return s.unpack(ctx, it, k, &input{ctx: ctx, r: x.reader(), s: s})
	}
}

// stream looks at bytes that can be read only once.
func (s *scanner) stream(ctx context.Context, it item, r io.Reader) error {
	buf := takeBuffer(r)
	defer giveBuffer(buf)
	head, err := buf.Peek(sniffLen)
	if err == io.EOF {
		err = nil
	}
	k := detect(head)
	if s.isForeign(it, k, func() []byte { return peek(buf) }) {
		return nil
	}
	switch k {
	case tarred:
		return s.tarStream(ctx, it, buf)
	case zipped:
		return s.zipStream(ctx, it, buf)
	case plain:
		return s.plainStream(ctx, it, buf, head, err)
	default:
		return s.unpack(ctx, it, k, buf)
	}
}

// unpack looks at what is inside a compressed stream.
func (s *scanner) unpack(ctx context.Context, it item, k kind, r io.Reader) error {
	if it.packed { // a stream compressed twice
		if it.depth++; it.depth > s.opt.Limits.Depth {
			return s.fail(ctx, it.name, fmt.Errorf("%w: more than %d", ErrDepth, s.opt.Limits.Depth))
		}
	}
	switch {
	case it.again == nil:
	case k == gzipped:
		it.again = decompressed(k, it.again)
	default: // the decoder takes megabytes, and all logs of a run are read at once
		it.again = s.set.unpackedOnce(k, it.again)
	}
	it.packed = true
	it.layers++
	d, err := decode(k, r)
	if err != nil {
		return s.damaged(ctx, it.name, err)
	}
	defer d.Close()
	it.rel = trimCompression(it.rel)
	return s.stream(ctx, it, s.guard(d, d.taken.count))
}

// plainStream keeps a content that is no archive, if wanted. The error is what
// the first look at it met.
func (s *scanner) plainStream(ctx context.Context, it item, buf *bufio.Reader, head []byte, err error) error {
	if err != nil && (it.again != nil || !s.wanted(it)) {
		// The spool notes the same of a wanted file in a stream.
		if err := s.damaged(ctx, it.name, err); err != nil {
			return err
		}
	}
	if err == nil {
		if err := s.mislabelled(ctx, it, head); err != nil {
			return err
		}
	}
	switch {
	case !s.wanted(it):
		return ctx.Err()
	case it.again != nil:
		return s.keep(it, -1, it.again, it.cut)
	}
	kept, size, cut, err := s.set.spool.add(buf, pack)
	if err != nil {
		return s.fail(ctx, it.name, err)
	}
	if cut != nil {
		cut = fmt.Errorf("after %d bytes: %w", size, damage(cut))
		if err := s.fail(ctx, it.name, cut); err != nil {
			return err
		}
	}
	return s.keep(it, size, spooled(kept), cut)
}

// mislabelled notes content that is not packed though its name says so: it is likely lost.
// A block of zeros is an empty tar.
func (s *scanner) mislabelled(ctx context.Context, it item, head []byte) error {
	if !promisesPacked(it.rel) || len(head) == sniffLen && [sniffLen]byte(head) == [sniffLen]byte{} {
		return nil
	}
	return s.fail(ctx, it.name, fmt.Errorf("%w: neither an archive nor compressed, though its name says so", ErrFormat))
}

// enter makes the item that each member of an archive starts from, with a scope. ok is false
// if the archive is nested too deep.
func (s *scanner) enter(ctx context.Context, it item) (first item, ok bool, err error) {
	if it.depth >= s.opt.Limits.Depth {
		return item{}, false, s.fail(ctx, it.name, fmt.Errorf("%w: more than %d", ErrDepth, s.opt.Limits.Depth))
	}
	base := stem(it.rel)
	first = item{
		root: it.root, archive: it.archive, depth: it.depth + 1, layers: it.layers + 1,
		in: &scope{parent: it.in, prefix: path.Join(path.Dir(it.rel), base), base: base},
	}
	if it.top {
		first.archive = base
		first.in.prefix = ""
	}
	return first, true, nil
}

// member is the item of an archive's member, and whether it is worth a look at its content.
// first is what every member starts from; see [scanner.enter].
func (s *scanner) member(ctx context.Context, archive, first item, name string, mode fs.FileMode, mod modified,
) (it item, ok bool, err error) {
	rel, err := cleanMember(name)
	if err != nil {
		return item{}, false, s.fail(ctx, first.named(archive, name).name, err)
	}
	first.in.see(rel, mode.IsDir())
	it = first.named(archive, rel)
	it.mod = mod
	if mode.IsDir() || rel == "" {
		return item{}, false, nil
	}
	if !s.interesting(it) {
		it.look = mode.IsRegular() && s.worthLook(it)
		return it, it.look, nil
	}
	return it, true, nil
}

// named is the item with the name that it has in an archive.
func (it item) named(archive item, rel string) item {
	sep := "/"
	if archive.depth == 0 {
		sep = "!" // what follows is not on disk
	}
	it.rel, it.name = rel, archive.name+sep+rel
	return it
}

// keep lists a file if it is wanted.
func (s *scanner) keep(it item, size int64, open opener, cut error) error {
	if !s.wanted(it) {
		return nil
	}
	f := &File{
		Root: it.root, Archive: it.archive, Size: size, Err: cut,
		ModTime: it.mod.at, ModStep: it.mod.step, ModLocal: it.mod.local, Named: it.top, Beside: it.beside,
		name: it.name, open: open, packed: it.layers > 0, set: s.set,
	}
	s.found = append(s.found, found{file: f, in: it.in, rel: it.rel, layers: it.layers, looked: it.look})
	s.done.Files++
	s.report()
	return s.more(it.name)
}
