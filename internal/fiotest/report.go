package fiotest

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// fioVersion and fioVersion2 are the versions in reports: the last release line without "job_start", and the last
// fio 2.
const fioVersion, fioVersion2 = "fio-3.33", "fio-2.21"

func (a axis) version() string {
	if a.fio2 {
		return fioVersion2
	}
	return fioVersion
}

// field returns the name of a latency in a report.
func (a axis) field(name string) string {
	if a.fio2 {
		return name
	}
	return name + "_ns"
}

var directionNames = [directions]string{"read", "write", "trim"}

// appendReport appends fio's json+ report of one host, without other text.
func appendReport(dst []byte, r RunSpec, h int, jobs []Truth) []byte {
	j := &jsonText{buf: dst, first: true}
	ended, axis := r.reported(h), r.Log(h, 0).axis()
	j.braces('{', '}', func() {
		j.str("fio version", axis.version())
		j.num("timestamp", uint64(ended.Unix()))
		j.num("timestamp_ms", uint64(ended.UnixMilli()))
		j.str("time", ended.Format(time.ANSIC))
		j.object("global options", func() { r.globalOptions(j) })
		j.array("jobs", func() {
			for _, t := range jobs {
				j.item(func() { jobReport(j, r, h, t, axis) })
			}
		})
	})
	j.buf = append(j.buf, '\n')
	return j.buf
}

// reported returns when fio wrote the report: a few ms after the run's end.
func (r RunSpec) reported(h int) time.Time {
	return r.HostStart(h).Add(time.Duration(r.archive.Seconds)*time.Second + 4*time.Millisecond)
}

func (r RunSpec) globalOptions(j *jsonText) {
	j.str("ioengine", "rbd")
	j.str("rw", r.Mode)
	j.str("runtime", strconv.Itoa(r.archive.Seconds))
	j.str("numjobs", strconv.Itoa(r.archive.Jobs))
	j.str("direct", "1")
	j.str("bs", strconv.Itoa(r.OpSize)+"B")
	j.str("iodepth", strconv.Itoa(r.IODepth))
	j.str("write_hist_log", "output.0")
	j.str("log_hist_msec", "1000")
	j.str("log_hist_coarseness", strconv.Itoa(r.archive.Coarseness))
	j.str("rate_iops", strconv.Itoa(r.archive.IOPS))
}

func jobReport(j *jsonText, r RunSpec, h int, t Truth, axis axis) {
	j.str("jobname", r.jobName(h))
	j.num("groupid", 0)
	j.num("error", 0)
	j.num("eta", 0)
	j.num("elapsed", uint64(t.RuntimeMs/1000)+1)
	j.object("job options", func() { j.str("name", r.jobName(h)) })
	for d, name := range directionNames {
		j.object(name, func() { directionReport(j, t, d, r.OpSize, axis) })
	}
	if !axis.fio2 {
		j.object("sync", func() {
			j.num("total_ios", 0)
			j.object("lat_ns", func() { latencyReport(j, nil, 0, axis) })
		})
		j.num("job_runtime", uint64(t.RuntimeMs))
	}
	j.float("usr_cpu", 0.7)
	j.float("sys_cpu", 1.3)
	j.num("ctx", total(t.Whole(Read))+total(t.Whole(Write)))
	j.num("majf", 0)
	j.num("minf", 80)
	j.num("latency_depth", uint64(r.IODepth))
	j.num("latency_target", 0)
	j.float("latency_percentile", 100)
	j.num("latency_window", 0)
}

// submitNs is the submission latency of every request in nanoseconds: lat = slat + clat.
const submitNs = 4000

func directionReport(j *jsonText, t Truth, direction, opSize int, axis axis) {
	bins := t.Whole(direction)
	n := total(bins)
	ms := uint64(0)
	if n > 0 {
		ms = uint64(t.RuntimeMs)
	}
	size := n * uint64(opSize)
	j.num("io_bytes", size)
	j.num("io_kbytes", size/1024)
	j.num("bw_bytes", size*1000/max(1, ms))
	j.num("bw", size*1000/1024/max(1, ms))
	j.float("iops", float64(n)*1000/float64(max(1, ms)))
	j.num("runtime", ms)
	j.num("total_ios", n)
	j.num("short_ios", 0)
	j.num("drop_ios", 0)
	submit := submitNs / axis.unit()
	j.object(axis.field("slat"), func() {
		if n == 0 {
			latencyReport(j, nil, 0, axis)
			return
		}
		summary{submit, submit, float64(submit), 0, n}.write(j)
	})
	j.object(axis.field("clat"), func() {
		latencyReport(j, bins, 0, axis)
		if n > 0 {
			binReport(j, bins, n, axis)
		}
	})
	j.object(axis.field("lat"), func() { latencyReport(j, bins, submit, axis) })
}

// summary is what fio reports for each kind of latency.
type summary struct {
	low, high    uint64
	mean, stddev float64
	n            uint64
}

func (s summary) write(j *jsonText) {
	j.num("min", s.low)
	j.num("max", s.high)
	j.float("mean", s.mean)
	j.float("stddev", s.stddev)
	j.num("N", s.n)
}

// latencyReport writes a latency. Each request is at the middle of its bin plus add.
func latencyReport(j *jsonText, bins []uint64, add uint64, axis axis) {
	var s summary
	var sum, squares float64
	for i, n := range bins {
		if n == 0 {
			continue
		}
		v := middle(axis.edges, i) + add
		if s.n == 0 {
			s.low = v
		}
		s.high = v
		s.n += n
		sum += float64(v) * float64(n)
		squares += float64(v) * float64(v) * float64(n)
	}
	if s.n > 0 {
		s.mean = sum / float64(s.n)
		s.stddev = math.Sqrt(max(0, squares/float64(s.n)-s.mean*s.mean))
	}
	s.write(j)
}

// binReport writes the percentiles by fio's rule, and all used bins.
func binReport(j *jsonText, bins []uint64, n uint64, axis axis) {
	j.object("percentile", func() {
		for i, at := range fioPercentiles(bins, n) {
			j.num(strconv.FormatFloat(fioPercentileList[i], 'f', 6, 64), middle(axis.edges, at))
		}
	})
	j.object("bins", func() {
		for i, count := range bins {
			if count > 0 {
				j.numKey(middle(axis.edges, i), count)
			}
		}
	})
}

// textBefore returns what fio prints before the report with "json,normal".
func (r RunSpec) textBefore(h int) string {
	return fmt.Sprintf("%s: (g=0): rw=%s, bs=(R) %dB-%dB, (W) %dB-%dB, (T) %dB-%dB, ioengine=rbd, iodepth=%d\n...\n%s\nStarting %d processes\n",
		r.jobName(h), r.Mode, r.OpSize, r.OpSize, r.OpSize, r.OpSize, r.OpSize, r.OpSize, r.IODepth, r.Log(h, 0).axis().version(), r.archive.Jobs)
}

// textAfter returns the shortened text for people after the report.
func (r RunSpec) textAfter(h int, jobs []Truth) string {
	var b strings.Builder
	for i, t := range jobs {
		fmt.Fprintf(&b, "\n%s: (groupid=0, jobs=1): err= 0: pid=%d: %s\n", r.jobName(h), 1000+i, r.reported(h).Format(time.ANSIC))
		for d, name := range directionNames {
			if n := total(t.Whole(d)); n > 0 {
				fmt.Fprintf(&b, "  %s: IOPS=%d, BW=%dKiB/s\n", name, n*1000/uint64(t.RuntimeMs), n*uint64(r.OpSize)*1000/1024/uint64(t.RuntimeMs))
			}
		}
	}
	fmt.Fprintf(&b, "\nRun status group 0 (all jobs):\n   %s: run=%d-%dmsec\n", r.Mode, r.archive.Seconds*1000, r.archive.Seconds*1000)
	return b.String()
}

// fioPercentileList are fio's default percentiles.
var fioPercentileList = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// longDouble is the precision in bits of the type in which fio compares.
const longDouble = 64

// fioPercentiles returns the bin of each of fio's default percentiles: the first whose cumulative count reaches
// f/100*n. Here f is the double nearest to the percentile, and the rest is computed in fio's precision. So 99.95 is
// slightly more than 99.95, and a bin that ends exactly at the rank is not enough.
func fioPercentiles(bins []uint64, n uint64) []int {
	out := make([]int, len(fioPercentileList))
	count := new(big.Float).SetPrec(longDouble).SetUint64(n)
	at, cum := 0, bins[0]
	for i, f := range fioPercentileList {
		rank := new(big.Float).SetPrec(longDouble).SetFloat64(f)
		rank.Quo(rank, new(big.Float).SetPrec(longDouble).SetInt64(100))
		rank.Mul(rank, count)
		need, _ := rank.Uint64()
		if !rank.IsInt() {
			need++ // counts are whole, so reaching the rank means reaching the next whole number
		}
		for at < len(bins)-1 && cum < need {
			at++
			cum += bins[at]
		}
		out[i] = at
	}
	return out
}

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
