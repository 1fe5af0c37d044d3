package compat

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// logparser is fiologparser_hist.py.
type logparser struct {
	interval, divisor, decimals, groups int
	maxLatency                          float64 // s
	percentiles, directions, jobFile    string
	noWeight, isMicroseconds            bool

	columns string    // from samples to the last percentile
	ranks   []float64 // 0 … 100, the median first
	series  []byte    // directions to print: m, r, t, w
	layout  hist.Layout
	values  []float64 // of each bin, in the unit of the layout
	perMS   float64   // units of the layout in a millisecond
}

func addLogparserFlags(f *pflag.FlagSet) *logparser {
	t := &logparser{}
	f.IntVarP(&t.interval, "interval", "i", 0, "interval width in `ms` (default 1000, or that of --job-file)")
	f.IntVarP(&t.divisor, "divisor", "d", 1, "divide the results by this `number`")
	f.IntVar(&t.decimals, "decimals", 3, "`number` of decimal places")
	f.StringVar(&t.percentiles, "percentiles", "90:95:99", "`list` joined by commas or colons")
	f.StringVar(&t.directions, "directions", "", "rows for each direction: any of the `letters` r, w, t and m (mixed)")
	f.BoolVar(&t.noWeight, "noweight", false, "do not divide rows among intervals")
	f.Float64Var(&t.maxLatency, "max_latency", 20, "`seconds` of rows to read ahead of an interval")
	f.IntVar(&t.groups, "group_nr", 29, "FIO_IO_U_PLAT_GROUP_NR of fio's stat.h, if the columns fit several")
	f.BoolVar(&t.isMicroseconds, "usbin", false, "bins are microseconds (fio 2)")
	f.StringVar(&t.jobFile, "job-file", "", "job `file`, for its log_hist_msec")
	f.Int("buff_size", 10000, "has no effect")
	f.Bool("warn", false, "has no effect: warnings are always printed")
	return t
}

// check completes the options.
func (t *logparser) check() error {
	if t.jobFile != "" && t.interval == 0 {
		text, err := os.ReadFile(t.jobFile)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) { // the last one counts
			if name, value, _ := strings.Cut(line, "="); strings.TrimSpace(name) == "log_hist_msec" {
				if t.interval, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
					return fmt.Errorf("%s: log_hist_msec=%s: want milliseconds", t.jobFile, strings.TrimSpace(value))
				}
			}
		}
	}
	if t.interval == 0 {
		t.interval = 1000
	}
	t.columns = "samples, min, avg, median"
	t.ranks = []float64{50}
	for _, name := range strings.FieldsFunc(t.percentiles, func(r rune) bool { return r == ',' || r == ':' }) {
		rank, err := strconv.ParseFloat(strings.TrimSpace(name), 64)
		if err != nil || !(rank >= 0 && rank <= 100) {
			return fmt.Errorf("--percentiles %s: want numbers from 0 to 100", t.percentiles)
		}
		t.columns += ", " + name + "%"
		t.ranks = append(t.ranks, rank)
	}
	for _, d := range "mrtw" {
		if t.directions == "" && d == 'm' || strings.ContainsRune(strings.ToLower(t.directions), d) {
			t.series = append(t.series, byte(d))
		}
	}
	switch {
	case t.interval < 1 || t.divisor < 1 || t.decimals < 0 || !(t.maxLatency >= 0):
		return errors.New("--interval and --divisor are 1 or more, --decimals and --max_latency 0 or more")
	case len(t.series) == 0 || strings.Trim(strings.ToLower(t.directions), "mrtw") != "":
		return fmt.Errorf("--directions %s: want any of r, w, t and m", t.directions)
	}
	return nil
}

func (t *logparser) print(w *bufio.Writer, l *logs) error {
	fmt.Fprint(w, "end-time, ")
	if t.directions != "" {
		fmt.Fprint(w, "dir, ")
	}
	fmt.Fprintln(w, t.columns+", max")
	if t.groups < 19 || t.groups > 26 && t.groups != 29 { // the tool knows 19 to 26 and 29, and so do columns
		l.bins.Groups = t.groups
	}
	if t.isMicroseconds {
		l.bins.Unit = hist.Microseconds
	}
	rows, stop := iter.Pull2(l.ordered())
	defer stop()
	isFirst := true
	next := func() (*fiolog.Record, error) {
		row, err, ok := rows()
		if !ok || err != nil {
			return nil, err
		}
		if isFirst {
			t.setLayout(row.Layout)
			isFirst = false
		}
		if row.Layout != t.layout {
			return nil, fmt.Errorf("logs of %v and of %v: name those of one layout at a time", t.layout, row.Layout)
		}
		return row, nil
	}
	if t.noWeight {
		return t.whole(w, l, next)
	}
	return t.weighted(w, l, next)
}

// setLayout sets the layout of all logs.
func (t *logparser) setLayout(l hist.Layout) {
	if t.layout, t.perMS = l, 1e6; l.Unit() == hist.Microseconds {
		t.perMS = 1e3
	}
	for i := range l.Len() {
		t.values = append(t.values, LogparserValue(l, i))
	}
}

// LogparserValue returns what fiologparser_hist takes for the latency of a bin (plat_idx_to_val_coarse), in the unit of the
// layout: the middle between its lower edge and the upper edge of the fine bin after it, so a little more than its own middle.
func LogparserValue(l hist.Layout, bin int) float64 {
	low, high := logparserEdges(l, bin)
	return low + (high-low)*0.5
}

// logparserEdges returns what the tool takes for the edges of a bin.
func logparserEdges(l hist.Layout, bin int) (low, high float64) {
	edge := func(fine int, share float64) float64 { // of fio's finest bins: plat_idx_to_val in stat.c
		if fine < 128 {
			return float64(fine)
		}
		return math.Ldexp(float64(64+fine%64)+share, fine/64-1)
	}
	k := l.Coarseness()
	return edge(bin<<k, 0), edge((bin+1)<<k, 1)
}

// LogparserPercentiles are those of fiologparser_hist (weighted_percentile): each bin has one value, in the middle of its
// weight, and between two bins, also empty ones, it is a straight line. Ranks are 0 … 100.
func LogparserPercentiles(values, weights, ranks []float64) (list []float64) {
	shares, total, upTo := make([]float64, len(weights)), pairwise(weights), 0.0
	for i, n := range weights {
		upTo += n
		shares[i] = 100 * (upTo - n/2) / total
	}
	for _, rank := range ranks {
		list = append(list, interpolate(rank, shares, values))
	}
	return list
}

// logparserSum is an interval of one direction.
type logparserSum struct {
	weights   []float64 // of each bin
	samples   uint64
	low, high float64
}

// weighted divides the requests of each row among the intervals of the time that the tool takes for theirs: from half an
// interval and the latency before the end of the row to its end.
func (t *logparser) weighted(w *bufio.Writer, l *logs, next func() (*fiolog.Record, error)) error {
	interval := float64(t.interval)
	start, end := 0.0, interval
	var rows []*fiolog.Record
	for more, empty := true, 0; more || len(rows) > 0; {
		for more && (len(rows) == 0 || float64(rows[len(rows)-1].Time) < t.maxLatency*1000+end) {
			row, err := next()
			if err != nil {
				return err
			}
			if more = row != nil; !more {
				break
			}
			if start > 0 && float64(row.Time) <= start {
				return errLate(row)
			}
			rows = append(rows, row)
			if first := float64(rows[0].Time) - t.maxLatency; start == 0 && first > end { // such as times since 1970
				start = first - math.Mod(first, interval)
				end = start + interval
			}
		}
		if len(rows) == 0 {
			break
		}
		sums := map[byte]*logparserSum{}
		for _, row := range rows {
			t.add(sums, row, start, end)
		}
		empty++
		for _, d := range t.series {
			if sum := sums[d]; sum != nil && sum.samples > 0 {
				t.row(w, end, d, sum)
				empty = 0
			}
		}
		if err := l.ctx.Err(); err != nil {
			return err
		}
		if empty > mostEmpty {
			return fmt.Errorf("no requests for %d intervals before %d ms: a time in the logs is damaged, or --interval is too short", empty, rows[0].Time)
		}
		rows = slices.DeleteFunc(rows, func(row *fiolog.Record) bool { return float64(row.Time) <= end })
		start += interval
		end = start + interval
	}
	return nil
}

// errLate is the error of a row whose intervals were printed already. The tool counts it as negative requests.
func errLate(row *fiolog.Record) error {
	return fmt.Errorf("line %d of a log, of %d ms, comes after later ones: it has the rows of several jobs (per_job_logs=0), "+
		"or --max_latency is too short", row.Line, row.Time)
}

// add adds the part of a row that falls into an interval.
func (t *logparser) add(sums map[byte]*logparserSum, row *fiolog.Record, start, end float64) {
	at := float64(row.Time)
	begin := func(bin int) float64 { return at - 0.5*float64(t.interval) - t.values[bin]/t.perMS }
	first := sort.Search(len(t.values), func(bin int) bool { return begin(bin) < end }) // faster ones began after the interval
	bins := row.Bins
	for len(bins) > 0 && int(bins[0].Index) < first {
		bins = bins[1:]
	}
	for _, d := range []byte{'m', "rwt"[row.Direction]} {
		if !slices.Contains(t.series, d) {
			continue
		}
		sum := sums[d]
		if sum == nil {
			sum = &logparserSum{weights: make([]float64, len(t.values)), low: math.Inf(1), high: math.Inf(-1)}
			sums[d] = sum
		}
		for _, b := range bins {
			from := begin(int(b.Index))
			sum.weights[b.Index] += float64(float64(b.Count) * ((min(at, end) - max(from, start)) / (at - from)))
			sum.samples += b.Count
		}
		if len(bins) > 0 {
			low, _ := logparserEdges(t.layout, max(first, int(bins[0].Index)-1))
			_, high := logparserEdges(t.layout, min(len(t.values)-1, int(bins[len(bins)-1].Index)+1))
			sum.low, sum.high = min(sum.low, low), max(sum.high, high)
		}
	}
}

// whole adds each row to the interval in which it ends, or to the one before if it ends up to 10 ms later.
func (t *logparser) whole(w *bufio.Writer, l *logs, next func() (*fiolog.Record, error)) error {
	const late = 10
	row, err := next()
	for row != nil && err == nil {
		start := (row.Time + late) / int64(t.interval) * int64(t.interval)
		end := start + int64(t.interval)
		sums := map[byte]*logparserSum{}
		for ; row != nil && err == nil && row.Time+late < end; row, err = next() {
			if row.Time+late < start {
				return errLate(row)
			}
			for _, d := range []byte{'m', "rwt"[row.Direction]} {
				if sums[d] == nil {
					sums[d] = &logparserSum{weights: make([]float64, len(t.values))}
				}
				for _, b := range row.Bins {
					sums[d].weights[b.Index] += float64(b.Count)
					sums[d].samples += b.Count
				}
			}
		}
		for _, d := range t.series {
			if sum := sums[d]; sum != nil && sum.samples > 0 {
				isUsed := func(n float64) bool { return n != 0 }
				first, last := slices.IndexFunc(sum.weights, isUsed), len(sum.weights)-1
				for sum.weights[last] == 0 {
					last--
				}
				sum.low, sum.high = t.values[first], t.values[last]
				t.row(w, float64(end), d, sum)
			}
		}
		err = errors.Join(err, l.ctx.Err())
	}
	return err
}

// row prints the numbers of an interval.
func (t *logparser) row(w *bufio.Writer, end float64, direction byte, sum *logparserSum) {
	fmt.Fprintf(w, "%.0f, ", math.Trunc(end))
	if t.directions != "" {
		fmt.Fprintf(w, "%c, ", direction)
	}
	fmt.Fprintf(w, "%d", sum.samples)
	number := func(v float64, isExtreme bool) {
		if v /= float64(t.divisor); isExtreme && t.divisor == 1 {
			fmt.Fprintf(w, ", %.0f", math.Trunc(v))
			return
		}
		fmt.Fprintf(w, ", %.*f", t.decimals, v)
	}
	products := make([]float64, len(sum.weights))
	for i, n := range sum.weights {
		products[i] = t.values[i] * n
	}
	number(sum.low, true)
	number(pairwise(products)/pairwise(sum.weights), false)
	for _, v := range LogparserPercentiles(t.values, sum.weights, t.ranks) {
		number(v, false)
	}
	number(sum.high, true)
	fmt.Fprintln(w)
}
