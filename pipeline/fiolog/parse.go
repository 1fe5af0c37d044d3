package fiolog

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/fio2es/fio2es/hist"
)

// binSlots is the number of bins in the buffer of a row. It is a power of two and at least hist.MaxColumns. So a mask
// proves to the compiler that an index is in range.
const binSlots = 4096

// maxDigits is the largest number of digits that always fits into 64 bits.
const maxDigits = 19

type binBuffer [binSlots]hist.Bin

// row is a parsed line.
type row struct {
	time      uint64
	direction uint64
	blockSize uint64
	columns   int    // bins written, including those that are zero
	used      int    // bins that are not zero, at the start of the buffer
	total     uint64 // the sum of all bins, at most 2^64-1
}

func (r *row) count(n uint64) {
	if r.total += n; r.total < n {
		r.total = math.MaxUint64
	}
}

// dropHalf removes the counts of all bins from bin half on.
func (r *row) dropHalf(bins *binBuffer, half int) {
	r.total = 0
	for i := range r.used {
		if int(bins[i].Index) >= half {
			r.used = i
			break
		}
		r.count(bins[i].Count)
	}
}

// Eight bytes at a time, little-endian. A row is mostly "0, 0, 0, …", and as eight is
// not a multiple of three the pattern comes in three phases: 24 bytes are 8 columns.
const (
	zeroesA = 0x2c30202c30202c30 // "0, 0, 0,"
	zeroesB = 0x30202c30202c3020
	zeroesC = 0x202c30202c30202c
	comma   = 0x202c // ", "
	commas  = 0x2c2c2c2c2c2c2c2c
	ascii0s = 0x3030303030303030
	lowBits = 0x0101010101010101
	topBits = 0x8080808080808080
	toTop   = 0x7676767676767676 // carries 10 and above into the top bit
)

// parseFast parses one row at the start of b, if it has fio's own form. That form is numbers of up to 19 digits between
// ", ", ended by a newline, with or without a carriage return. It returns the length of the row. It returns 0 if the
// row has another form or is incomplete. Then parseSlow finds what is wrong. More rows may follow in b.
func parseFast(b []byte, bins *binBuffer, r *row) int {
	pos := 0
	var head [3]uint64
	for i := range head {
		v, n := shortNumber(b[pos:])
		pos += n
		if n == 0 || pos+2 > len(b) || b[pos] != ',' || b[pos+1] != ' ' {
			return 0
		}
		head[i] = v
		pos += 2
	}
	if head[0] > math.MaxInt64 || head[1] >= Directions {
		return 0
	}
	*r = row{time: head[0], direction: head[1], blockSize: head[2]}
	for r.columns < hist.MaxColumns {
		pos = parseBins(b, pos, bins, r)
		// The next number may be the last, may have many digits, or may be wrong. Or b ends.
		v, n := shortNumber(b[pos:])
		pos += n
		if n == 0 || pos >= len(b) {
			return 0
		}
		r.put(headFields+r.columns, v, bins)
		r.columns++
		switch {
		case b[pos] == '\n':
			return pos + 1
		case pos+2 > len(b):
			return 0
		case b[pos] == '\r' && b[pos+1] == '\n':
			return pos + 2
		case b[pos] != ',' || b[pos+1] != ' ':
			return 0
		}
		pos += 2
	}
	return 0
}

// parseBins adds counts of up to six digits, each followed by ", ", to the row. It begins at pos and stops at anything
// else, or before the last 24 bytes. It returns the new position.
func parseBins(b []byte, pos int, bins *binBuffer, r *row) int {
	for {
		from := shortBins(b, pos, bins, r)
		if pos = mediumBins(b, from, bins, r); pos == from {
			return pos
		}
	}
}

// shortBins is parseBins for counts of one or two digits, which are most of a row.
//
// In a busy row, whether a count is zero and whether it has one digit or two is random. So
// there is no branch on either. A count can be parsed only when the end of the one before
// is known, so two are parsed at once.
func shortBins(b []byte, pos int, bins *binBuffer, r *row) int {
	col, used, total := r.columns, r.used, uint64(0)
	for pos >= 0 && pos <= len(b)-24 && col < hist.MaxColumns-1 {
		w := word(b, pos)
		if w == zeroesA && word(b, pos+8) == zeroesB && word(b, pos+16) == zeroesC {
			pos += 24
			col += 8
			continue
		}
		// Of '0' … '9', ',' and ' ' only digits have bit 4. In the second byte it is set if a short count has two
		// digits.
		x := w >> 8 >> (w >> 9 & 8) // from the comma of the first one on
		y := x >> 24 >> (x >> 25 & 8)
		first, second := shortCounts[uint16(w)], shortCounts[uint16(x>>16)]
		if first&second < isShort || uint16(x) != comma || uint16(y) != comma {
			break
		}
		v := uint64(first &^ isShort)
		bins[used&(binSlots-1)] = hist.Bin{Index: uint32(col), Count: v}
		used += int((v + 127) >> 7) // add 1 unless v is 0
		total += v
		v = uint64(second &^ isShort)
		bins[used&(binSlots-1)] = hist.Bin{Index: uint32(col + 1), Count: v}
		used += int((v + 127) >> 7)
		total += v
		pos += 6 + int(w>>12&1) + int(x>>28&1)
		col += 2
	}
	r.columns, r.used = col, used
	r.count(total)
	return pos
}

// shortCounts maps two bytes that begin with a count of one digit and a comma, or of two
// digits, to the count and isShort. All others map to 0. It is large so that the two bytes are
// its index, but the entries in use lie within four kilobytes.
var shortCounts = func() (t [1 << 16]uint8) {
	for a := range 10 {
		t['0'+a+','<<8] = uint8(a) | isShort
		for b := range 10 {
			t['0'+a+('0'+b)<<8] = uint8(10*a+b) | isShort
		}
	}
	return t
}()

const isShort = 0x80

// mediumBins is parseBins for counts of up to six digits. It stops after several short counts in a row. It has no
// branch on the length of a count.
func mediumBins(b []byte, pos int, bins *binBuffer, r *row) int {
	const several = 8
	col, used, total := r.columns, r.used, uint64(0)
	for left := several; left > 0 && pos >= 0 && pos <= len(b)-24 && col < hist.MaxColumns; left-- {
		w := word(b, pos)
		c := w ^ commas
		n := uint(bits.TrailingZeros64((c-lowBits)&^c&topBits)) >> 3 // digits before the comma; 8 if there is none
		if n-1 > 5 || byte(w>>((n*8+8)&63)) != ' ' {
			break
		}
		d := (w ^ ascii0s) << ((64 - n*8) & 63) // the digits' values, the last one on top, zeros before the first
		if (d|(d+toTop))&topBits != 0 {
			break
		}
		if n > 2 {
			left = several
		}
		v := eightDigits(d)
		bins[used&(binSlots-1)] = hist.Bin{Index: uint32(col), Count: v}
		used += int((-v) >> 63)
		total += v
		pos += int(n) + 2
		col++
	}
	r.columns, r.used = col, used
	r.count(total)
	return pos
}

// word returns the eight bytes of b from i on.
func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8 : i+8]) }

// eightDigits returns the number whose digits are the bytes of d, the first digit in the lowest byte. It joins
// neighbours to pairs, pairs to fours, fours to eight.
func eightDigits(d uint64) uint64 {
	d = d*10 + d>>8
	return ((d&0x000000ff000000ff)*(100+1000000<<32) + (d>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32
}

// shortNumber parses the digits at the start of b. It returns the number and its number of digits n. n is 0 if there
// are no digits, or too many for 64 bits.
func shortNumber(b []byte) (v uint64, n int) {
	for n < len(b) && b[n]-'0' <= 9 {
		if n == maxDigits {
			return 0, 0
		}
		v = v*10 + uint64(b[n]-'0')
		n++
	}
	return v, n
}
