package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// ErrTooMuch means that a file, or a scan, came to a limit of its [Budget].
var ErrTooMuch = errors.New("too much for its size")

// A Budget bounds what a file and all work on it take: it is the only defence against small files that were made to become
// large. Whoever unpacks, parses, computes or stores charges it, in bytes. Each file on disk has one, and so has each member
// of an archive in it. A charge that is refused costs nothing, and the caller leaves out the file. So one bad file takes
// nothing from the others.
//
// The work may be 2,000 times the bytes of the file on disk, over all layers of compression and all members together. What is
// beyond comes out of 96 MiB that all files of the scan share. A compressed stream, and a member, may also take 2,000 times its
// own bytes and 96 MiB. Real logs compress 24:1 to 100:1, those of one request a second 540:1 with zstd and 1,000:1 with
// bzip2, so the rest is for documents. A log without requests reaches 3,100:1, which the shared part covers. With that, a file
// of some 100 KB fills neither a small disk nor an hour.
//
// What is held in memory to the end, such as the names of files, may have 512 MiB in all, because no size of the input
// makes memory larger, and what a file becomes in it may have 64 MiB and 32 times the bytes of the file.
//
// A Budget is safe for concurrent use. The zero value is that of a scan. The methods of a nil Budget charge nothing.
type Budget struct {
	free, ratio, memory int64 // if not 0, they replace the constants; of a scan

	above               *Budget    // of the file on disk, or of the scan; nil if it is that of the scan
	mu                  sync.Mutex // guards what follows, of all that are below the budget of a scan
	packed, spent, held int64
}

const (
	freeWork   = 96 << 20
	workRatio  = 2000
	mostMemory = 512 << 20

	freeMemory  = 64 << 20
	memoryRatio = 32
)

// Prices of what is not simply bytes.
const (
	priceOfFile = 2048 // bytes in memory of a file or a problem, without its name
	priceOfName = 8    // for each byte of a name, because it becomes part of paths, keys and messages
)

// of returns the budget of a file of some bytes, or of a member if b is that of a file.
func (b *Budget) of(bytes int64) *Budget {
	if b == nil {
		return nil
	}
	return &Budget{above: b, packed: bytes}
}

func (b *Budget) scan() *Budget {
	for b.above != nil {
		b = b.above
	}
	return b
}

// limits returns the work that is free, and how much more each byte allows.
func (b *Budget) limits() (free, ratio int64) {
	of := b.scan()
	return cmp.Or(of.free, freeWork), cmp.Or(of.ratio, workRatio)
}

// grow adds bytes that a file turned out to have.
func (b *Budget) grow(n int64) {
	of := b.scan()
	of.mu.Lock()
	defer of.mu.Unlock()
	b.packed += n
}

// Spend charges work of n bytes.
func (b *Budget) Spend(n int64) error {
	if b == nil || n <= 0 {
		return nil
	}
	of := b.scan()
	of.mu.Lock()
	defer of.mu.Unlock()
	free, ratio := b.limits()
	var charges [3]int64 // of a member, the file on disk, and the scan
	whose := b
	for at, i := b, 0; at != nil; at, i = at.above, i+1 {
		charges[i] = n
		own := ratio * at.packed
		if at != of {
			whose = at
		}
		if at.spent+n > own+free {
			return &overrun{whose.packed, (ratio*whose.packed + free) >> 20, "of content"}
		}
		if at.above == of {
			n = max(at.spent+n-own, 0) - max(at.spent-own, 0)
		}
	}
	for at, i := b, 0; at != nil; at, i = at.above, i+1 {
		at.spent += charges[i]
	}
	return nil
}

// Hold charges n bytes of memory that are in use to the end.
func (b *Budget) Hold(n int64) error {
	if b == nil {
		return nil
	}
	of := b.scan()
	of.mu.Lock()
	defer of.mu.Unlock()
	for at := b; at != nil; at = at.above {
		most := int64(freeMemory + memoryRatio*at.packed)
		if at == of {
			most = cmp.Or(of.memory, mostMemory)
		}
		if at.held+n > most {
			return &overrun{at.packed, most >> 20, "in memory"}
		}
	}
	for at := b; at != nil; at = at.above {
		at.held += n
	}
	return nil
}

// overrun is the error for what becomes too much.
type overrun struct {
	packed, most int64 // bytes, MB
	of           string
}

func (o *overrun) Error() string {
	return fmt.Sprintf("%v: %d bytes become more than %d MB %s: damaged, or made to be large; if they are real, unpack them and pass "+
		"the folder, or read fewer at a time", ErrTooMuch, o.packed, o.most, o.of)
}

func (o *overrun) Unwrap() error { return ErrTooMuch }

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
		if free, ratio := m.budget.limits(); m.n > free+ratio*m.from.n {
			m.err = &overrun{m.from.n, (free + ratio*m.from.n) >> 20, "of content"}
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
