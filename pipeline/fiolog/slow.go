package fiolog

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/fio2es/fio2es/hist"
)

// headFields is how many numbers come before the bins.
const headFields = 3

// fieldNames are what an error expects in each field. The last one is for all further fields.
var fieldNames = [headFields + 1]string{
	"a time in ms", "a direction: 0 (read), 1 (write) or 2 (trim)", "a block size", "a count",
}

// fault is what is wrong with a line. The reader adds the line's place.
type fault struct {
	column    int // 1-based, in bytes
	got, want string
}

// parseSlow reads one line without its end in any form that can be understood: blanks and
// tabs around the numbers, a comma without a blank, counts up to 2^64-1. It agrees with
// parseFast on every row that parseFast accepts. It returns false for a bad line. The
// reader judges the number of columns. A row of more than hist.MaxColumns bins keeps
// only the first.
func parseSlow(line []byte, bins *binBuffer, r *row) (fault, bool) {
	*r = row{}
	fields := 0
	for pos := 0; pos <= len(line); fields++ {
		end := bytes.IndexByte(line[pos:], ',')
		if end < 0 {
			end = len(line)
		} else {
			end += pos
		}
		at := pos
		for at < end && isBlank(line[at]) {
			at++
		}
		text := bytes.TrimRight(line[at:end], " \t")
		v, ok := parseNumber(text)
		if !ok || fields == 0 && v > math.MaxInt64 || fields == 1 && v >= Directions {
			return fault{at + 1, quoted(text), fieldNames[min(fields, headFields)]}, false
		}
		r.put(fields, v, bins)
		pos = end + 1
	}
	r.columns = max(fields-headFields, 0)
	if fields < headFields {
		return fault{len(line) + 1, "the end of the line", fieldNames[fields]}, false
	}
	return fault{}, true
}

func (r *row) put(i int, v uint64, bins *binBuffer) {
	switch i {
	case 0:
		r.time = v
	case 1:
		r.direction = v
	case 2:
		r.blockSize = v
	default:
		if col := i - headFields; v != 0 && col < hist.MaxColumns {
			bins[r.used] = hist.Bin{Index: uint32(col), Count: v}
			r.used++
			r.count(v)
		}
	}
}

// parseNumber parses a whole number of decimal digits, without a sign, up to 2^64-1.
func parseNumber(text []byte) (uint64, bool) {
	v, err := strconv.ParseUint(string(text), 10, 64)
	return v, err == nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// binCount names a number of bins in an error.
func binCount(n int) string {
	if n == 1 {
		return "1 bin"
	}
	return fmt.Sprintf("%d bins", n)
}
