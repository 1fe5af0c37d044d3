package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Tools of fio whose layouts [Compat] prints.
const (
	FiologparserHist   = "fiologparser_hist"
	FioHistoLogPctiles = "fio-histo-log-pctiles"
)

// Compat prints percentiles in the layout of one of fio's tools. It keeps the rows of a run until all are read,
// because the lines above them need all.
type Compat struct {
	w     *bufio.Writer
	print func(w io.Writer, run *mapping.Run, rows []compatRow, layout hist.Layout)
	open  []*window.Window // windows of one nominal time, one for each direction
	rows  []compatRow
}

// compatRow is one window with all directions. Start and end are nominal: milliseconds since the run's start.
type compatRow struct {
	start, end int64
	samples    int64
	facts.Latencies
}

// NewCompat returns a Compat that prints to w like a tool.
func NewCompat(w io.Writer, tool string) *Compat {
	c := &Compat{w: bufio.NewWriter(w), print: printLogparser}
	if tool == FioHistoLogPctiles {
		c.print = printPctiles
	}
	return c
}

// Begin begins a run.
func (c *Compat) Begin() { c.open, c.rows = nil, nil }

// Add adds a window. It collects the directions of one nominal time, because their rows are some milliseconds apart.
func (c *Compat) Add(w *window.Window) error {
	if !w.Latency.HasPercentiles() {
		return nil
	}
	if len(c.open) > 0 && c.open[0].ElapsedMS != w.ElapsedMS {
		if err := c.closeWindow(); err != nil {
			return err
		}
	}
	c.open = append(c.open, w)
	return nil
}

// closeWindow makes a row of the open windows. A single direction keeps the percentiles of its exact weights.
func (c *Compat) closeWindow() error {
	if len(c.open) == 0 {
		return nil
	}
	all := c.open[0]
	if len(c.open) > 1 {
		var sum window.Sum
		for _, w := range c.open {
			if err := sum.Add(w); err != nil {
				return err
			}
		}
		sums := sum.Windows()
		all = sums[len(sums)-1]
	}
	requests, err := all.Histogram()
	if err != nil {
		return err
	}
	row := compatRow{start: c.open[0].ElapsedMS, samples: int64(requests.Total()), Latencies: facts.LatenciesOf(&all.Latency)}
	for _, w := range c.open {
		row.end = max(row.end, w.EndMS())
	}
	c.rows, c.open = append(c.rows, row), c.open[:0]
	return nil
}

// End prints a run. It reports whether the run has rows.
func (c *Compat) End(r *mapping.Run) (hasRows bool, err error) {
	if err := c.closeWindow(); err != nil || len(c.rows) == 0 {
		return false, err
	}
	snapEnds(c.rows, r.IntervalMS)
	layout := hist.Layout{}
	if r.All != nil && r.All.Latency.HasPercentiles() {
		h, err := r.All.Latency.Hist()
		if err != nil {
			return false, err
		}
		layout = h.Layout()
	}
	c.print(c.w, r, c.rows, layout)
	return true, c.w.Flush()
}

// snapEnds makes the ends of rows nominal, because the tools know only whole intervals. Rows end up to a twentieth
// of an interval early or late, the last row ends too early, and a window can have several intervals.
func snapEnds(rows []compatRow, interval int64) {
	for i := range rows {
		r := &rows[i]
		if interval > 0 {
			slack := interval / 20
			n := max((r.end-r.start-slack+interval-1)/interval, 1)
			r.end = r.start + n*interval
		}
		if i+1 < len(rows) { // the first window is shorter than the others
			r.end = min(r.end, rows[i+1].start)
		}
	}
}

// printLogparser prints latencies in the unit of the fio version: microseconds for fio 2, nanoseconds for fio 3.
// Times are those of the logs: absolute with log_unix_epoch. As in the tool, samples are the requests that have a
// share in a window, so no row is empty.
func printLogparser(w io.Writer, run *mapping.Run, rows []compatRow, layout hist.Layout) {
	fmt.Fprintln(w, "end-time, samples, min, avg, median, 90%, 95%, 99%, max")
	perMicrosecond, origin := 1000.0, int64(0)
	if layout.Unit() == hist.Microseconds {
		perMicrosecond = 1
	}
	if hasEpochTimes(run) {
		origin = run.Run.Start.UnixMilli()
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%d, %d, %.0f", origin+r.end, max(r.samples, 1), r.Value("min")*perMicrosecond)
		for _, name := range []string{"mean", "p50", "p90", "p95", "p99"} {
			fmt.Fprintf(w, ", %.3f", r.Value(name)*perMicrosecond)
		}
		fmt.Fprintf(w, ", %.0f\n", r.Value("max")*perMicrosecond)
	}
}

// mostEmpty is how many rows without requests are printed one after another.
const mostEmpty = 100_000

// printPctiles prints a row for each interval from 0 on, also for those without requests. The tool takes the time at
// which fio wrote a row for the start of that row. So its time since the start is the end of the window, and its row
// 0 is always empty.
func printPctiles(w io.Writer, run *mapping.Run, rows []compatRow, layout hist.Layout) {
	version, groups, bits := 3, layout.Groups(), 6-layout.Coarseness()
	if layout.Unit() == hist.Microseconds {
		version = 2
	}
	step := max(run.IntervalMS, 1)
	fmt.Fprintf(w, "fio version = %d\nbucket groups = %d\nbucket bits = %d\n", version, groups, bits)
	fmt.Fprintf(w, "time quantum = %s sec\n", unit.Number(float64(step)/1000))
	fmt.Fprintf(w, "percentiles = 0.0,50.0,95.0,99.0,100.0\n")
	fmt.Fprintf(w, "buckets per group = %d\nbuckets per interval = %d \noutput unit = usec\n", 1<<bits, groups<<bits)
	if hasEpochTimes(run) {
		start := run.Run.Start
		fmt.Fprintf(w, "all threads running as of unix epoch time %d = %s\n", start.Unix(), start.Local().Format("Mon Jan _2 15:04:05 2006"))
	}
	fmt.Fprintln(w, "time (millisec), percentiles in increasing order with values in usec")
	fmt.Fprintln(w, "msec-since-start, samples, min, median, 95.0, 99.0, max, ")
	at := int64(0)
	for _, r := range rows {
		if r.start-at > mostEmpty*step { // more likely a damaged time than a pause
			at = r.start
		}
		for ; at <= r.start; at += step {
			fmt.Fprintf(w, "%8d, %8d, , , , , , \n", at, 0)
		}
		fmt.Fprintf(w, "%8d, %8d, ", r.end, r.samples)
		fmt.Fprintln(w, strings.Join([]string{
			pythonFloat(r.Value("min")), pythonFloat(r.Value("p50")), pythonFloat(r.Value("p95")), pythonFloat(r.Value("p99")), pythonFloat(r.Value("max")),
		}, ", "))
		at = r.end + step
	}
}

// hasEpochTimes reports whether the times in the logs are absolute.
func hasEpochTimes(run *mapping.Run) bool { return run.Clock.Source == "log_unix_epoch" }

// pythonFloat prints a number like Python: whole numbers have a decimal point, too.
func pythonFloat(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
