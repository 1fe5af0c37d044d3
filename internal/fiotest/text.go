package fiotest

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// flushAt is how many bytes of text are collected for a call of Write.
const flushAt = 256 << 10

var (
	// zeros are more empty columns than any row has; parts of it are copied.
	zeros = strings.Repeat("0, ", maxGroups*binsPerGroup)
	// small are the texts of small counts with separators.
	small = smallNumbers(1000)
)

func smallNumbers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i) + ", "
	}
	return out
}

// rowWriter turns rows into text. After its first error it does nothing.
type rowWriter struct {
	w          io.Writer
	buf        []byte
	columns    int
	coarseness int
	n          int64 // bytes so far, including those in buf
	err        error
}

func newRowWriter(w io.Writer, s LogSpec) *rowWriter {
	return &rowWriter{w: w, columns: s.Columns(), coarseness: s.Coarseness}
}

func (o *rowWriter) row(r Row) {
	before := len(o.buf)
	o.buf = AppendRow(o.buf, r, o.columns, o.coarseness)
	o.n += int64(len(o.buf) - before)
	if len(o.buf) >= flushAt {
		o.flush()
	}
}

func (o *rowWriter) flush() {
	if o.err != nil || len(o.buf) == 0 {
		return
	}
	n, err := o.w.Write(o.buf)
	if err != nil {
		o.n -= int64(len(o.buf) - n)
		o.err = fmt.Errorf("write log: %w", err)
	}
	o.buf = o.buf[:0]
}

// AppendRow appends a row as fio prints it, with newline. Its bins are merged into columns of the given coarseness.
func AppendRow(dst []byte, r Row, columns, coarseness int) []byte {
	dst = strconv.AppendInt(dst, r.TimeMs, 10)
	dst = append(dst, ", "...)
	dst = append(dst, small[r.Direction]...)
	dst = strconv.AppendInt(dst, int64(r.BlockSize), 10)
	dst = append(dst, ", "...)
	next := 0
	for i := 0; i < len(r.Bins); {
		column := r.Bins[i].Bin >> coarseness
		var count uint64
		for ; i < len(r.Bins) && r.Bins[i].Bin>>coarseness == column; i++ {
			count += r.Bins[i].Count
		}
		dst = append(dst, zeros[:(column-next)*3]...)
		dst = appendCount(dst, count)
		next = column + 1
	}
	dst = append(dst, zeros[:(columns-next)*3]...)
	dst = dst[:len(dst)-1] // replace ", " by a newline
	dst[len(dst)-1] = '\n'
	return dst
}

func appendCount(dst []byte, n uint64) []byte {
	if n < uint64(len(small)) {
		return append(dst, small[n]...)
	}
	dst = strconv.AppendUint(dst, n, 10)
	return append(dst, ", "...)
}
