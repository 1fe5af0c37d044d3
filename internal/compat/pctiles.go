package compat

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// pctiles is fio-histo-log-pctiles.py.
type pctiles struct {
	version, groups, bits, quantum int // quantum: s
	interval                       int64
	percentiles                    []float64
	unit                           string
	flags                          *pflag.FlagSet
	layout                         hist.Layout // of all logs
}

func addPctilesFlags(f *pflag.FlagSet) *pctiles {
	t := &pctiles{flags: f}
	f.IntVar(&t.version, "fio-version", 3, "`version` of fio, 2 or 3")
	f.IntVar(&t.groups, "bucket-groups", 29, "`number` of groups of bins")
	f.IntVar(&t.bits, "bucket-bits", 6, "`bits` of the bins in a group: 6 less log_hist_coarseness")
	f.Float64SliceVar(&t.percentiles, "percentiles", []float64{0, 50, 95, 99, 100}, "ascending `numbers`, one after another; -- ends them")
	f.IntVar(&t.quantum, "time-quantum", 1, "length of a row of output in `seconds`")
	f.Int64Var(&t.interval, "log-hist-msec", 0, "log_hist_msec of the job, in `ms`")
	f.StringVar(&t.unit, "output-unit", "usec", "`unit` of latencies: msec, usec or nsec")
	return t
}

// joinPercentiles joins the numbers that follow --percentiles to one value. The tool takes all words up to the next
// option or --.
func joinPercentiles(args []string) (joined []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(joined, args[i:]...)
		}
		joined = append(joined, args[i])
		if args[i] != "--percentiles" {
			continue
		}
		from := i + 1
		for i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
		}
		joined = append(joined, strings.Join(args[from:i+1], ","))
	}
	return joined
}

// check completes the options.
func (t *pctiles) check() error {
	switch {
	case t.version != 2 && t.version != 3:
		return errors.New("--fio-version is 2 or 3")
	case t.bits < 0 || t.bits > 6:
		return errors.New("--bucket-bits is 0 to 6")
	case t.quantum < 1:
		return errors.New("--time-quantum is 1 or more")
	case t.unit != "msec" && t.unit != "usec" && t.unit != "nsec":
		return errors.New("--output-unit is msec, usec or nsec")
	case !slices.IsSorted(t.percentiles) || !(t.percentiles[0] >= 0 && t.percentiles[len(t.percentiles)-1] <= 100):
		return errors.New("--percentiles are ascending numbers from 0 to 100")
	}
	if t.version == 2 {
		t.groups = 19
	}
	return nil
}

// header prints the options.
func (t *pctiles) header(w *bufio.Writer) {
	var percentiles []string
	for _, p := range t.percentiles {
		percentiles = append(percentiles, python(p))
	}
	fmt.Fprintf(w, "fio version = %d\nbucket groups = %d\nbucket bits = %d\ntime quantum = %d sec\n", t.version, t.groups, t.bits, t.quantum)
	fmt.Fprintf(w, "percentiles = %s\nbuckets per group = %d\nbuckets per interval = %d \n", strings.Join(percentiles, ","), 1<<t.bits, t.groups<<t.bits)
	if t.flags.Changed("log-hist-msec") {
		fmt.Fprintf(w, "log_hist_msec = %d\n", t.interval)
	}
	fmt.Fprintf(w, "output unit = %s\n", t.unit)
}

func (t *pctiles) print(w *bufio.Writer, l *logs) error {
	t.header(w)
	if t.flags.Changed("bucket-groups") {
		l.bins = hist.Hint{Groups: t.groups, Unit: hist.Nanoseconds, Coarseness: 6 - t.bits, Evidence: hist.Stated}
		if t.version == 2 {
			l.bins.Unit = hist.Microseconds
		}
	}
	start, end := int64(0), int64(math.MaxInt64) // ms, from which and until which there are rows of all logs
	for _, f := range l.files {
		from, to, err := t.span(l, f)
		if err != nil {
			return err
		}
		start, end = max(start, from), min(end, to)
	}
	if start >= end {
		return fmt.Errorf("no time that all logs cover: the last one begins at %d ms, the first one ends at %d ms", start, end)
	}
	if start > 0 {
		fmt.Fprintf(w, "all threads running as of unix epoch time %d = %s\n", start/1000, time.UnixMilli(start).Format(time.ANSIC))
	}
	quantum := int64(t.quantum)
	count := (end/1000 - start/1000 + quantum) / quantum
	if count > mostEmpty {
		return fmt.Errorf("the logs are %d intervals of --time-quantum long: a time in them is damaged, or they have times of different kinds", count)
	}
	sums := make([][]hist.Weight, count)
	for _, f := range l.files {
		if err := t.add(l, f, sums, start, (start/1000+count*quantum)*1000); err != nil {
			return err
		}
	}
	var names []string
	for _, p := range t.percentiles {
		switch p {
		case 0:
			names = append(names, "min")
		case 50:
			names = append(names, "median")
		case 100:
			names = append(names, "max")
		default:
			names = append(names, fmt.Sprintf("%3.1f", p))
		}
	}
	fmt.Fprintf(w, "time (millisec), percentiles in increasing order with values in %s\nmsec-since-start, samples, %s, \n", t.unit, strings.Join(names, ", "))
	for i, sum := range sums {
		total := 0.0
		for _, b := range sum {
			total += b.Count
		}
		fmt.Fprintf(w, "%8d, %8d, ", int64(i)*quantum*1000, int64(total))
		if total == 0 {
			fmt.Fprintln(w, strings.Repeat(", ", len(t.percentiles)))
			continue
		}
		fmt.Fprintln(w, strings.Join(t.values(sum), ", "))
	}
	return nil
}

// span returns when a log begins and when its last row ends, in milliseconds. A log with times since its start begins at 0.
func (t *pctiles) span(l *logs, f *source.File) (start, end int64, err error) {
	var times []int64 // of the first two rows
	last := [fiolog.Directions]int64{-1, -1, -1}
	for row, err := range l.rows(f) {
		if err != nil {
			return 0, 0, err
		}
		if row.NewJob {
			return 0, 0, fmt.Errorf("%s:%d:1: the rows of a second job (per_job_logs=0): the tool reads logs of one job", f.Name(), row.Line)
		}
		if n := row.Layout.Len(); n != t.groups<<t.bits {
			groups, bits := row.Layout.Groups(), 6-row.Layout.Coarseness()
			version := 3
			if row.Layout.Unit() == hist.Microseconds {
				version = 2
			}
			return 0, 0, fmt.Errorf("%w: %s has %d bins in a row, and the options say %d: give --fio-version %d --bucket-groups %d --bucket-bits %d",
				ErrUsage, f.Name(), n, t.groups<<t.bits, version, groups, bits)
		}
		t.layout = row.Layout
		if len(times) < 2 && last[row.Direction] != row.Time {
			times = append(times, row.Time)
		}
		last[row.Direction], end = row.Time, row.Time
	}
	const epoch = 1_000_000 // the tool takes later times for those of the day
	switch {
	case len(times) == 0:
		return 0, 0, fmt.Errorf("no records in %s", f.Name())
	case times[0] < epoch:
	case t.flags.Changed("log-hist-msec"):
		start = times[0] - t.interval
	case len(times) > 1:
		start = times[0] - (times[1] - times[0])
	default:
		return 0, 0, fmt.Errorf("%s has one row, so its start is unknown: give --log-hist-msec", f.Name())
	}
	return start, end, nil
}

// add divides the requests of a log among the intervals. As in the tool, a row is at the time after its time, up to the next row of
// its direction, or to the end.
func (t *pctiles) add(l *logs, f *source.File, sums [][]hist.Weight, start, end int64) error {
	var rows []*fiolog.Record
	last := [fiolog.Directions]*fiolog.Record{}
	for row, err := range l.rows(f) {
		if err != nil {
			return err
		}
		if before := last[row.Direction]; before != nil && before.Time == row.Time { // of another block size
			h := hist.New(row.Layout)
			h.AddBins(row.Layout, before.Bins)
			h.AddBins(row.Layout, row.Bins)
			before.Bins = h.Bins()
			continue
		}
		last[row.Direction] = row.Clone()
		rows = append(rows, last[row.Direction])
	}
	own, part := make([][]hist.Weight, len(sums)), []hist.Weight(nil) // the order of adding decides the last digits
	quantum := int64(t.quantum) * 1000
	for i, row := range rows {
		until := end
		if at := slices.IndexFunc(rows[i+1:], func(r *fiolog.Record) bool { return r.Direction == row.Direction }); at >= 0 {
			until = rows[i+1+at].Time
		}
		for at := max(row.Time-start, 0) / quantum; at < int64(len(sums)) && start+at*quantum < until; at++ {
			weight := 1.0
			if length := until - row.Time; length != 0 {
				from, to := max(start+at*quantum, row.Time), min(start+(at+1)*quantum, until)
				weight = float64(to-from) / float64(length)
			}
			part = part[:0]
			for _, b := range row.Bins {
				part = append(part, hist.Weight{Index: int(b.Index), Count: weight * float64(b.Count)})
			}
			own[at] = plus(own[at], part)
		}
	}
	for i := range own {
		sums[i] = plus(sums[i], own[i])
	}
	return l.ctx.Err()
}

// plus adds the weights of bins, which ascend.
func plus(a, b []hist.Weight) []hist.Weight {
	sum := make([]hist.Weight, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch first, second := a[0], b[0]; {
		case first.Index < second.Index:
			sum, a = append(sum, first), a[1:]
		case first.Index > second.Index:
			sum, b = append(sum, second), b[1:]
		default:
			sum, a, b = append(sum, hist.Weight{Index: first.Index, Count: first.Count + second.Count}), a[1:], b[1:]
		}
	}
	return append(append(sum, a...), b...)
}

// values returns the percentiles of an interval as texts.
func (t *pctiles) values(bins []hist.Weight) (texts []string) {
	for _, v := range PctilesPercentiles(t.layout, bins, t.percentiles) {
		switch t.unit {
		case "msec":
			v /= 1000
		case "nsec":
			v *= 1000
		}
		texts = append(texts, python(v))
	}
	return texts
}

// PctilesPercentiles are those of fio-histo-log-pctiles (get_pctiles), in microseconds: of the bin that exceeds the
// percentile, the share of its width by which it does. Ranks are 0 … 100 and ascend, as bins do.
func PctilesPercentiles(l hist.Layout, bins []hist.Weight, ranks []float64) (list []float64) {
	const almost = 99.9999 // counts as 100
	total, upTo, share, next := 0.0, 0.0, 0.0, 0
	for _, b := range bins {
		total += b.Count
	}
	for _, b := range bins {
		low, high := l.Bounds(b.Index)
		upTo += b.Count
		before := share
		share = 100 * upTo / total
		for ; next < len(ranks); next++ {
			p := ranks[next]
			if !(p == 100 && share >= almost || p < 100 && share > p) {
				break
			}
			from, to := float64(low)/1000, float64(high)/1000
			list = append(list, from+float64((p-before)/(share-before)*(to-from)))
		}
	}
	return list
}
