package fiolog

import (
	"encoding/binary"
	"slices"

	"github.com/fio2es/fio2es/hist"
)

// Packed is a row that is kept until it is needed. Its bins take two to three bytes each, in place of 16: the first rows of
// thousands of logs lie in memory at the same time.
type Packed struct {
	Record        // without bins
	bins   []byte // for each the distance from the one before, and its count
}

// Pack returns the row as one that shares no memory with the reader.
func (r *Record) Pack() *Packed {
	p := &Packed{Record: *r, bins: make([]byte, 0, 3*len(r.Bins))}
	p.Bins = nil
	last := uint32(0)
	for _, b := range r.Bins {
		p.bins = binary.AppendUvarint(p.bins, uint64(b.Index-last))
		p.bins = binary.AppendUvarint(p.bins, b.Count)
		last = b.Index
	}
	return p
}

// Unpack returns the row. Its bins are in the memory of into, if that is large enough.
func (p *Packed) Unpack(into []hist.Bin) *Record {
	r, last := p.Record, uint32(0)
	r.Bins = slices.Grow(into[:0], len(p.bins)/2)
	for at := 0; at < len(p.bins); {
		step, n := binary.Uvarint(p.bins[at:])
		count, m := binary.Uvarint(p.bins[at+n:])
		last += uint32(step)
		r.Bins = append(r.Bins, hist.Bin{Index: last, Count: count})
		at += n + m
	}
	return &r
}
