package source

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

const (
	// sniffLen is how many bytes detect needs to see: one tar header.
	sniffLen = 512
	bufLen   = 32 << 10 // read buffer below each decoder
	lookLen  = bufLen   // how much of a file Look.Is gets at most
	// maxWindow is the memory that a compressed stream may ask for: what the zstd and
	// xz commands accept by default.
	maxWindow = 128 << 20
)

// Decoders and buffers are used again, because making them costs far more than a small file.
var (
	buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bufLen) }}
	gzips   = sync.Pool{New: func() any { return new(gzip.Reader) }}

	// Dictionaries and windows are kept, because some streams ask for 64 or 128 MiB for a content of any length.
	zstds = idle[*zstd.Decoder]{make: newZstd}
	xzs   = idle[*xz.Reader]{make: func() *xz.Reader { z, _ := xz.NewReader(nil, maxWindow); return z }} // fails only with a stream
)

// idle has the decoders that are not in use: at most mostIdle, and never more than were in use at the same time. A
// [sync.Pool] may have two for each processor, and each may take 128 MiB.
type idle[D any] struct {
	make func() D
	mu   sync.Mutex
	list []D
}

func (i *idle[D]) take() D {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := len(i.list) - 1
	if last < 0 {
		return i.make()
	}
	d := i.list[last]
	i.list = i.list[:last]
	return d
}

func (i *idle[D]) give(d D) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.list) < mostIdle {
		i.list = append(i.list, d)
	}
}

const mostIdle = 8

// clear forgets the decoders, so that the memory of their windows can be used.
func (i *idle[D]) clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = nil
}

// newZstd makes a decoder. With a concurrency of one it has no goroutines, so it need not be closed.
func newZstd() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		panic(err) // the options are wrong
	}
	return z
}

type kind uint8

const (
	plain kind = iota
	gzipped
	zstded
	xzed
	bzipped
	tarred
	zipped
)

func (k kind) isArchive() bool { return k == tarred || k == zipped }

// detect finds the kind by the first bytes (up to sniffLen). Text, JSON and
// empty content are always plain.
func detect(head []byte) kind {
	switch {
	case len(head) >= 4 && string(head[:3]) == "\x1f\x8b\x08" && head[3]&0xe0 == 0:
		return gzipped
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return zstded
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18":
		return zstded // a skippable frame: parallel compressors write one first
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return xzed
	case len(head) >= 10 && string(head[:3]) == "BZh" && '1' <= head[3] && head[3] <= '9' && // which could be text
		(string(head[4:10]) == "\x31\x41\x59\x26\x53\x59" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"): // of a block
		return bzipped
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return zipped
	case isTar(head):
		return tarred
	}
	return plain
}

// isTar checks the header's own checksum, which every tar since v7 carries and
// text cannot have by chance. It requires a NUL as well.
func isTar(head []byte) bool {
	const sumAt, sumEnd = 148, 156
	if len(head) < sniffLen || head[0] == 0 || bytes.IndexByte(head, 0) < 0 {
		return false
	}
	field := strings.Trim(string(head[sumAt:sumEnd]), " \x00")
	want, err := strconv.ParseInt(field, 8, 64)
	if err != nil {
		return false
	}
	var unsigned, signed int64
	for i, c := range head[:sniffLen] {
		if i >= sumAt && i < sumEnd {
			c = ' '
		}
		unsigned += int64(c)
		signed += int64(int8(c))
	}
	return want == unsigned || want == signed // old tars summed signed chars
}

// IsArchive reports whether the file of that name is a tar or zip, compressed or not. It reads the beginning of the
// file. It returns false if that fails.
func IsArchive(name string) bool {
	const maxLayers = 4 // compressions that are taken off
	f, err := openBelow("", name)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false // what is read of a pipe is gone
	}
	var r io.Reader = f
	for range maxLayers {
		buf := takeBuffer(r)
		head, _ := buf.Peek(sniffLen)
		k := detect(head)
		if k < gzipped || k > bzipped {
			return k.isArchive()
		}
		d, err := decode(k, buf)
		if err != nil {
			return false
		}
		defer d.Close()
		r = d
	}
	return false
}

// random looks at bytes that can be read in any order. They stay where they are if that is possible. b is how they are
// read again.
func (s *scanner) random(it item, at *io.SectionReader, b body) {
	wanted := int64(sniffLen)
	if it.met == byContent || it.met == beside {
		wanted = lookLen
	}
	head := make([]byte, min(wanted, at.Size()))
	n, err := at.ReadAt(head, 0)
	head = head[:n]
	k := detect(head)
	if s.isForeign(it, k, head, nil) {
		return
	}
	if err != nil && err != io.EOF {
		s.fail(it.name, err)
		return
	}
	if b.cut != nil {
		s.fail(it.name, b.cut)
	}
	outer, _, _ := at.Outer()
	if f, ok := outer.(*os.File); ok && k.isArchive() {
		s.set.archives = append(s.set.archives, f)
	}
	switch k {
	case tarred:
		s.tar(it, at, at)
	case zipped:
		s.zip(it, at)
	case plain:
		s.mislabelled(it, head)
		s.keep(it, b)
	default:
		it.again = b
		s.unpack(it, k, &input{s, at, nil})
	}
}

// stream looks at bytes that can be read only once.
func (s *scanner) stream(it item, r io.Reader) {
	buf := takeBuffer(r)
	defer giveBuffer(buf)
	head, err := buf.Peek(sniffLen)
	k := detect(head)
	if it.packed && k == plain && it.met == byName && !s.wanted(it) && s.mayLook(it) {
		it.met = byContent // its whole name is only known now: run_stats.log.gz
	}
	if s.isForeign(it, k, head, buf) {
		return
	}
	switch k {
	case tarred:
		s.tar(it, buf, nil)
	case zipped: // its directory is at its end
		kept := &kept{}
		cut, err := s.set.spool.add(kept, buf)
		if err != nil {
			s.fail(it.name, err)
			return
		}
		if cut != nil {
			s.fail(it.name, damage(cut))
		}
		s.zip(it, kept.SectionReader)
	case plain:
		s.plainStream(it, buf, head, err)
	default:
		s.unpack(it, k, buf)
	}
}

// unpack looks at what is inside a compressed stream.
func (s *scanner) unpack(it item, k kind, r io.Reader) {
	if it.packed { // a stream compressed twice
		if it.depth++; it.depth > s.Depth {
			s.tooDeep(it)
			return
		}
	}
	switch {
	case it.again.open == nil:
	case k == gzipped:
		it.again = body{open: s.set.decompressed(it.budget, k, it.again.open), size: -1, cut: it.again.cut}
	default: // the decoder takes megabytes, and all logs of a run are read at once
		it.again = s.set.unpackedOnce(it.budget, k, it.again)
	}
	it.packed = true
	it.layers++
	it.rel = trimCompression(it.rel)
	from := &counted{Reader: r}
	d, err := decode(k, from)
	if err != nil {
		s.fail(it.name, err)
		return
	}
	defer d.Close()
	s.stream(it, &metered{meter: &meter{budget: it.budget}, r: d, from: from})
}

func (s *scanner) tooDeep(it item) {
	s.fail(it.name, fmt.Errorf("%w: more than %d", ErrDepth, s.Depth))
}

// plainStream keeps a content that is no archive, if wanted. The error is what
// the first look at it met.
func (s *scanner) plainStream(it item, buf *bufio.Reader, head []byte, err error) {
	isWanted, again := s.wanted(it), it.again.open != nil
	switch {
	case isWanted && it.packed && !bytes.ContainsFunc(head, func(c rune) bool { return c != 0 }) && len(head) > 0:
		s.fail(it.name, fmt.Errorf("%w: it begins with zeros, so it is no text", ErrFormat))
		return
	case err == nil || err == io.EOF:
		s.mislabelled(it, head)
	case again || !isWanted: // the spool notes the same of a wanted file in a stream
		s.fail(it.name, damage(err))
	}
	if !isWanted || again {
		s.keep(it, it.again)
		return
	}
	k := &kept{}
	cut, err := s.set.spool.add(k, buf)
	if err != nil {
		s.fail(it.name, err)
		return
	}
	if cut != nil {
		cut = fmt.Errorf("after %d bytes: %w", k.Size(), damage(cut))
		s.fail(it.name, cut)
	}
	s.keep(it, body{k.open, k.Size(), k, cut})
}

// mislabelled notes content that is not packed though its name says so: it is likely lost.
// A block of zeros is an empty tar.
func (s *scanner) mislabelled(it item, head []byte) {
	if promisesPacked(it.rel) && (len(head) < sniffLen || [sniffLen]byte(head) != [sniffLen]byte{}) {
		s.fail(it.name, fmt.Errorf("%w: neither an archive nor compressed, though its name says so", ErrFormat))
	}
}

// keep adds a file to the list if it is wanted.
func (s *scanner) keep(it item, b body) {
	if s.ended() || !s.wanted(it) {
		return
	}
	f := &File{
		Root: it.root, Archive: it.archive, Size: b.size, Modified: it.mod, Err: b.cut,
		Named: it.met == asArgument, Beside: it.met == beside,
		name: it.name, Disk: it.onDisk, Packed: it.layers > 0, body: b, set: s.set, budget: it.budget,
	}
	if f.Packed && f.Size >= 0 {
		f.budget = it.budget.of(min(f.Size, workRatio*it.budget.packed+freeWork)) // a zip may claim any size
	}
	s.found = append(s.found, found{file: f, in: it.in, rel: it.rel, layers: it.layers, met: it.met})
	s.done.Files++
	s.report()
	s.hold(priceOfFile, it.name)
}

type archive struct {
	*scanner
	item
	first item // what the item of each member starts from
}

// enter begins to read an archive. It reports false if it is nested too deep.
func (s *scanner) enter(it item) (archive, bool) {
	if it.depth >= s.Depth {
		s.tooDeep(it)
		return archive{}, false
	}
	base := stem(it.rel)
	first := item{
		origin: it.origin, depth: it.depth + 1, layers: it.layers + 1,
		in: &scope{parent: it.in, prefix: path.Join(path.Dir(it.rel), base), base: base},
	}
	if it.met == asArgument {
		first.archive = base
		first.in.prefix = ""
	}
	return archive{s, it, first}, true
}

// tear notes that the archive is damaged, so that members of it may be missing.
func (a *archive) tear(err error) {
	a.first.in.torn = true
	a.fail(a.name, damage(err))
}

// member is the item of a member, and whether it is worth a look at its content.
func (a *archive) member(name string, mode fs.FileMode, mod Modified) (it item, ok bool) {
	sep := "/"
	if a.item.depth == 0 {
		sep = "!" // what follows is not on disk
	}
	rel, err := cleanMember(name)
	if err != nil {
		a.fail(a.name+sep+name, err)
		return item{}, false
	}
	a.first.in.see(rel, mode.IsDir())
	it = a.first
	it.rel, it.name, it.mod = rel, a.name+sep+rel, mod
	switch {
	case mode.IsDir() || rel == "":
		return it, false
	case a.byName(it):
		return it, true
	}
	it.met = byContent
	return it, mode.IsRegular() && a.mayLook(it)
}

// decoder is one stream being decoded. Close gives its parts back to their pools, so nothing may read after it. A second
// Close does nothing.
type decoder struct {
	io.Reader
	release func()
}

// Close implements io.Closer.
func (d *decoder) Close() error {
	if d.release != nil {
		d.release()
		d.release = nil
	}
	return nil
}

// decode starts to decode the stream r of kind k. An error of its first header wraps ErrDamaged or ErrFormat.
func decode(k kind, r io.Reader) (*decoder, error) {
	buf := takeBuffer(r)
	var err error
	var d decoder
	switch k {
	case gzipped:
		z := gzips.Get().(*gzip.Reader)
		d = decoder{z, func() { gzips.Put(z); giveBuffer(buf) }}
		if err = z.Reset(buf); errors.Is(err, io.EOF) { // inside the header
			err = io.ErrUnexpectedEOF
		}
	case xzed:
		z := xzs.take()
		d = decoder{z, func() { xzs.give(z); giveBuffer(buf) }}
		err = z.Reset(buf)
	case zstded:
		z := zstds.take()
		d = decoder{z, func() {
			if z.Reset(nil) == nil {
				zstds.give(z)
			}
			giveBuffer(buf)
		}}
		err = z.Reset(buf)
	case bzipped:
		d = decoder{bzip2.NewReader(buf), func() { giveBuffer(buf) }}
	default:
		err = ErrFormat
	}
	if err != nil {
		giveBuffer(buf)
		return nil, damage(err)
	}
	return &d, nil
}

// takeBuffer returns a buffered reader of r, with bufLen bytes.
func takeBuffer(r io.Reader) *bufio.Reader {
	buf := buffers.Get().(*bufio.Reader)
	buf.Reset(r)
	return buf
}

func giveBuffer(buf *bufio.Reader) {
	buf.Reset(nil)
	buffers.Put(buf)
}
