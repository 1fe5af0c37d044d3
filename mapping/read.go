package mapping

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// UnmarshalJSON decodes a histogram. It is nine tenths of a document, and encoding/json takes several times as long for
// lists of numbers. So the form that AppendJSON writes is decoded here, and encoding/json decodes any other form.
func (b *Bins) UnmarshalJSON(text []byte) error {
	values, rest, ok := readNumbers(text, `{"values":[`, parseFloat)
	if ok {
		var counts []int64
		if counts, rest, ok = readNumbers(rest, `,"counts":[`, parseCount); ok && string(rest) == "}" {
			b.Values, b.Counts = values, counts
			return nil
		}
	}
	type plain Bins // without this method
	return json.Unmarshal(text, (*plain)(b))
}

// readNumbers reads a list of numbers after begin. ok is false if the text has another form.
func readNumbers[N any](text []byte, begin string, parse func(text []byte) (N, bool)) (list []N, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(begin))
	inside, rest, isList := bytes.Cut(text, []byte("]"))
	if !ok || !isList {
		return nil, nil, false
	}
	list = make([]N, 0, bytes.Count(inside, []byte(","))+1)
	for more := len(inside) > 0; more; {
		var number []byte
		number, inside, more = bytes.Cut(inside, []byte(","))
		n, ok := parse(number)
		if !ok {
			return nil, nil, false
		}
		list = append(list, n)
	}
	return list, rest, true
}

// encoding/json has checked that the text is JSON, so all that ParseFloat takes beyond JSON is out of the question.
func parseFloat(text []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil
}

func parseCount(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}
