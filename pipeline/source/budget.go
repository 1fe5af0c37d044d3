package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// ErrTooMuch ends a scan, and the reading of its files, at a limit of their [Budget].
var ErrTooMuch = errors.New("too much for its size")

// A Budget bounds what a scan and all work on its files take: it is the only defence against small files that were made
// to become large. Whoever unpacks, parses, computes or stores charges it, in bytes.
//
// The work may be 96 MiB, and 2,000 times the bytes of the input as they are stored, over all files and all layers of
// compression together, and the same of each compressed stream: one that becomes more is cut there, and the rest of the
// input goes in. Real logs compress 24:1 to 100:1, those of one request a second 540:1 with zstd and 1,000:1 with
// bzip2, so the rest is for documents. A log without requests reaches 3,100:1, which the free part covers up to 96 MiB
// and the other files of an archive beyond. With that, a file of some 100 KB fills neither a small disk nor an hour.
//
// What is held in memory to the end, such as the names of files, may have 512 MiB in all, because no size of the input
// makes memory larger.
//
// A Budget is safe for concurrent use. The methods of a nil Budget charge nothing.
type Budget struct {
	free, ratio, memory int64 // if not 0, they replace the constants

	packed, spent, held atomic.Int64
	over                atomic.Pointer[overrun]
}

const (
	freeWork   = 96 << 20
	workRatio  = 2000
	mostMemory = 512 << 20
)

// Prices of what is not simply bytes.
const (
	priceOfFile = 2048 // bytes in memory of a file or a problem, without its name
	priceOfName = 8    // for each byte of a name, because it becomes part of paths, keys and messages
)

// Spend charges work of n bytes.
func (b *Budget) Spend(n int64) error {
	if b == nil || n == 0 {
		return nil
	}
	return b.within(b.spent.Add(n), cmp.Or(b.free, freeWork)+cmp.Or(b.ratio, workRatio)*b.packed.Load(), "of content")
}

// Hold charges n bytes of memory that are in use to the end.
func (b *Budget) Hold(n int64) error {
	if b == nil {
		return nil
	}
	return b.within(b.held.Add(n), cmp.Or(b.memory, mostMemory), "in memory")
}

func (b *Budget) within(n, most int64, of string) error {
	if n <= most {
		return nil
	}
	b.over.CompareAndSwap(nil, &overrun{ErrTooMuch, b.packed.Load(), most, of})
	return b.Err()
}

// Err returns the error if a charge was refused, always the same.
func (b *Budget) Err() error {
	if b == nil || b.over.Load() == nil {
		return nil
	}
	return b.over.Load()
}

// overrun is the error for what becomes too much: ErrTooMuch for all of the input, ErrDamaged for one stream.
type overrun struct {
	reason       error
	packed, most int64
	of           string
}

func (o *overrun) Error() string {
	return fmt.Sprintf("%v: %d bytes of input become more than %d MB %s: if they are real, unpack them and pass the folder, or read fewer at a time",
		ErrTooMuch, o.packed, o.most>>20, o.of)
}

func (o *overrun) Unwrap() error { return o.reason }

// meter charges the bytes of one decoded stream once, however often it is read.
type meter struct {
	budget *Budget
	most   atomic.Int64 // bytes that are charged
}

// counted counts the bytes that a decoder reads.
type counted struct {
	io.Reader
	n int64
}

func (in *counted) Read(p []byte) (int, error) {
	n, err := in.Reader.Read(p)
	in.n += int64(n)
	return n, err
}

// metered is a reader of the stream that a decoder makes of an input. Errors of the decoder wrap ErrDamaged.
type metered struct {
	*meter
	r    io.Reader
	from *counted // nil if the format itself bounds what the input becomes
	n    int64
	err  error
}

func (m *metered) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	for most := m.most.Load(); m.n > most; most = m.most.Load() {
		if m.most.CompareAndSwap(most, m.n) {
			m.err = m.budget.Spend(m.n - most)
		}
	}
	if m.from != nil && m.err == nil {
		if most := cmp.Or(m.budget.free, freeWork) + cmp.Or(m.budget.ratio, workRatio)*m.from.n; m.n > most {
			m.err = &overrun{ErrDamaged, m.from.n, most, "of content"}
		}
	}
	if err != nil && err != io.EOF && m.err == nil {
		m.err = damage(err)
	}
	if m.err != nil {
		return n, m.err
	}
	return n, err
}
