package fiolog

import (
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
	return &jsonReport{jobs: jsonJobs{left: &left}, clients: jsonJobs{left: &left}}
}

// jsonJobs are the jobs of a report. Each is made from its text before the next is looked at.
type jsonJobs struct {
	left  *int // bytes of memory for more
	found bool // there is an array
	jobs  []Job
	unit  hist.Unit
	err   error // why they are of no use
}

// read takes the next value.
func (js *jsonJobs) read(d *decoder) {
	*js = jsonJobs{left: js.left}
	js.found = d.array(func() {
		if js.err == nil {
			js.err = js.add(d)
		} else {
			d.raw()
		}
	})
	if js.err != nil {
		js.jobs = nil
	}
}

// add takes a job.
func (js *jsonJobs) add(d *decoder) error {
	if *js.left < int(unsafe.Sizeof(Job{})) {
		d.raw()
		return errTooManyJobs
	}
	var raw jsonJob
	d.job(&raw)
	j, err := raw.finish()
	if err != nil {
		return fmt.Errorf("job %.40q: %w", raw.job.Name, err)
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
