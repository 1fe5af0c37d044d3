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
	Version     text     `json:"fio version"`
	Timestamp   number   `json:"timestamp"`
	TimestampMS number   `json:"timestamp_ms"`
	Global      texts    `json:"global options"`
	Jobs        jsonJobs `json:"jobs"`
	Clients     jsonJobs `json:"client_stats"`
}

type jsonJob struct {
	Name    text           `json:"jobname"`
	Host    text           `json:"hostname"`
	GroupID number         `json:"groupid"`
	Error   number         `json:"error"`
	Elapsed number         `json:"elapsed"`
	Start   number         `json:"job_start"`
	Runtime number         `json:"job_runtime"`
	UsrCPU  number         `json:"usr_cpu"`
	SysCPU  number         `json:"sys_cpu"`
	Options texts          `json:"job options"`
	Read    *jsonDirection `json:"read"`
	Write   *jsonDirection `json:"write"`
	Trim    *jsonDirection `json:"trim"`
	Mixed   *jsonDirection `json:"mixed"`
}

type jsonDirection struct {
	IOBytes  number       `json:"io_bytes"`
	IOKBytes *number      `json:"io_kbytes"`
	TotalIOs number       `json:"total_ios"`
	Runtime  number       `json:"runtime"`
	BWBytes  *number      `json:"bw_bytes"`
	BW       number       `json:"bw"`
	IOPS     number       `json:"iops"`
	SlatNS   *jsonLatency `json:"slat_ns"`
	ClatNS   *jsonLatency `json:"clat_ns"`
	LatNS    *jsonLatency `json:"lat_ns"`
	SlatUS   *jsonLatency `json:"slat"`
	ClatUS   *jsonLatency `json:"clat"`
	LatUS    *jsonLatency `json:"lat"`
}

type jsonLatency struct {
	Min        number `json:"min"`
	Max        number `json:"max"`
	Mean       number `json:"mean"`
	StdDev     number `json:"stddev"`
	N          number `json:"N"`
	Percentile pairs  `json:"percentile"`
	Bins       pairs  `json:"bins"`
}

func (r *jsonReport) report() (*Report, error) {
	out := &Report{Version: string(r.Version), GlobalOptions: r.Global.of, Timestamp: r.TimestampMS.whole()}
	if out.Timestamp == 0 && r.Timestamp.whole() <= math.MaxInt64/1000 {
		out.Timestamp = r.Timestamp.whole() * 1000
	}
	if r.Global.tooMany {
		return nil, errTooManyOptions
	}
	for _, jobs := range []*jsonJobs{&r.Jobs, &r.Clients} {
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

func (j *jsonJob) job() (Job, error) {
	if j.Options.tooMany {
		return Job{}, errTooManyOptions
	}
	out := Job{
		Name: string(j.Name), Host: string(j.Host), GroupID: int(j.GroupID.whole()), Error: int(j.Error.whole()),
		Elapsed: j.Elapsed.whole(), Start: j.Start.whole(), Runtime: j.Runtime.whole(),
		UsrCPU: j.UsrCPU.float, SysCPU: j.SysCPU.float, Options: j.Options.of,
	}
	for d, from := range [Directions]*jsonDirection{j.Read, j.Write, j.Trim} {
		if err := from.stats(&out.Directions[d]); err != nil {
			return out, fmt.Errorf("%s: %w", Direction(d), err)
		}
	}
	if j.Mixed != nil {
		out.Mixed = new(DirectionStats)
		if err := j.Mixed.stats(out.Mixed); err != nil {
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
		IOBytes: d.IOBytes.count, TotalIOs: d.TotalIOs.count, Runtime: d.Runtime.whole(), IOPS: d.IOPS.float,
	}
	if d.IOKBytes == nil { // before fio 2.21 it was KiB, in spite of its name
		out.IOBytes *= 1024
	}
	if d.BWBytes != nil {
		out.BandwidthBytes = d.BWBytes.count
	} else {
		out.BandwidthBytes = d.BW.count * 1024
	}
	for _, l := range []struct {
		name   string
		ns, us *jsonLatency
		out    *Latency
	}{
		{"slat", d.SlatNS, d.SlatUS, &out.Slat},
		{"clat", d.ClatNS, d.ClatUS, &out.Clat},
		{"lat", d.LatNS, d.LatUS, &out.Lat},
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
		Min: scaled(l.Min, scale), Max: scaled(l.Max, scale), N: l.N.count,
		Mean: l.Mean.float * float64(scale), StdDev: l.StdDev.float * float64(scale),
	}
	if len(l.Percentile) > maxPairs || len(l.Bins) > maxPairs {
		return fmt.Errorf("more than %d bins or percentiles", maxPairs)
	}
	for _, p := range l.Percentile {
		rank, err := strconv.ParseFloat(p.key, 64)
		if err != nil || rank == 0 { // fio 3.0 fills the list up with 0.00
			continue
		}
		out.Percentiles = append(out.Percentiles, Percentile{p.key, rank, scaled(p.value, scale)})
	}
	layout, bins, err := l.Bins.bins(unit, scale)
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
