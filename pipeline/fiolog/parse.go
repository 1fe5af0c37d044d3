package fiolog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/fio2es/fio2es/hist"
)

// binSlots is the number of bins in the buffer of a row. It is a power of two and at least hist.MaxColumns. So a mask
// proves to the compiler that an index is in range.
const binSlots = 4096

// maxDigits is the largest number of digits that always fits into 64 bits.
const maxDigits = 19

type binBuffer [binSlots]hist.Bin

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

// Eight bytes at a time, little-endian. A row is mostly "0, 0, 0, …", and as eight is
// not a multiple of three the pattern comes in three phases: 24 bytes are 8 columns.
const (
	zeroesA = 0x2c30202c30202c30 // "0, 0, 0,"
	zeroesB = 0x30202c30202c3020
	zeroesC = 0x202c30202c30202c
	comma   = 0x202c // ", "
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
	const several = 8 // short counts in a row, after which shortBins is faster again
	for r.columns < hist.MaxColumns {
		pos = shortBins(b, pos, bins, r)
		for left := several; left > 0 && r.columns < hist.MaxColumns; left-- {
			// This number may have many digits, may be the last, or may be wrong. Or b ends.
			v, n := shortNumber(b[pos:])
			pos += n
			if n == 0 || pos >= len(b) {
				return 0
			}
			if v != 0 {
				bins[r.used&(binSlots-1)] = hist.Bin{Index: uint32(r.columns), Count: v}
				r.used++
				r.count(v)
			}
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
			if n > 2 {
				left = several
			}
		}
	}
	return 0
}

// shortBins adds counts of one or two digits, which are most of a row, each followed by ", ". It begins at pos and stops
// at anything else, or before the last 24 bytes. It returns the new position.
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

// word returns the eight bytes of b from i on.
func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8 : i+8]) }

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

// headFields is how many numbers come before the bins.
const headFields = 3

// Numbers of fields of a row without a histogram: the fewest, those that are used, the most.
const (
	rawFields    = 4 // time, value, direction, block size
	rawUsed      = 5 // the same with the maximum after the mean
	maxRawFields = 8
)

// What an error expects in each field of a row. The last one is for all further fields.
var (
	fieldNames = [headFields + 1]string{
		"a time in ms", "a direction: 0 (read), 1 (write) or 2 (trim)", "a block size", "a count",
	}
	rawNames = [rawUsed]string{"a time in ms", "a value", fieldNames[1], "a block size", "a number"}
)

// fault is what is wrong with a line. The reader adds the line's place.
type fault struct {
	column    int // 1-based, in bytes
	got, want string
}

// cutField returns the field of a line that begins at pos, without blanks, its column, and where the next one begins.
func cutField(line []byte, pos int) (text []byte, column, next int) {
	end := len(line)
	if i := bytes.IndexByte(line[pos:], ','); i >= 0 {
		end = pos + i
	}
	for pos < end && (line[pos] == ' ' || line[pos] == '\t') {
		pos++
	}
	return bytes.TrimRight(line[pos:end], " \t"), pos + 1, end + 1
}

// parseSlow reads one line without its end in any form that can be understood: blanks and tabs around the numbers, a
// comma without a blank, counts up to 2^64-1. It agrees with parseFast on every row that parseFast accepts. It returns
// false for a bad line. The reader judges the number of columns. A row of more than hist.MaxColumns bins keeps only the
// first.
func parseSlow(line []byte, bins *binBuffer, r *row) (fault, bool) {
	*r = row{}
	fields := 0
	for pos := 0; pos <= len(line); fields++ {
		text, column, next := cutField(line, pos)
		v, ok := parseNumber(text)
		if !ok || fields == 0 && v > math.MaxInt64 || fields == 1 && v >= Directions {
			return fault{column, quoted(text), fieldNames[min(fields, headFields)]}, false
		}
		switch fields {
		case 0:
			r.time = v
		case 1:
			r.direction = v
		case 2:
			r.blockSize = v
		default:
			if col := fields - headFields; v != 0 && col < hist.MaxColumns {
				bins[r.used] = hist.Bin{Index: uint32(col), Count: v}
				r.used++
				r.count(v)
			}
		}
		pos = next
	}
	if fields < headFields {
		return fault{len(line) + 1, "the end of the line", fieldNames[fields]}, false
	}
	r.columns = fields - headFields
	return fault{}, true
}

// parseNumber parses a whole number of decimal digits, without a sign, up to 2^64-1.
func parseNumber(text []byte) (uint64, bool) {
	v, err := strconv.ParseUint(string(text), 10, 64)
	return v, err == nil
}

// isAddressRow recognizes a row of a histogram log that was stored compressed and inflated: time, address, direction,
// block size and at most three more.
func isAddressRow(line []byte) bool {
	const lowestAddress = 1 << 40 // of a 64-bit process; as a latency it would be 18 minutes
	fields := bytes.Split(bytes.TrimSpace(line[:min(len(line), 128)]), []byte{','})
	if len(fields) < 4 || len(fields) > 7 {
		return false
	}
	address, ok := parseNumber(bytes.TrimSpace(fields[1]))
	return ok && address >= lowestAddress
}

// parseRawFast parses one row without a histogram at the start of b in fio's usual form: numbers of up to 19 digits
// between ", ", ended by a newline. It returns the length of the row. It returns 0 if the row has another form, is
// wrong, or is incomplete.
func parseRawFast(b []byte, rec *Record) int {
	var v [rawUsed]uint64
	var at [rawUsed]int
	for fields, pos := 0, 0; fields < maxRawFields; fields++ {
		n, digits := shortNumber(b[pos:])
		pos += digits
		if digits == 0 || pos+2 > len(b) && (pos == len(b) || b[pos] != '\n') {
			return 0
		}
		if fields < rawUsed {
			v[fields] = n
		}
		switch {
		case b[pos] == '\n':
			if _, ok := rec.setRaw(&v, &at, fields+1, pos); !ok {
				return 0
			}
			return pos + 1
		case b[pos] != ',' || b[pos+1] != ' ':
			return 0
		}
		pos += 2
	}
	return 0
}

// parseRaw parses one line without its end in any form that fio or an editor writes. A priority may be hexadecimal.
func parseRaw(line []byte, rec *Record) (fault, bool) {
	var v [rawUsed]uint64
	var at [rawUsed]int // columns, 1-based
	fields := 0
	for pos := 0; pos <= len(line); fields++ {
		text, column, next := cutField(line, pos)
		n, ok := parseNumber(text)
		if hex, isHex := bytes.CutPrefix(text, []byte("0x")); isHex && fields >= rawFields {
			var err error
			n, err = strconv.ParseUint(string(hex), 16, 64)
			ok = err == nil
		}
		if !ok {
			return fault{column, quoted(text), rawNames[min(fields, rawUsed-1)]}, false
		}
		if fields < rawUsed {
			v[fields], at[fields] = n, column
		}
		pos = next
	}
	return rec.setRaw(&v, &at, fields, len(line))
}

// setRaw finds out which fields a row has, because fio does not name them. at and end are columns for errors.
func (rec *Record) setRaw(v *[rawUsed]uint64, at *[rawUsed]int, fields, end int) (fault, bool) {
	switch {
	case fields < rawFields || fields > maxRawFields:
		want := fmt.Sprintf("%d to %d", rawFields, maxRawFields)
		return fault{end + 1, fmt.Sprintf("%d columns", fields), want}, false
	case v[0] > latestTime:
		return fault{at[0], fmt.Sprintf("\"%d\"", v[0]), "a time before the year 10000, in ms"}, false
	case v[1] > math.MaxInt64:
		return fault{at[1], fmt.Sprintf("\"%d\"", v[1]), rawNames[1]}, false
	}
	rec.Time, rec.Value, rec.BlockSize, rec.Averaged = int64(v[0]), int64(v[1]), v[3], false
	direction := v[2]
	if direction >= Directions && fields > rawFields && v[3] < Directions && v[2] >= v[1] {
		// log_window_value=both: time, mean, maximum, direction, block size.
		rec.Averaged, direction, rec.BlockSize = true, v[3], v[4]
	}
	// fio 3.20 added a priority, which is 0 unless it is set. Before, a fifth column was the offset (log_offset).
	rec.IsFio3 = rec.Averaged || fields > rawFields+1 || fields == rawFields+1 && v[rawFields] == 0
	if direction >= Directions {
		return fault{at[2], fmt.Sprintf("\"%d\"", v[2]), rawNames[2]}, false
	}
	rec.Direction = Direction(direction)
	return fault{}, true
}
