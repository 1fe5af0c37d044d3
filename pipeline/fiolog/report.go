package fiolog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/hist"
)

// Report is one JSON document of fio. What a version of fio does not write is zero.
type Report struct {
	Version       string // "fio-3.33"
	Timestamp     int64  // ms since 1970, when the report was written: the END of the run, or of what it tells of
	GlobalOptions map[string]string
	Jobs          []Job
	Line          int // where it begins, 1-based
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
// which has them in microseconds.
type Latency struct {
	Min, Max     int64
	Mean, StdDev float64
	N            uint64 // requests measured; since fio 3.18
	Percentiles  []Percentile
	Layout       hist.Layout // of Bins: the finest of this version of fio
	Bins         []hist.Bin  // those that are not zero, ascending; with --output-format=json+ only
}

// Percentile is one of those that fio has computed.
type Percentile struct {
	Label string  // as written: "99.950000"
	Rank  float64 // the same as a number, 0 … 100
	Value int64   // ns
}

type jsonReport struct {
	Version     text      `json:"fio version"`
	Timestamp   number    `json:"timestamp"`
	TimestampMS number    `json:"timestamp_ms"`
	Global      texts     `json:"global options"`
	Jobs        []jsonJob `json:"jobs"`
	Clients     []jsonJob `json:"client_stats"`
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
	out := &Report{Version: string(r.Version), GlobalOptions: r.Global, Timestamp: r.TimestampMS.whole()}
	if out.Timestamp == 0 && r.Timestamp.whole() <= math.MaxInt64/1000 {
		out.Timestamp = r.Timestamp.whole() * 1000
	}
	for _, jobs := range [][]jsonJob{r.Jobs, r.Clients} {
		for i := range jobs {
			j, err := jobs[i].job()
			if err != nil {
				return nil, fmt.Errorf("job %q: %w", j.Name, err)
			}
			out.Jobs = append(out.Jobs, j)
		}
	}
	return out, nil
}

func (j *jsonJob) job() (Job, error) {
	out := Job{
		Name: string(j.Name), Host: string(j.Host), GroupID: int(j.GroupID.whole()), Error: int(j.Error.whole()),
		Elapsed: j.Elapsed.whole(), Start: j.Start.whole(), Runtime: j.Runtime.whole(),
		UsrCPU: j.UsrCPU.float, SysCPU: j.SysCPU.float, Options: j.Options,
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
		from, unit, layout := l.ns, int64(1), hist.Fio3(0)
		if from == nil && l.us != nil {
			from, unit, layout = l.us, 1000, hist.Fio2(0)
		}
		if err := from.latency(l.out, unit, layout); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// latency fills out; unit is how many nanoseconds the document's numbers count.
func (l *jsonLatency) latency(out *Latency, unit int64, layout hist.Layout) error {
	if l == nil {
		return nil
	}
	*out = Latency{
		Min: scaled(l.Min, unit), Max: scaled(l.Max, unit), N: l.N.count, Layout: layout,
		Mean: l.Mean.float * float64(unit), StdDev: l.StdDev.float * float64(unit),
	}
	for _, p := range l.Percentile {
		rank, err := strconv.ParseFloat(p.key, 64)
		if err != nil || rank == 0 { // fio 3.0 fills the list up with 0.00
			continue
		}
		out.Percentiles = append(out.Percentiles, Percentile{p.key, rank, scaled(p.value, unit)})
	}
	bins, err := l.Bins.bins(layout, unit)
	out.Bins = bins
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

// indexMarker is a key that fio 2 has among the bins up to version 2.19, when the
// others were indexes of bins; all later ones write fio's own value for the bin.
const indexMarker = "FIO_IO_U_PLAT_NR"

// bins are those of a json+ report. A key that is no bin's, or a count that is no whole
// number, is an error: a histogram that lacks requests is worse than none.
func (ps pairs) bins(layout hist.Layout, unit int64) ([]hist.Bin, error) {
	isIndex := slices.ContainsFunc(ps, func(p pair) bool { return p.key == indexMarker })
	var out []hist.Bin
	for _, p := range ps {
		key, err := strconv.ParseInt(p.key, 10, 64)
		if err != nil && isIndex {
			continue // a marker
		}
		bin := int(key)
		if !isIndex && err == nil {
			bin = layout.Index(min(key, math.MaxInt64/unit) * unit)
		}
		switch {
		case err != nil || bin < 0 || bin >= layout.Len() || !isIndex && layout.Representative(bin) != key*unit:
			return nil, fmt.Errorf("bin %q is none of %s", p.key, layout)
		case !p.value.isCount:
			return nil, fmt.Errorf("the count of bin %q is no whole number", p.key)
		case p.value.count > 0:
			out = append(out, hist.Bin{Index: uint32(bin), Count: p.value.count})
		}
	}
	slices.SortFunc(out, func(a, b hist.Bin) int { return cmp.Compare(a.Index, b.Index) })
	for i := 1; i < len(out); i++ {
		if out[i].Index == out[i-1].Index {
			return nil, fmt.Errorf("bin %d comes twice", out[i].Index)
		}
	}
	return out, nil
}
