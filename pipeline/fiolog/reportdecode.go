package fiolog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
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

// report takes the next value, a whole document.
func (d *decoder) report() (*Report, error) {
	r, seconds := &Report{}, int64(0)
	var jobs, clients []Job // nil if there is no array
	var shared []map[string]string
	d.left = maxMade
	d.object(func(key []byte) {
		switch string(key) {
		case "fio version":
			r.Version = d.text()
		case "timestamp":
			seconds = d.number().whole()
		case "timestamp_ms":
			r.Timestamp = d.number().whole()
		case "global options":
			r.GlobalOptions, shared = d.globalOptions()
		case "jobs":
			jobs = d.jobs(r)
		case "client_stats":
			clients = d.jobs(r)
		default:
			d.raw()
		}
	})
	switch {
	case d.err != nil:
		return nil, d.err
	case r.Version == "" && jobs == nil && clients == nil:
		return nil, errNoReport
	}
	d.share(clients, shared)
	if d.err != nil {
		return nil, d.err
	}
	r.Jobs = append(jobs, clients...)
	if r.Timestamp == 0 && seconds <= math.MaxInt64/1000 {
		r.Timestamp = seconds * 1000
	}
	if r.Unit == hist.UnknownUnit {
		r.Unit = versionUnit(r.Version)
	}
	r.moveTotals()
	r.regroup()
	return r, nil
}

// allClients is what fio --client calls the sum of all other jobs.
const allClients = "All clients"

// globalOptions takes the options of all jobs: an object or, of fio --client since 3.39, an
// array with the host, the port and the options of each client.
func (d *decoder) globalOptions() (all map[string]string, clients []map[string]string) {
	if d.peek() != '[' {
		return d.options(), nil
	}
	const empty = 320 // bytes of a map
	d.array(func() {
		of := d.options()
		if d.left -= empty + memoryOf(of); d.left < 0 {
			d.fail(errTooManyJobs)
		}
		if len(of) > 0 && d.err == nil {
			clients = append(clients, of)
		}
	})
	return nil, clients
}

// share gives the jobs of each client the options that are global there. Their own come first.
func (d *decoder) share(jobs []Job, clients []map[string]string) {
	const host, port = "hostname", "port"
	byClient := map[[2]string]map[string]string{}
	for _, of := range clients {
		byClient[[2]string{of[host], of[port]}] = of
		delete(of, host)
		delete(of, port)
	}
	for i := range jobs {
		j := &jobs[i]
		all, before := maps.Clone(byClient[[2]string{j.Host, j.Port}]), memoryOf(j.Options)
		if len(all) == 0 {
			continue
		}
		maps.Copy(all, j.Options)
		j.Options = all
		if d.left -= memoryOf(all) - before; d.left < 0 {
			d.fail(errTooManyJobs)
			return
		}
	}
}

// jobs takes the next value, the jobs of a report without their sum; nil if it is no array.
func (d *decoder) jobs(r *Report) []Job {
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
			return
		}
		if j.Name != allClients {
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
			j.GroupID = int(d.number().whole())
		case "error":
			j.Error = int(d.number().whole())
		case "elapsed":
			j.Elapsed = d.number().whole()
		case "job_start":
			j.Start = d.number().whole()
		case "job_runtime":
			j.Runtime = d.number().whole()
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
			if !d.isNull() {
				j.Mixed = new(DirectionStats)
				d.direction("mixed", j.Mixed)
			}
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
			if !d.isNull() {
				d.raw()
				inBytes = true
			}
		case "total_ios":
			s.TotalIOs, isCounted = d.number().count, true
		case "runtime":
			s.Runtime = d.number().whole()
		case "bw_bytes":
			if !d.isNull() {
				s.BandwidthBytes, perSecond = d.number().count, true
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
	if d.isNull() {
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
			l.Min = d.number().scaled(scale)
		case "max":
			l.Max = d.number().scaled(scale)
		case "mean":
			l.Mean = d.number().float * float64(scale)
		case "stddev":
			l.StdDev = d.number().float * float64(scale)
		case "N":
			l.N = d.number().count
		case "percentile":
			l.Percentiles = percentiles(d.pairs(), scale)
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

// percentiles are those that fio has computed. fio 3.0 fills the list up with 0.00.
func percentiles(pairs []pair, scale int64) (all []Percentile) {
	for _, p := range pairs {
		if rank, err := strconv.ParseFloat(string(p.key), 64); err == nil && rank != 0 {
			all = append(all, Percentile{rank, p.value.scaled(scale)})
		}
	}
	return all
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
