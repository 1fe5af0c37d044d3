package pipeline

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// averages are what logs with log_avg_msec say: the mean latency, rate and bandwidth of
// each job over time. Means of many requests have no percentiles.
type averages struct {
	run    *reader
	series map[averageKey]*average
	levels []mapping.Level
}

// averageKey is one window of one job.
type averageKey struct {
	window    int64
	direction fiolog.Direction
	host, job string
}

// average is the mean of a window: sums of value times milliseconds.
type average struct {
	iops, bandwidth   float64
	latency, measured float64 // of the latency, and the milliseconds that it covers
}

// readAverages reads logs for what they say over time.
func (r *reader) readAverages(ctx context.Context, logs []cbt.Log) (*averages, error) {
	a := &averages{run: r, series: map[averageKey]*average{}, levels: r.opt.levels()}
	for _, log := range logs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := a.read(log); err != nil {
			r.problems.lose(err)
		}
	}
	return a, nil
}

// read adds one log. A row's value is the mean from the row before to its time; one with
// a block size is a single request.
func (a *averages) read(log cbt.Log) error {
	in, err := log.File.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	j := a.run.jobOf(log)
	rows := fiolog.NewRawReader(in, log.File.Name(), fiolog.BufferSize(0))
	var last [fiolog.Directions]int64
	for {
		rec, err := rows.Next()
		var bad *fiolog.SyntaxError
		switch {
		case errors.As(err, &bad):
			a.run.problems.lose(err)
			continue
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
		at := rec.Time - j.origin
		if at < 0 || at > maxRun || rec.NewJob {
			j.leaveOut(rec.Line, errors.New("time is none of this job"))
			continue
		}
		from := last[rec.Direction]
		if last[rec.Direction] = at; from == 0 && at > 2*a.run.window {
			from = at - a.run.window // the direction began later
		}
		j.last = max(j.last, at)
		if rec.BlockSize > 0 {
			a.request(j, rec.Direction, at+j.offset, rec.BlockSize)
			continue
		}
		at += j.offset + a.run.shift
		a.spread(log.Kind, j, rec.Direction, from+j.offset+a.run.shift, at, float64(rec.Value))
	}
}

// request adds the bytes of one request where it completed.
func (a *averages) request(j *job, d fiolog.Direction, at int64, bytes uint64) {
	w := max(at+a.run.shift-1, 0) / a.run.window
	a.at(averageKey{w, d, j.log.Host, j.name()}).bandwidth += float64(bytes) * 1000
}

func (a *averages) at(key averageKey) *average {
	s := a.series[key]
	if s == nil {
		s = &average{}
		a.series[key] = s
	}
	return s
}

// spread adds a mean from one time to another to the windows that it overlaps.
func (a *averages) spread(kind fiolog.Kind, j *job, d fiolog.Direction, from, to int64, value float64) {
	length := a.run.window
	for w := max(from, 0) / length; w*length < to; w++ {
		ms := float64(min(to, (w+1)*length) - max(from, w*length))
		s := a.at(averageKey{w, d, j.log.Host, j.name()})
		switch kind {
		case fiolog.IOPS:
			s.iops += value * ms
		case fiolog.BW:
			s.bandwidth += value * 1024 * ms
		case fiolog.Clat:
			s.latency += value * ms
			s.measured += ms
		}
	}
}

// levelKey is one window of what a document is of.
type levelKey struct {
	averageKey
	level mapping.Level
}

// sums adds the jobs up to the levels of documents. Latencies are weighted by the rate.
func (a *averages) sums() map[levelKey]*average {
	sums := map[levelKey]*average{}
	for k, s := range a.series {
		weight := s.iops
		if weight == 0 {
			weight = s.measured
		}
		for _, level := range a.levels {
			at := levelKey{k, level}
			if level < mapping.Job {
				at.job = ""
			}
			if level < mapping.Host {
				at.host = ""
			}
			sum := sums[at]
			if sum == nil {
				sum = &average{}
				sums[at] = sum
			}
			sum.iops += s.iops
			sum.bandwidth += s.bandwidth
			if s.measured > 0 {
				sum.latency += s.latency / s.measured * weight
				sum.measured += weight
			}
		}
	}
	return sums
}

// documents gives a document for each window, level and direction, in order of time.
func (a *averages) documents(ref mapping.RunRef, version string, put func(*mapping.Interval) error) error {
	sums := a.sums()
	order := func(x, y levelKey) int {
		return cmp.Or(cmp.Compare(x.window, y.window), cmp.Compare(x.level, y.level), cmp.Compare(x.host, y.host),
			cmp.Compare(x.job, y.job), cmp.Compare(x.direction, y.direction))
	}
	for _, k := range slices.SortedFunc(maps.Keys(sums), order) {
		if err := put(a.document(k.averageKey, k.level, sums[k], ref, version)); err != nil {
			return err
		}
	}
	return nil
}

func (a *averages) document(k averageKey, level mapping.Level, s *average, ref mapping.RunRef, version string) *mapping.Interval {
	length := a.run.window
	d := &mapping.Interval{
		Time: a.run.at(k.window * length), Level: level,
		Window: mapping.Window{End: a.run.at((k.window + 1) * length), MS: length, ElapsedMS: k.window * length},
		Run:    ref, CBT: a.run.settings(), Host: mapping.HostRef{Name: k.host}, Hosts: a.run.hostsOf(k.host),
		Fio:       mapping.FioRef{Direction: k.direction.String(), Job: k.job, Version: version},
		IOPS:      rounded(s.iops/float64(length), 1e3),
		Bandwidth: rounded(s.bandwidth/float64(length), 1),
		Weighting: "average",
	}
	if s.measured > 0 {
		d.Latency.Mean = rounded(s.latency/s.measured/1000, 1e3)
	}
	return d
}

// jobOf is the job that wrote a log, made if no report has it.
func (r *reader) jobOf(log cbt.Log) *job {
	for _, j := range r.jobs {
		if j.log.Host == log.Host && j.log.Volume == log.Volume && j.number() == max(log.Job, 1) {
			return j
		}
	}
	j := &job{run: r, segment: -1, log: log}
	r.jobs = append(r.jobs, j)
	return j
}
