package fiolog

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/fio2es/fio2es/hist"
)

// Packed is a row that is kept until it is needed. Its bins take two to three bytes each, in place of 16: the rows of
// thousands of logs lie in memory at the same time.
type Packed struct {
	Record        // without bins
	bins   []byte // for each the distance from the one before, and its count
}

// Pack returns the row as one that shares no memory with the reader.
func (r *Record) Pack() *Packed {
	p := &Packed{Record: *r}
	p.Bins = nil
	var room [2 << 10]byte // most rows need less
	bins, last := room[:0], uint32(0)
	for _, b := range r.Bins {
		if step := b.Index - last; step|uint32(min(b.Count, 0x80)) < 0x80 {
			bins = append(bins, byte(step), byte(b.Count))
		} else {
			bins = binary.AppendUvarint(binary.AppendUvarint(bins, uint64(step)), b.Count)
		}
		last = b.Index
	}
	p.bins = bytes.Clone(bins)
	return p
}

// Unpack returns the row. Its bins are in the memory of into, if that is large enough.
func (p *Packed) Unpack(into []hist.Bin) *Record {
	r, last := p.Record, uint32(0)
	into = slices.Grow(into[:0], len(p.bins)/2)
	for at := 0; at+1 < len(p.bins); {
		step, count := uint64(p.bins[at]), uint64(p.bins[at+1])
		if step|count < 0x80 {
			at += 2
		} else {
			var n, m int
			step, n = binary.Uvarint(p.bins[at:])
			count, m = binary.Uvarint(p.bins[at+n:])
			at += n + m
		}
		last += uint32(step)
		into = append(into, hist.Bin{Index: last, Count: count})
	}
	r.Bins = into
	return &r
}
