package fiotest

import "strconv"

// jsonText appends JSON in fio's layout: one value on each line, two spaces for each level, " : " between key and
// value, six decimals.
type jsonText struct {
	buf   []byte
	level int
	first bool // the next value is the first in its object or array
}

// next begins the line of the next value.
func (j *jsonText) next() {
	if !j.first {
		j.buf = append(j.buf, ',')
	}
	j.first = false
	j.line()
}

func (j *jsonText) line() {
	if len(j.buf) > 0 {
		j.buf = append(j.buf, '\n')
	}
	for range j.level {
		j.buf = append(j.buf, "  "...)
	}
}

func (j *jsonText) key(k string) {
	j.next()
	j.buf = append(j.buf, '"')
	j.buf = append(j.buf, k...)
	j.buf = append(j.buf, `" : `...)
}

func (j *jsonText) str(k, v string) {
	j.key(k)
	j.buf = strconv.AppendQuote(j.buf, v)
}

func (j *jsonText) num(k string, v uint64) {
	j.key(k)
	j.buf = strconv.AppendUint(j.buf, v, 10)
}

func (j *jsonText) float(k string, v float64) {
	j.key(k)
	j.buf = strconv.AppendFloat(j.buf, v, 'f', 6, 64)
}

// numKey writes a value whose key is a number, as in "bins".
func (j *jsonText) numKey(k, v uint64) {
	j.next()
	j.buf = append(j.buf, '"')
	j.buf = strconv.AppendUint(j.buf, k, 10)
	j.buf = append(j.buf, `" : `...)
	j.buf = strconv.AppendUint(j.buf, v, 10)
}

func (j *jsonText) object(k string, body func()) {
	j.key(k)
	j.braces('{', '}', body)
}

func (j *jsonText) array(k string, body func()) {
	j.key(k)
	j.braces('[', ']', body)
}

// item writes an object in an array.
func (j *jsonText) item(body func()) {
	j.next()
	j.braces('{', '}', body)
}

func (j *jsonText) braces(open, shut byte, body func()) {
	j.buf = append(j.buf, open)
	j.level++
	j.first = true
	body()
	j.level--
	j.line()
	j.buf = append(j.buf, shut)
	j.first = false
}
