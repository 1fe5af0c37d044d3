package fiolog

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Numbers of fields of a row without a histogram: the fewest, those that are used, the most.
const (
	rawFields    = 4 // time, value, direction, block size
	rawUsed      = 5 // the same with the maximum after the mean
	maxRawFields = 8
)

var rawNames = [rawUsed]string{
	"a time in ms", "a value", "a direction: 0 (read), 1 (write) or 2 (trim)", "a block size", "a number",
}

// parseRawFast parses one row at the start of b in fio's usual form: numbers of up to 19 digits between ", ", ended by
// a newline. It returns the length of the row. It returns 0 if the row has another form, is wrong, or is incomplete.
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

// parseRaw parses one line without its end in any form that fio or an editor writes.
func parseRaw(line []byte, rec *Record) (fault, bool) {
	var v [rawUsed]uint64
	var at [rawUsed]int // columns, 1-based
	end, fields := len(line), 0
	for pos := 0; pos <= end; fields++ {
		for pos < end && isBlank(line[pos]) {
			pos++
		}
		n, digits := shortNumber(line[pos:end])
		next := pos + digits
		if digits == 0 || next < end && line[next] != ',' { // rare: blanks, 0x…, or an error
			stop := bytes.IndexByte(line[pos:end], ',')
			if next = pos + stop; stop < 0 {
				next = end
			}
			text, ok := bytes.TrimRight(line[pos:next], " \t"), false
			if n, ok = rawNumber(text, fields >= rawFields); !ok {
				return fault{pos + 1, quoted(text), rawNames[min(fields, rawUsed-1)]}, false
			}
		}
		if fields < rawUsed {
			v[fields], at[fields] = n, pos+1
		}
		pos = next + 1
	}
	return rec.setRaw(&v, &at, fields, end)
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

// rawNumber parses a number in any form that fio uses. A priority may be hexadecimal.
func rawNumber(text []byte, hex bool) (uint64, bool) {
	if digits, isHex := bytes.CutPrefix(text, []byte("0x")); hex && isHex {
		v, err := strconv.ParseUint(string(digits), 16, 64)
		return v, err == nil
	}
	return parseNumber(text)
}
