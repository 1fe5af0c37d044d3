package mapping

import (
	"bytes"
	"encoding/json"
)

// UnmarshalJSON decodes {"values":[…],"counts":[…]}. Histograms are nine tenths of a document, so
// the form that AppendJSON writes is decoded here, which makes decoding a document twice as
// fast. encoding/json decodes any other form.
func (b *Bins) UnmarshalJSON(text []byte) error {
	if read, ok := readBins(text); ok {
		*b = read
		return nil
	}
	type plain Bins // without this method
	return json.Unmarshal(text, (*plain)(b))
}

func readBins(text []byte) (Bins, bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"values":[`))
	if !ok {
		return Bins{}, false
	}
	n := bytes.Count(rest, []byte{','})/2 + 1
	b := Bins{Values: make([]float64, 0, n), Counts: make([]int64, 0, n)}
	for {
		whole, scale, size := readDecimal(rest)
		if size == 0 || !isPlain(rest[:size], rest[size:]) {
			return Bins{}, false
		}
		b.Values = append(b.Values, float64(whole)/scale)
		end := rest[size]
		rest = rest[size+1:]
		if end == ']' {
			break
		}
		if end != ',' {
			return Bins{}, false
		}
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"counts":[`)); !ok {
		return Bins{}, false
	}
	for {
		whole, scale, size := readDecimal(rest)
		if size == 0 || scale != 1 || !isPlain(rest[:size], rest[size:]) {
			return Bins{}, false
		}
		b.Counts = append(b.Counts, whole)
		end := rest[size]
		rest = rest[size+1:]
		if end == ']' {
			return b, string(rest) == "}"
		}
		if end != ',' {
			return Bins{}, false
		}
	}
}

// readDecimal reads a number such as 1003.5195 as 10035195 and the scale 10000. Both are exact as float64, so their
// quotient is the float64 nearest to the number. It reads longer numbers, signs and exponents only in part or not at
// all (size 0).
func readDecimal(text []byte) (whole int64, scale float64, size int) {
	const maxDigits = 15
	scale = 1
	point := false
	for size < len(text) && size <= maxDigits {
		switch c := text[size]; {
		case c >= '0' && c <= '9':
			whole = whole*10 + int64(c-'0')
			if point {
				scale *= 10
			}
		case c == '.' && !point:
			point = true
		default:
			return whole, scale, size
		}
		size++
	}
	return 0, 1, 0
}
