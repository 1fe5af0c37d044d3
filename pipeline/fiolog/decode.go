package fiolog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/fio2es/fio2es/hist"
)

// A job of three bytes, {}, becomes one of a kilobyte, and a report of nothing else packs a
// thousand to one. So there are limits for what is made of a report beside the limit for its
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

var (
	errTooManyOptions = fmt.Errorf("more than %d options, and fio has no more than some hundred", maxOptions)
	errTooManyPairs   = fmt.Errorf("more than %d bins or percentiles", maxPairs)
	// errTooManyJobs is a report beyond maxMade.
	errTooManyJobs = errors.New("more jobs, options and bins than a fio can have, or more than fits into memory: " +
		"run fio with group_reporting, or with fewer jobs for each report")
	errNoReport = errors.New("no report of fio")
)

// decoder reads a text that is known to be JSON in one pass. encoding/json makes one more pass over each value whose
// type has its own decoder, and most of a json+ report are such values. Keys and raw values refer to the text.
type decoder struct {
	doc  []byte
	at   int       // index of the next byte
	left int       // bytes of memory that further jobs may use
	unit hist.Unit // of the job's latencies
	err  error     // why the report cannot be used
}

// report takes the next value, a whole document.
func (d *decoder) report() (*Report, error) {
	const host, port = "hostname", "port"
	r, seconds := &Report{}, int64(0)
	var jobs, clients []Job // nil if there is no array
	byClient := map[[2]string]map[string]string{}
	d.left = maxMade
	d.object(func(key []byte) {
		switch string(key) {
		case "fio version":
			r.Version = d.text()
		case "timestamp":
			seconds = d.number().whole(1)
		case "timestamp_ms":
			r.Timestamp = d.number().whole(1)
		case "global options": // an object or, of fio --client since 3.39, an array with the options of each client
			if d.peek() != '[' {
				r.GlobalOptions = d.options()
				return
			}
			const empty = 320 // bytes of a map
			d.array(func() {
				of := d.options()
				if d.left -= empty + memoryOf(of); d.left < 0 {
					d.fail(errTooManyJobs)
				} else if len(of) > 0 && d.err == nil {
					byClient[[2]string{of[host], of[port]}] = of
					delete(of, host)
					delete(of, port)
				}
			})
		case "jobs":
			jobs = d.jobs(r)
		case "client_stats":
			clients = d.jobs(r)
		default:
			d.raw()
		}
	})
	for i := range clients { // their own options come first
		j := &clients[i]
		all, before := maps.Clone(byClient[[2]string{j.Host, j.Port}]), memoryOf(j.Options)
		if len(all) == 0 || d.err != nil {
			continue
		}
		maps.Copy(all, j.Options)
		j.Options = all
		if d.left -= memoryOf(all) - before; d.left < 0 {
			d.fail(errTooManyJobs)
		}
	}
	switch {
	case d.err != nil:
		return nil, d.err
	case r.Version == "" && jobs == nil && clients == nil:
		return nil, errNoReport
	}
	r.Jobs, r.Memory = append(jobs, clients...), maxMade-d.left
	if r.Timestamp == 0 && seconds <= math.MaxInt64/1000 {
		r.Timestamp = seconds * 1000
	}
	if r.Unit == hist.UnknownUnit { // no latencies
		_, number, _ := strings.Cut(r.Version, "-")
		major, _, _ := strings.Cut(number, ".")
		switch n, err := strconv.Atoi(major); {
		case err != nil || n < 1:
		case n < 3:
			r.Unit = hist.Microseconds
		default:
			r.Unit = hist.Nanoseconds
		}
	}
	r.moveTotals()
	// One fio wrote all bins, so all have the layout of the most groups.
	groups := r.Groups()
	for i := range r.Jobs {
		for _, l := range r.Jobs[i].latencies() {
			if len(l.Bins) > 0 && l.Layout.Groups() < groups {
				l.Layout, _ = hist.NewLayout(l.Layout.Unit(), groups, 0) // another layout of the report has as many
			}
		}
	}
	return r, nil
}

// jobs takes the next value, the jobs of a report without their sum; nil if it is no array.
func (d *decoder) jobs(r *Report) []Job {
	const allClients = "All clients" // the sum of all other jobs of fio --client
	jobs := []Job{}
	isArray := d.array(func() {
		if d.left < int(unsafe.Sizeof(Job{})) {
			d.fail(errTooManyJobs)
		}
		if d.err != nil {
			d.raw()
			return
		}
		j := d.job()
		if d.left -= j.memory(); d.left < 0 {
			d.fail(errTooManyJobs)
		} else if j.Name != allClients {
			jobs = append(jobs, j)
		}
		r.Unit = max(r.Unit, d.unit)
	})
	if !isArray {
		return nil
	}
	return jobs
}

// job takes the next value, a job. d.unit is then what its latencies count.
func (d *decoder) job() (j Job) {
	d.unit = hist.UnknownUnit
	before := d.err
	d.object(func(key []byte) {
		switch string(key) {
		case "jobname":
			j.Name = d.text()
		case "hostname":
			j.Host = d.text()
		case "port":
			j.Port = d.text()
		case "groupid":
			j.GroupID = int(d.number().whole(1))
		case "error":
			j.Error = int(d.number().whole(1))
		case "elapsed":
			j.Elapsed = d.number().whole(1)
		case "job_start":
			j.Start = d.number().whole(1)
		case "job_runtime":
			j.Runtime = d.number().whole(1)
		case "usr_cpu":
			j.UsrCPU = d.number().float
		case "sys_cpu":
			j.SysCPU = d.number().float
		case "job options":
			j.Options = d.options()
		case "read":
			d.direction("read", &j.Directions[Read])
		case "write":
			d.direction("write", &j.Directions[Write])
		case "trim":
			d.direction("trim", &j.Directions[Trim])
		case "mixed":
			if d.peek() == 'n' { // null
				d.raw()
				return
			}
			j.Mixed = new(DirectionStats)
			d.direction("mixed", j.Mixed)
		default:
			d.raw()
		}
	})
	if j.Runtime == 0 {
		for _, s := range j.Directions {
			j.Runtime = max(j.Runtime, s.Runtime)
		}
	}
	d.within(before, "job %.40q", j.Name)
	return j
}

// direction takes the next value, what a job did in one direction.
func (d *decoder) direction(name string, s *DirectionStats) {
	before, inBytes, perSecond, isCounted := d.err, false, false, false
	*s = DirectionStats{}
	d.object(func(key []byte) {
		switch string(key) {
		case "io_bytes":
			s.IOBytes = d.number().count
		case "io_kbytes":
			inBytes = d.raw()[0] != 'n'
		case "total_ios":
			s.TotalIOs, isCounted = d.number().count, true
		case "runtime":
			s.Runtime = d.number().whole(1)
		case "bw_bytes":
			isNull := d.peek() == 'n'
			if n := d.number(); !isNull {
				s.BandwidthBytes, perSecond = n.count, true
			}
		case "bw":
			if n := d.number(); !perSecond {
				s.BandwidthBytes = n.count
			}
		case "iops":
			s.IOPS = d.number().float
		case "slat", "slat_ns":
			d.latency(key, &s.Slat)
		case "clat", "clat_ns":
			d.latency(key, &s.Clat)
		case "lat", "lat_ns":
			d.latency(key, &s.Lat)
		default:
			d.raw()
		}
	})
	s.Uncounted = !isCounted && s.IOBytes > 0
	if !inBytes { // before fio 2.21 it was KiB, in spite of its name
		s.IOBytes *= 1024
	}
	if !perSecond { // of bw, in KiB/s
		s.BandwidthBytes *= 1024
	}
	d.within(before, "%s", name)
}

// latency takes the next value, a distribution. Its key says the unit: fio 3 writes clat_ns, fio 2 clat.
func (d *decoder) latency(key []byte, l *Latency) {
	if d.peek() == 'n' { // null
		d.raw()
		return
	}
	name, isNano := bytes.CutSuffix(key, []byte("_ns"))
	before, unit, scale := d.err, hist.Microseconds, int64(1000)
	if isNano {
		unit, scale = hist.Nanoseconds, 1
	}
	if d.unit != hist.Nanoseconds {
		d.unit = unit
	}
	var bins []pair
	d.object(func(key []byte) {
		switch string(key) {
		case "min":
			l.Min = d.number().whole(scale)
		case "max":
			l.Max = d.number().whole(scale)
		case "mean":
			l.Mean = d.number().float * float64(scale)
		case "stddev":
			l.StdDev = d.number().float * float64(scale)
		case "N":
			l.N = d.number().count
		case "percentile":
			l.Percentiles = nil
			for _, p := range d.pairs() {
				rank, err := strconv.ParseFloat(string(p.key), 64)
				if err == nil && rank != 0 { // fio 3.0 fills the list up with 0.00
					l.Percentiles = append(l.Percentiles, Percentile{rank, p.value.whole(scale)})
				}
			}
		case "bins":
			bins = d.pairs()
		default:
			d.raw()
		}
	})
	var err error
	if l.Layout, l.Bins, err = binsOf(bins, unit, scale); err != nil {
		d.fail(err)
	}
	d.within(before, "%s", name)
}

// binsOf returns the bins of a json+ report and their layout, which has as many groups as they take, at least the usual
// number. scale is the number of nanoseconds in the unit. A key that is no bin's, or a count that is no whole number, is
// an error, because a histogram that lacks requests is worse than none.
func binsOf(pairs []pair, unit hist.Unit, scale int64) (hist.Layout, []hist.Bin, error) {
	layout := hist.Fio3(0)
	if unit == hist.Microseconds {
		layout = hist.Fio2(0)
	}
	if len(pairs) == 0 {
		return layout, nil, nil
	}
	const groupBins = 64
	groups := layout.Groups()
	// A key is fio's own value for the bin. Up to version 2.19 it is the index, and among the bins are markers, one of
	// them for the number of bins with which fio was built.
	marker := slices.IndexFunc(pairs, func(p pair) bool { return string(p.key) == "FIO_IO_U_PLAT_NR" })
	if marker >= 0 {
		if n := pairs[marker].value.whole(1) / groupBins; n >= hist.MinGroups && n <= hist.MaxGroups {
			groups = int(n)
		}
	}
	widest, err := hist.NewLayout(unit, hist.MaxGroups, 0)
	if err != nil {
		return layout, nil, err
	}
	var out []hist.Bin
	for _, p := range pairs {
		key, err := strconv.ParseInt(string(p.key), 10, 64)
		bin := -1
		switch {
		case err != nil && marker >= 0:
			continue
		case err != nil || key < 0 || key > math.MaxInt64/scale:
		case marker >= 0 && key < hist.MaxColumns:
			bin = int(key)
		case marker < 0 && widest.Representative(widest.Index(key*scale)) == key*scale:
			bin = widest.Index(key * scale)
		}
		switch {
		case bin < 0:
			return layout, nil, fmt.Errorf("bin %q is none of %s", p.key, layout)
		case !p.value.isCount:
			return layout, nil, fmt.Errorf("the count of bin %q is no whole number", p.key)
		case p.value.count > 0:
			out = append(out, hist.Bin{Index: uint32(bin), Count: p.value.count})
		}
	}
	slices.SortFunc(out, func(a, b hist.Bin) int { return cmp.Compare(a.Index, b.Index) })
	for i := 1; i < len(out); i++ {
		if out[i].Index == out[i-1].Index {
			return layout, nil, fmt.Errorf("bin %d comes twice", out[i].Index)
		}
	}
	if len(out) > 0 {
		groups = max(groups, int(out[len(out)-1].Index)/groupBins+1)
	}
	layout, err = hist.NewLayout(unit, groups, 0)
	return layout, out, err
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// within adds the place to an error that was not there before.
func (d *decoder) within(before error, format string, args ...any) {
	if before == nil && d.err != nil {
		d.err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), d.err)
	}
}

// peek returns the first byte of the next token, or 0 at the end.
func (d *decoder) peek() byte {
	for ; d.at < len(d.doc); d.at++ {
		if c := d.doc[d.at]; c > ' ' {
			return c
		}
	}
	return 0
}

// raw reads the next value and returns its text.
func (d *decoder) raw() []byte {
	first := d.peek()
	from, i := d.at, d.at
	if first != '"' && first != '{' && first != '[' {
		for i < len(d.doc) && !endsLiteral[d.doc[i]] {
			i++
		}
		d.at = i
		return d.doc[from:i]
	}
	for depth := 0; i == from || depth > 0; i++ {
		switch d.doc[i] {
		case '"':
			for i++; d.doc[i] != '"'; i++ {
				if d.doc[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	d.at = i
	return d.doc[from:i]
}

// endsLiteral has the bytes that may follow a number, true, false or null.
var endsLiteral = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, '}': true, ']': true}

// object calls member with the key of each member. member must read the value. If the next value is not an object, it
// is skipped.
func (d *decoder) object(member func(key []byte)) {
	if d.peek() != '{' {
		d.raw()
		return
	}
	for d.at++; d.peek() == '"'; {
		key := d.raw()
		d.peek() // the colon
		d.at++
		member(key[1 : len(key)-1])
		if d.peek() == ',' {
			d.at++
		}
	}
	d.at++
}

// array calls element for each element. element must read it. If the next value is not an array, it is skipped and
// array returns false.
func (d *decoder) array(element func()) bool {
	if d.peek() != '[' {
		d.raw()
		return false
	}
	for d.at++; d.peek() != ']' && d.at < len(d.doc); {
		element()
		if d.peek() == ',' {
			d.at++
		}
	}
	d.at++
	return true
}

// The following methods accept any JSON value, because versions of fio differ in what they quote, and so do tools that
// rewrite its output. None of them fails on a wrong type, because then the rest of the document would be lost.

// number is a JSON number, or a string of one. Anything else is 0.
type number struct {
	float   float64
	count   uint64 // the exact value, if isCount
	isCount bool   // a whole number that is not negative
}

// number reads the next value.
func (d *decoder) number() number {
	b := bytes.TrimSpace(bytes.Trim(d.raw(), `"`))
	if u, ok := parseNumber(b); ok {
		return number{float: float64(u), count: u, isCount: true}
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}
	}
	n := number{float: f}
	if f >= 0 && f < 1<<63 {
		n.count, n.isCount = uint64(f), f == math.Trunc(f)
	}
	return n
}

// whole returns the number times unit, rounded towards 0, within 64 bits.
func (n number) whole(unit int64) int64 {
	switch {
	case n.count > math.MaxInt64/uint64(unit):
		return math.MaxInt64
	case n.count > 0:
		return int64(n.count) * unit
	case n.float >= math.MinInt64 && n.float < 0:
		return int64(n.float) * unit
	}
	return 0
}

// text reads the next value. It returns a string without quotes, "" for null, or the text of any other value.
func (d *decoder) text() string {
	switch b := d.raw(); {
	case b[0] == '"':
		return unquote(b[1 : len(b)-1])
	case b[0] != 'n':
		return string(b)
	}
	return ""
}

// options reads the next value, an object of strings. For anything else it returns no options.
func (d *decoder) options() map[string]string {
	if d.peek() != '{' {
		d.raw()
		return nil
	}
	n, of := 0, map[string]string{}
	d.object(func(key []byte) {
		if n++; n > maxOptions {
			d.fail(errTooManyOptions)
			d.raw()
			return
		}
		of[unquote(key)] = d.text()
	})
	return of
}

// pair is a member of an object of numbers.
type pair struct {
	key   []byte // part of the document
	value number
}

// pairs reads the next value, an object of numbers, and keeps the order. For anything else it returns no pairs.
func (d *decoder) pairs() []pair {
	const usual = 64 // bins that a job uses
	var out []pair
	nested := false
	d.object(func(key []byte) {
		c := d.peek()
		nested = nested || c == '{' || c == '['
		switch {
		case nested:
			d.raw()
			return
		case len(out) == maxPairs:
			d.fail(errTooManyPairs)
			d.raw()
			return
		case out == nil:
			out = make([]pair, 0, usual)
		}
		out = append(out, pair{key, d.number()})
	})
	if nested {
		return nil
	}
	return out
}

// unquote returns the text of a JSON string without its quotes.
func unquote(b []byte) string {
	for _, c := range b {
		if c == '\\' || c >= 0x80 {
			var s string
			_ = json.Unmarshal(bytes.Join([][]byte{{'"'}, b, {'"'}}, nil), &s) // it is JSON
			return s
		}
	}
	return string(b)
}
