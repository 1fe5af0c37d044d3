package fiolog

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fio2es/fio2es/hist"
)

// Report is one JSON document of fio. What a version of fio does not write is zero.
type Report struct {
	Version       string // "fio-3.33"
	Timestamp     int64  // ms since 1970, when the report was written: the END of the run, or of what it tells of
	GlobalOptions map[string]string
	Jobs          []Job
	Unit          hist.Unit // of its latencies as fio counted them: ns since fio 3
	Line          int       // where it begins, 1-based
	Bytes         int       // of its text
}

// Job is one job of a report, or one group of jobs with group_reporting=1.
type Job struct {
	Name       string
	Host       string // with fio --client only; the job "All clients" is the sum of the others
	GroupID    int
	Error      int     // errno
	Elapsed    int64   // s, with setup and ramp time
	Start      int64   // ms since 1970; since fio 3.36
	Runtime    int64   // ms; before fio 3.8 that of the longest direction
	UsrCPU     float64 // percent
	SysCPU     float64
	Options    map[string]string
	Directions [Directions]DirectionStats
	Mixed      *DirectionStats // all directions in one (unified_rw_reporting); nil if there is none
}

// DirectionStats is what a job did in one direction, from its start on.
type DirectionStats struct {
	IOBytes        uint64 // before fio 2.21 in steps of 1 KiB
	TotalIOs       uint64 // requests
	Runtime        int64  // ms
	BandwidthBytes uint64 // bytes/s; before fio 3.2 in steps of 1 KiB/s
	IOPS           float64

	Slat, Clat, Lat Latency
}

// Latency is a distribution. All latencies are nanoseconds, also in reports of fio 2,
// which has them in microseconds. A report does not say with how many groups of bins fio
// was built: Layout has the usual number or, where any bin of the report is beyond it, as
// many as that takes. [Latency.Histogram] corrects it where something else is known.
type Latency struct {
	Min, Max     int64
	Mean, StdDev float64
	N            uint64 // requests measured; since fio 3.18
	Percentiles  []Percentile
	Layout       hist.Layout // of Bins: the finest of this version of fio; the same in all of a report
	Bins         []hist.Bin  // those that are not zero, ascending; with --output-format=json+ only
}

// Percentile is one of those that fio has computed.
type Percentile struct {
	Label string  // as written: "99.950000"
	Rank  float64 // the same as a number, 0 … 100
	Value int64   // ns
}

type jsonReport struct {
	version                string
	timestamp, timestampMS number
	global                 texts
	jobs, clients          jsonJobs
}

// report takes the next value into r.
func (d *decoder) report(r *jsonReport) {
	d.object(func(key []byte) {
		switch string(key) {
		case "fio version":
			r.version = d.text()
		case "timestamp":
			r.timestamp = d.number()
		case "timestamp_ms":
			r.timestampMS = d.number()
		case "global options":
			r.global = d.texts()
		case "jobs":
			r.jobs.read(d)
		case "client_stats":
			r.clients.read(d)
		default:
			d.raw()
		}
	})
}

type jsonJob struct {
	job                      Job // without its options and directions
	options                  texts
	read, write, trim, mixed *jsonDirection
}

// job takes the next value into j.
func (d *decoder) job(j *jsonJob) {
	d.object(func(key []byte) {
		switch string(key) {
		case "jobname":
			j.job.Name = d.text()
		case "hostname":
			j.job.Host = d.text()
		case "groupid":
			j.job.GroupID = int(d.number().whole())
		case "error":
			j.job.Error = int(d.number().whole())
		case "elapsed":
			j.job.Elapsed = d.number().whole()
		case "job_start":
			j.job.Start = d.number().whole()
		case "job_runtime":
			j.job.Runtime = d.number().whole()
		case "usr_cpu":
			j.job.UsrCPU = d.number().float
		case "sys_cpu":
			j.job.SysCPU = d.number().float
		case "job options":
			j.options = d.texts()
		case "read":
			j.read = d.direction(j.read)
		case "write":
			j.write = d.direction(j.write)
		case "trim":
			j.trim = d.direction(j.trim)
		case "mixed":
			j.mixed = d.direction(j.mixed)
		default:
			d.raw()
		}
	})
}

type jsonDirection struct {
	ioBytes, totalIOs, runtime, bw, iops number
	ioKBytes, bwBytes                    *number
	slatNS, clatNS, latNS                *jsonLatency
	slatUS, clatUS, latUS                *jsonLatency
}

// direction takes the next value into to, or into a new one; nil if it is null.
func (d *decoder) direction(to *jsonDirection) *jsonDirection {
	if d.isNull() {
		return nil
	}
	if to == nil {
		to = &jsonDirection{}
	}
	d.object(func(key []byte) {
		switch string(key) {
		case "io_bytes":
			to.ioBytes = d.number()
		case "io_kbytes":
			to.ioKBytes = d.optional()
		case "total_ios":
			to.totalIOs = d.number()
		case "runtime":
			to.runtime = d.number()
		case "bw_bytes":
			to.bwBytes = d.optional()
		case "bw":
			to.bw = d.number()
		case "iops":
			to.iops = d.number()
		case "slat_ns":
			to.slatNS = d.latency(to.slatNS)
		case "clat_ns":
			to.clatNS = d.latency(to.clatNS)
		case "lat_ns":
			to.latNS = d.latency(to.latNS)
		case "slat":
			to.slatUS = d.latency(to.slatUS)
		case "clat":
			to.clatUS = d.latency(to.clatUS)
		case "lat":
			to.latUS = d.latency(to.latUS)
		default:
			d.raw()
		}
	})
	return to
}

type jsonLatency struct {
	min, max, mean, stdDev, n number
	percentile, bins          pairs
}

// latency takes the next value into to, or into a new one; nil if it is null.
func (d *decoder) latency(to *jsonLatency) *jsonLatency {
	if d.isNull() {
		return nil
	}
	if to == nil {
		to = &jsonLatency{}
	}
	d.object(func(key []byte) {
		switch string(key) {
		case "min":
			to.min = d.number()
		case "max":
			to.max = d.number()
		case "mean":
			to.mean = d.number()
		case "stddev":
			to.stdDev = d.number()
		case "N":
			to.n = d.number()
		case "percentile":
			to.percentile = d.pairs()
		case "bins":
			to.bins = d.pairs()
		default:
			d.raw()
		}
	})
	return to
}

func (r *jsonReport) report() (*Report, error) {
	out := &Report{Version: string(r.version), GlobalOptions: r.global.of, Timestamp: r.timestampMS.whole()}
	if out.Timestamp == 0 && r.timestamp.whole() <= math.MaxInt64/1000 {
		out.Timestamp = r.timestamp.whole() * 1000
	}
	if r.global.tooMany {
		return nil, errTooManyOptions
	}
	for _, jobs := range []*jsonJobs{&r.jobs, &r.clients} {
		if jobs.err != nil {
			return nil, jobs.err
		}
		if len(out.Jobs) == 0 {
			out.Jobs = jobs.jobs
		} else {
			out.Jobs = append(out.Jobs, jobs.jobs...)
		}
		out.Unit = max(out.Unit, jobs.unit)
	}
	if out.Unit == hist.UnknownUnit {
		out.Unit = versionUnit(out.Version)
	}
	out.regroup()
	return out, nil
}

func (j *jsonJob) finish() (Job, error) {
	if j.options.tooMany {
		return Job{}, errTooManyOptions
	}
	out := j.job
	out.Options = j.options.of
	for d, from := range [Directions]*jsonDirection{j.read, j.write, j.trim} {
		if err := from.stats(&out.Directions[d]); err != nil {
			return out, fmt.Errorf("%s: %w", Direction(d), err)
		}
	}
	if j.mixed != nil {
		out.Mixed = new(DirectionStats)
		if err := j.mixed.stats(out.Mixed); err != nil {
			return out, fmt.Errorf("mixed: %w", err)
		}
	}
	if out.Runtime == 0 {
		for _, d := range out.Directions {
			out.Runtime = max(out.Runtime, d.Runtime)
		}
	}
	return out, nil
}

// stats fills out; a direction that is not there leaves it zero.
func (d *jsonDirection) stats(out *DirectionStats) error {
	if d == nil {
		return nil
	}
	*out = DirectionStats{
		IOBytes: d.ioBytes.count, TotalIOs: d.totalIOs.count, Runtime: d.runtime.whole(), IOPS: d.iops.float,
	}
	if d.ioKBytes == nil { // before fio 2.21 it was KiB, in spite of its name
		out.IOBytes *= 1024
	}
	if d.bwBytes != nil {
		out.BandwidthBytes = d.bwBytes.count
	} else {
		out.BandwidthBytes = d.bw.count * 1024
	}
	for _, l := range []struct {
		name   string
		ns, us *jsonLatency
		out    *Latency
	}{
		{"slat", d.slatNS, d.slatUS, &out.Slat},
		{"clat", d.clatNS, d.clatUS, &out.Clat},
		{"lat", d.latNS, d.latUS, &out.Lat},
	} {
		from, unit, scale := l.ns, hist.Nanoseconds, int64(1)
		if from == nil && l.us != nil {
			from, unit, scale = l.us, hist.Microseconds, 1000
		}
		if err := from.latency(l.out, unit, scale); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// latency fills out; scale is how many nanoseconds the document's numbers count.
func (l *jsonLatency) latency(out *Latency, unit hist.Unit, scale int64) error {
	if l == nil {
		return nil
	}
	*out = Latency{
		Min: scaled(l.min, scale), Max: scaled(l.max, scale), N: l.n.count,
		Mean: l.mean.float * float64(scale), StdDev: l.stdDev.float * float64(scale),
	}
	if len(l.percentile) > maxPairs || len(l.bins) > maxPairs {
		return fmt.Errorf("more than %d bins or percentiles", maxPairs)
	}
	for _, p := range l.percentile {
		rank, err := strconv.ParseFloat(string(p.key), 64)
		if err != nil || rank == 0 { // fio 3.0 fills the list up with 0.00
			continue
		}
		out.Percentiles = append(out.Percentiles, Percentile{string(p.key), rank, scaled(p.value, scale)})
	}
	layout, bins, err := l.bins.bins(unit, scale)
	out.Layout, out.Bins = layout, bins
	return err
}

// scaled is a latency in nanoseconds.
func scaled(n number, unit int64) int64 {
	v := n.whole()
	if v > math.MaxInt64/unit {
		return math.MaxInt64
	}
	return v * unit
}
