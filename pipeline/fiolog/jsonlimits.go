package fiolog

import (
	"encoding/json"
	"errors"
	"fmt"
	"unsafe"

	"github.com/fio2es/fio2es/hist"
)

// A job of three bytes, {}, becomes one of a kilobyte, and a report of nothing else packs a
// thousand to one. So there are limits for what is made of a report, beside the one for its
// text.
const (
	// maxMade bounds the memory of a report's jobs, in bytes: 4,096 jobs, which is all that
	// one fio can have, with 16 KB each. json+ has some hundred bins of 16 bytes for each.
	maxMade = 64 << 20
	// maxOptions is how many options a job can have; fio knows some 300.
	maxOptions = 1000
	// maxPairs is how many bins a distribution can have, with fio 2's markers.
	maxPairs = hist.MaxColumns + 16
)

var errTooManyOptions = fmt.Errorf("more than %d options, and fio has no more than some hundred", maxOptions)

// errTooManyJobs is a report beyond maxMade.
var errTooManyJobs = errors.New("more jobs, options and bins than a fio can have, or more than fits into memory: " +
	"run fio with group_reporting, or with fewer jobs for each report")

func newJSONReport() *jsonReport {
	left := maxMade
	return &jsonReport{Jobs: jsonJobs{left: &left}, Clients: jsonJobs{left: &left}}
}

// jsonJobs are the jobs of a report. Each is made from its text before the next is looked at.
type jsonJobs struct {
	left  *int // bytes of memory for more
	found bool // there is an array
	jobs  []Job
	unit  hist.Unit
	err   error // why they are of no use
}

// UnmarshalJSON implements [json.Unmarshaler]. b is known to be JSON.
func (js *jsonJobs) UnmarshalJSON(b []byte) error {
	*js = jsonJobs{left: js.left}
	if len(b) == 0 || b[0] != '[' {
		return nil
	}
	js.found = true
	b = b[1:]
	js.jobs = make([]Job, 0, elements(b, *js.left/int(unsafe.Sizeof(Job{}))))
	for js.err == nil {
		var one []byte
		if one, b = cutElement(b); len(one) == 0 {
			break
		}
		js.err = js.add(one)
	}
	if js.err != nil {
		js.jobs = nil
	}
	return nil
}

// add makes a job of its text.
func (js *jsonJobs) add(text []byte) error {
	if *js.left < int(unsafe.Sizeof(Job{})) {
		return errTooManyJobs
	}
	var raw jsonJob
	_ = json.Unmarshal(text, &raw) // what has an unexpected type keeps its zero value
	j, err := raw.job()
	if err != nil {
		return fmt.Errorf("job %.40q: %w", string(raw.Name), err)
	}
	if *js.left -= j.memory(); *js.left < 0 {
		return errTooManyJobs
	}
	js.jobs = append(js.jobs, j)
	js.unit = max(js.unit, raw.unit())
	return nil
}

// Memory is roughly what the report takes, in bytes.
func (r *Report) Memory() int {
	n := 0
	for i := range r.Jobs {
		n += r.Jobs[i].memory()
	}
	return n
}

// memory is roughly what a job takes, in bytes.
func (j *Job) memory() int {
	const perOption = 64 // in a map, without the text
	n := int(unsafe.Sizeof(*j)) + len(j.Name) + len(j.Host)
	for k, v := range j.Options {
		n += perOption + len(k) + len(v)
	}
	for _, d := range []*DirectionStats{&j.Directions[0], &j.Directions[1], &j.Directions[2], j.Mixed} {
		if d == nil {
			continue
		}
		for _, l := range []*Latency{&d.Slat, &d.Clat, &d.Lat} {
			n += cap(l.Bins)*int(unsafe.Sizeof(hist.Bin{})) + cap(l.Percentiles)*int(unsafe.Sizeof(Percentile{})+16)
		}
	}
	if j.Mixed != nil {
		n += int(unsafe.Sizeof(*j.Mixed))
	}
	return n
}

// elements is how many elements are left of an array, counted as far as most.
func elements(b []byte, most int) int {
	for n := range most {
		var one []byte
		if one, b = cutElement(b); len(one) == 0 {
			return n
		}
	}
	return most
}

// cutElement cuts the first element off what is left of an array, which is known to be
// JSON. It is empty behind the last one.
func cutElement(b []byte) (element, rest []byte) {
	depth, start := 0, -1
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			if start < 0 {
				start = i
			}
			i += stringEnd(b[i:])
		case depth == 0 && (c == ',' || c == ']'):
			if start < 0 {
				return nil, nil
			}
			return b[start:i], b[i+1:]
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if start < 0 && b[i] > ' ' {
			start = i
		}
	}
	return nil, nil
}

// stringEnd is the offset of the quote that ends the string at the start of b.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b) - 1
}

// members is how many members an object has, counted as far as one beyond most.
func members(b []byte, most int) int {
	if len(b) == 0 || b[0] != '{' {
		return 0
	}
	n := 0
	for b = b[1:]; n <= most; n++ {
		var one []byte
		if one, b = cutMember(b); len(one) == 0 {
			break
		}
	}
	return n
}

// cutMember is [cutElement] of an object.
func cutMember(b []byte) (member, rest []byte) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			i += stringEnd(b[i:])
		case depth == 0 && (c == ',' || c == '}'):
			return b[:i], b[i+1:]
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil, nil
}
