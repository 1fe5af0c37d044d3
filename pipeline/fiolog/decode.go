package fiolog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/secret"
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
	// errTooManyJobs is a report beyond maxMade.
	errTooManyJobs = errors.New("more jobs, options and bins than a fio can have, or more than fits into memory: " +
		"run fio with group_reporting, or with fewer jobs for each report")
	errNoReport = errors.New("no report of fio")
)

// lenient accepts what fio, tools that rewrite its output, and encoding/json write.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// decoder makes a report of a text that is known to be JSON.
type decoder struct {
	doc  []byte
	json *jsontext.Decoder // of doc
	left int               // bytes of memory that further jobs may use
	unit hist.Unit         // of the report's latencies
	read []pair            // reused
}

func newReport(doc []byte) (*Report, error) {
	const host, port = "hostname", "port"
	d := &decoder{doc: doc, json: jsontext.NewDecoder(bytes.NewBuffer(doc), lenient...), left: maxMade}
	r, seconds := &Report{}, int64(0)
	var jobs, clients []Job // nil if there is no array
	byClient := map[[2]string]map[string]string{}
	err := d.object(func(key []byte) (err error) {
		switch string(key) {
		case "fio version":
			r.Version = d.text()
		case "timestamp":
			seconds = d.number().whole(1)
		case "timestamp_ms":
			r.Timestamp = d.number().whole(1)
		case "global options": // an object or, of fio --client since 3.39, an array with the options of each client
			if d.json.PeekKind() != '[' {
				r.GlobalOptions, err = d.options()
				return err
			}
			return d.array(func() error {
				const empty = 320 // bytes of a map
				of, err := d.options()
				if err != nil {
					return err
				}
				err = d.take(empty + memoryOf(of))
				if len(of) > 0 {
					byClient[[2]string{of[host], of[port]}] = of
					delete(of, host)
					delete(of, port)
				}
				return err
			})
		case "jobs":
			jobs, err = d.jobs()
		case "client_stats":
			clients, err = d.jobs()
		default:
			d.value()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.Version == "" && jobs == nil && clients == nil {
		return nil, errNoReport
	}
	for i := range clients { // their own options come first
		j := &clients[i]
		all, before := maps.Clone(byClient[[2]string{j.Host, j.Port}]), memoryOf(j.Options)
		if len(all) == 0 {
			continue
		}
		maps.Copy(all, j.Options)
		j.Options = all
		if err := d.take(memoryOf(all) - before); err != nil {
			return nil, err
		}
	}
	r.Jobs, r.Memory, r.Unit = append(jobs, clients...), maxMade-d.left, d.unit
	if r.Timestamp == 0 && seconds <= math.MaxInt64/1000 {
		r.Timestamp = seconds * 1000
	}
	if r.Unit == hist.UnknownUnit { // no latencies
		r.Unit = unitOf(r.Version)
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

// take counts memory that was made of the document.
func (d *decoder) take(bytes int) error {
	if d.left -= bytes; d.left < 0 {
		return errTooManyJobs
	}
	return nil
}

// memoryOf is roughly how many bytes options take.
func memoryOf(options map[string]string) int {
	const perOption = 64 // in a map, without the text
	n := 0
	for k, v := range options {
		n += perOption + len(k) + len(v)
	}
	return n
}

// jobs reads the next value, the jobs of a report without their sum; nil if it is no array.
func (d *decoder) jobs() ([]Job, error) {
	const (
		noGroup = math.MaxUint32 // of an entry of no job, which fio adds if only some sections of a group have group_reporting
	)
	if d.json.PeekKind() != '[' {
		d.value()
		return nil, nil
	}
	jobs := []Job{}
	err := d.array(func() error {
		if d.left < int(unsafe.Sizeof(Job{})) {
			return errTooManyJobs
		}
		j, err := d.job()
		if err != nil {
			return fmt.Errorf("job %.40q: %w", j.Name, err)
		}
		if j.Name != allClients && j.GroupID != noGroup {
			jobs = append(jobs, j)
		}
		made := int(unsafe.Sizeof(j)) + len(j.Name) + len(j.Host) + len(j.Port) + memoryOf(j.Options)
		for _, l := range j.latencies() {
			made += cap(l.Bins)*int(unsafe.Sizeof(hist.Bin{})) + cap(l.Percentiles)*int(unsafe.Sizeof(Percentile{}))
		}
		if j.Mixed != nil {
			made += int(unsafe.Sizeof(*j.Mixed))
		}
		return d.take(made)
	})
	return jobs, err
}

// job reads the next value, a job.
func (d *decoder) job() (j Job, err error) {
	const unknown = math.MaxInt32 // s
	left := int64(unknown)
	err = d.object(func(key []byte) (err error) {
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
		case "eta":
			left = d.number().whole(1)
		case "job_start":
			j.Start = d.number().whole(1)
		case "job_runtime":
			j.Runtime = d.number().whole(1)
		case "usr_cpu":
			j.UsrCPU = d.number().float
		case "sys_cpu":
			j.SysCPU = d.number().float
		case "ctx":
			j.Switches = d.number().whole(1)
		case "job options":
			j.Options, err = d.options()
		case "read":
			err = d.direction("read", &j.Directions[Read])
		case "write":
			err = d.direction("write", &j.Directions[Write])
		case "trim":
			err = d.direction("trim", &j.Directions[Trim])
		case "sync":
			err = d.syncs(&j.Sync)
		case "mixed":
			if d.json.PeekKind() == 'n' { // null
				d.value()
				return nil
			}
			j.Mixed = new(DirectionStats)
			err = d.direction("mixed", j.Mixed)
		default:
			d.value()
		}
		return err
	})
	if j.Runtime == 0 {
		for _, s := range j.Directions {
			j.Runtime = max(j.Runtime, s.Runtime)
		}
	}
	if 0 <= left && left < unknown && j.Runtime < math.MaxInt64/2 {
		j.Planned = j.Runtime + left*1000
	}
	if slices.ContainsFunc(j.Directions[:], func(s DirectionStats) bool { return s.TotalIOs > 0 }) {
		j.Mixed = nil // unified_rw_reporting=both
	}
	return j, err
}

// syncs reads the next value, the requests that sync of a job. fio has one latency of each. fio 3.33 counts those of
// fdatasync and sync_file_range as 0 in total_ios, so the latencies say how many there were.
func (d *decoder) syncs(s *DirectionStats) error {
	*s = DirectionStats{}
	err := d.object(func(key []byte) error {
		switch string(key) {
		case "total_ios":
			s.TotalIOs = d.number().count
		case "lat", "lat_ns":
			return d.latency(key, &s.Clat)
		default:
			d.value()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	counted := uint64(0)
	for _, b := range s.Clat.Bins {
		counted += b.Count
	}
	s.TotalIOs = cmp.Or(counted, s.Clat.N, s.TotalIOs)
	return nil
}

// direction reads the next value, what a job did in one direction.
func (d *decoder) direction(name string, s *DirectionStats) error {
	inBytes, perSecond, isCounted := false, false, false
	*s = DirectionStats{}
	err := d.object(func(key []byte) error {
		switch string(key) {
		case "io_bytes":
			s.IOBytes = d.number().count
		case "io_kbytes":
			inBytes = d.value()[0] != 'n'
		case "total_ios":
			s.TotalIOs, isCounted = d.number().count, true
		case "runtime":
			s.Runtime = d.number().whole(1)
		case "bw_bytes":
			isNull := d.json.PeekKind() == 'n'
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
			return d.latency(key, &s.Slat)
		case "clat", "clat_ns":
			return d.latency(key, &s.Clat)
		case "lat", "lat_ns":
			return d.latency(key, &s.Lat)
		default:
			d.value()
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.Uncounted = !isCounted && s.IOBytes > 0
	if !inBytes { // before fio 2.21 it was KiB, in spite of its name
		s.IOBytes *= 1024
	}
	if !perSecond { // of bw, in KiB/s
		s.BandwidthBytes *= 1024
	}
	return nil
}

// latency reads the next value, a distribution. Its key says the unit: fio 3 writes clat_ns, fio 2 clat.
func (d *decoder) latency(key []byte, l *Latency) error {
	if d.json.PeekKind() == 'n' { // null
		d.value()
		return nil
	}
	name, isNano := bytes.CutSuffix(key, []byte("_ns"))
	unit, scale := hist.Microseconds, int64(1000)
	if isNano {
		unit, scale = hist.Nanoseconds, 1
	}
	if d.unit != hist.Nanoseconds {
		d.unit = unit
	}
	if !isNano {
		l.Step, l.PercentileStep = scale, scale
	}
	l.Layout, l.Bins, _ = binsOf(nil, unit, scale)
	err := d.object(func(key []byte) (err error) {
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
			var pairs []pair
			pairs, err = d.pairs()
			l.Percentiles = nil
			for _, p := range pairs {
				rank, err := strconv.ParseFloat(string(p.key), 64)
				if err == nil && rank != 0 && p.value.isNumber { // fio 3.0 fills the list up with 0.00
					l.Percentiles = append(l.Percentiles, Percentile{rank, p.value.whole(scale)})
				}
			}
		case "bins":
			var pairs []pair
			if pairs, err = d.pairs(); err == nil {
				l.Layout, l.Bins, err = binsOf(pairs, unit, scale)
			}
		default:
			d.value()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
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
	out := make([]hist.Bin, 0, len(pairs))
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

// value reads the next value and returns its text, a part of the document.
func (d *decoder) value() []byte {
	v, _ := d.json.ReadValue() // it is JSON
	end := int(d.json.InputOffset())
	return d.doc[end-len(v) : end]
}

// object calls member with the key of each member, until it returns an error. member must read the value. If the next
// value is not an object, it is skipped.
func (d *decoder) object(member func(key []byte) error) error {
	if d.json.PeekKind() != '{' {
		d.value()
		return nil
	}
	_, _ = d.json.ReadToken()
	for d.json.PeekKind() != '}' {
		if err := member(unquote(d.value())); err != nil {
			return err
		}
	}
	_, _ = d.json.ReadToken()
	return nil
}

// array calls element for each element of the next value, an array, until it returns an error. element must read it.
func (d *decoder) array(element func() error) error {
	_, _ = d.json.ReadToken()
	for d.json.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	_, _ = d.json.ReadToken()
	return nil
}

// The following methods accept any JSON value, because versions of fio differ in what they quote, and so do tools that
// rewrite its output. None of them fails on a wrong type, because then the rest of the document would be lost.

// number is a JSON number, or a string of one. Anything else is 0.
type number struct {
	float    float64
	count    uint64 // the exact value, if isCount
	isCount  bool   // a whole number that is not negative
	isNumber bool
}

// number reads the next value.
func (d *decoder) number() number {
	b := bytes.TrimSpace(bytes.Trim(d.value(), `"`))
	if u, ok := parseNumber(b); ok {
		return number{float: float64(u), count: u, isCount: true, isNumber: true}
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}
	}
	n := number{float: f, isNumber: true}
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
	switch b := d.value(); b[0] {
	case '"':
		return string(unquote(b))
	case 'n':
		return ""
	default:
		return string(b)
	}
}

// options reads the next value, an object of strings, without secrets. For anything else it returns no options.
func (d *decoder) options() (map[string]string, error) {
	if d.json.PeekKind() != '{' {
		d.value()
		return nil, nil
	}
	n, of := 0, map[string]string{}
	err := d.object(func(key []byte) error {
		if n++; n > maxOptions {
			return fmt.Errorf("more than %d options, and fio has no more than some hundred", maxOptions)
		}
		of[string(key)] = secret.Value(string(key), d.text())
		return nil
	})
	return of, err
}

// pair is a member of an object of numbers.
type pair struct {
	key   []byte // part of the document
	value number
}

// pairs reads the next value, an object of numbers, and keeps the order. For anything else it returns no pairs. They are valid until
// the next call.
func (d *decoder) pairs() ([]pair, error) {
	out := d.read[:0]
	err := d.object(func(key []byte) error {
		if len(out) == maxPairs {
			return fmt.Errorf("more than %d bins or percentiles", maxPairs)
		}
		out = append(out, pair{key, d.number()})
		return nil
	})
	d.read = out
	return out, err
}

// unquote returns the text of a JSON string. It is a part of the document if nothing in it is escaped.
func unquote(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return b[1 : len(b)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, b) // bytes that are not UTF-8 become U+FFFD
	return text
}
