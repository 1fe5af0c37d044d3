package fiolog

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/fio2es/fio2es/hist"
)

// binSlots is how many bins a row's buffer holds: a power of two above
// hist.MaxColumns, so that a mask proves to the compiler that an index is in range.
const binSlots = 2048

// maxDigits is how many digits surely fit into 64 bits.
const maxDigits = 19

type binBuffer [binSlots]hist.Bin

// row is what a line says, before anything is concluded from it.
type row struct {
	time      uint64
	direction uint64
	blockSize uint64
	columns   int // bins written, also those that are zero
	used      int // bins that are not zero: the first so many of the buffer
}

// Eight bytes at a time, little-endian. A row is mostly "0, 0, 0, …", and as eight is
// not a multiple of three the pattern comes in three phases: 24 bytes are 8 columns.
const (
	zeroesA = 0x2c30202c30202c30 // "0, 0, 0,"
	zeroesB = 0x30202c30202c3020
	zeroesC = 0x202c30202c30202c
	commas  = 0x2c2c2c2c2c2c2c2c
	ascii0s = 0x3030303030303030
	lowBits = 0x0101010101010101
	topBits = 0x8080808080808080
	toTop   = 0x7676767676767676 // carries 10 and above into the top bit
)

// parseFast reads one row at the start of b in the very form in which fio writes it:
// numbers of up to 19 digits between ", ", ended by a newline, maybe with a carriage
// return before it. It returns how many bytes the row takes, or 0 when the row is not
// of this form or not whole: then it is parseSlow's turn, which knows what is wrong.
// b may go on after the row; nothing is assumed about what follows.
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
	r.time, r.direction, r.blockSize = head[0], head[1], head[2]
	col, used := 0, 0
	for col < hist.MaxColumns {
		pos, col, used = parseBins(b, bins, pos, col, used)
		// What is left is the last number, one of many digits, the end of b, or wrong.
		v, n := shortNumber(b[pos:])
		pos += n
		if n == 0 || pos >= len(b) {
			return 0
		}
		bins[used&(binSlots-1)] = hist.Bin{Index: uint32(col), Count: v}
		if v != 0 {
			used++
		}
		col++
		switch {
		case b[pos] == '\n':
			r.columns, r.used = col, used
			return pos + 1
		case pos+2 > len(b):
			return 0
		case b[pos] == '\r' && b[pos+1] == '\n':
			r.columns, r.used = col, used
			return pos + 2
		case b[pos] != ',' || b[pos+1] != ' ':
			return 0
		}
		pos += 2
	}
	return 0
}

// parseBins reads counts of up to six digits, each followed by ", ", until something
// else comes or less than 24 bytes are left. There is no branch on how many digits a
// count has, nor on whether it is zero: both are as good as random where it matters.
func parseBins(b []byte, bins *binBuffer, pos, col, used int) (int, int, int) {
	for pos+24 <= len(b) && col < hist.MaxColumns {
		s := b[pos : pos+24 : pos+24]
		w := binary.LittleEndian.Uint64(s)
		if w == zeroesA && binary.LittleEndian.Uint64(s[8:]) == zeroesB && binary.LittleEndian.Uint64(s[16:]) == zeroesC {
			pos += 24
			col += 8
			continue
		}
		c := w ^ commas
		n := uint(bits.TrailingZeros64((c-lowBits)&^c&topBits)) >> 3 // digits before the comma; 8 if there is none
		if n-1 > 5 || byte(w>>((n*8+8)&63)) != ' ' {
			break
		}
		d := (w ^ ascii0s) << ((64 - n*8) & 63) // the digits' values, the last one on top, zeros before the first
		if (d|(d+toTop))&topBits != 0 {
			break
		}
		v := eightDigits(d)
		bins[used&(binSlots-1)] = hist.Bin{Index: uint32(col), Count: v}
		used += int((-v) >> 63)
		pos += int(n) + 2
		col++
	}
	return pos, col, used
}

// eightDigits is the number whose digits are the bytes of d, the first one lowest:
// neighbours are joined to pairs, pairs to fours, fours to eight.
func eightDigits(d uint64) uint64 {
	d = d*10 + d>>8
	return ((d&0x000000ff000000ff)*(100+1000000<<32) + (d>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32
}

// shortNumber reads the digits at the start of b: the number and how many they are;
// 0 of them when there is none, or too many to be sure that 64 bits hold it.
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
