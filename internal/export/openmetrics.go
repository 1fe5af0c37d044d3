package export

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// metric is the name of the histogram.
const metric = "fio_latency_seconds"

// OpenMetricsOptions says what is written.
type OpenMetricsOptions struct {
	Windows bool // a point for each window, instead of one for the run
	Buckets Buckets
}

// OpenMetrics writes runs as one exposition.
type OpenMetrics struct {
	w    *bufio.Writer
	opt  OpenMetricsOptions
	seen map[string]bool // labels of the runs written so far

	run    *mapping.RunInfo
	labels string // labels of the run
	series []*points
}

// points is one series of the current run.
type points struct {
	host, job, direction string
	span                 window.Span     // of all windows
	layout               hist.Layout     // of all windows and of their sum
	sum                  *hist.Histogram // requests of the run, unless windows are wanted
	windows              []packedWindow
}

// NewOpenMetrics returns a writer of an exposition to w.
func NewOpenMetrics(w io.Writer, opt OpenMetricsOptions) *OpenMetrics {
	return &OpenMetrics{w: bufio.NewWriter(w), opt: opt, seen: map[string]bool{}}
}

// Begin fails if windows are wanted and the start of the run is not known. It also fails if the run was written
// already, because its series would be there twice. Two runs of one job in one folder have the same name and
// archive, so they get their ids as a label.
func (o *OpenMetrics) Begin(run *mapping.RunInfo, isAlike bool) error {
	if o.opt.Windows && !unit.IsKnown(run.Start) {
		return fmt.Errorf("%s: its files do not say when it started, and points over time need that: set the start (FIO2ES_START=TIME)", run.Name)
	}
	var labels strings.Builder
	addLabel(&labels, "run", run.Name)
	addLabel(&labels, "archive", run.Archive)
	if isAlike {
		addLabel(&labels, "run_id", facts.ShortID(run.ID))
	}
	if o.seen[labels.String()] {
		return fmt.Errorf("run %s of archive %s is written already: name it once, or give archives different names (--archive)", run.Name, run.Archive)
	}
	if len(o.seen) == 0 {
		fmt.Fprintf(o.w, "# TYPE %[1]s histogram\n# UNIT %[1]s seconds\n# HELP %[1]s Completion latency of requests, as fio saw it.\n", metric)
	}
	o.end()
	o.run, o.labels = run, labels.String()
	o.seen[o.labels] = true
	_, err := o.w.Write(nil) // returns an earlier error of the writer
	return err
}

// Add keeps the requests of a window until the next run or the end.
func (o *OpenMetrics) Add(w *window.Window, requests *hist.Histogram) error {
	var p *points
	for _, one := range o.series {
		if one.host == w.Host && one.job == w.Job && one.direction == w.Direction {
			p = one
		}
	}
	if p == nil {
		p = &points{host: w.Host, job: w.Job, direction: w.Direction, layout: requests.Layout(), sum: &hist.Histogram{}}
		o.series = append(o.series, p)
	}
	p.layout = p.layout.Merged(requests.Layout())
	p.span.Add(w)
	if o.opt.Windows {
		p.windows = append(p.windows, pack(w, requests))
	} else {
		p.sum.Merge(requests)
	}
	return nil
}

// end writes the series of the current run.
func (o *OpenMetrics) end() {
	for _, p := range o.series {
		o.writeSeries(p)
	}
	o.series = nil
}

// Close ends the exposition.
func (o *OpenMetrics) Close() error {
	o.end()
	o.w.WriteString("# EOF\n")
	return o.w.Flush()
}

func (o *OpenMetrics) writeSeries(p *points) {
	var labels strings.Builder
	labels.WriteString(o.labels)
	addLabel(&labels, "direction", p.direction)
	addLabel(&labels, "host", p.host)
	addLabel(&labels, "job", p.job)
	out := newPointWriter(o.w, labels.String(), o.opt.Buckets.bins(p.layout), p.layout)
	if !o.opt.Windows {
		if !unit.IsKnown(o.run.Start) {
			out.point(p.sum, "")
			return
		}
		at := " " + unixTime(p.span.End)
		out.point(p.sum, at)
		fmt.Fprintf(o.w, "%s_created{%s} %s%s\n", metric, labels.String(), unixTime(p.span.Start), at)
		return
	}
	sum, end := hist.New(p.layout), time.Time{}
	for i := range p.windows {
		w := &p.windows[i]
		// Windows of hosts are some milliseconds apart, which is not a gap.
		if length := w.end.Sub(w.start); length > 0 && (i == 0 || w.start.Sub(end) > length/2) {
			out.point(sum, " "+unixTime(w.start))
		}
		w.addTo(sum)
		if w.end.After(end) {
			end = w.end
		}
		if next := i + 1; next == len(p.windows) || p.windows[next].end.After(end) { // only one point for each time
			out.point(sum, " "+unixTime(end))
		}
	}
}

// pointWriter writes the points of one series.
type pointWriter struct {
	w       *bufio.Writer
	bins    []int    // bins at whose ends buckets end
	buckets []string // text before the counts of the buckets and of +Inf
	count   string
	sum     string
}

func newPointWriter(w *bufio.Writer, labels string, bins []int, l hist.Layout) *pointWriter {
	p := &pointWriter{w: w, bins: bins, count: fmt.Sprintf("%s_count{%s} ", metric, labels), sum: fmt.Sprintf("%s_sum{%s} ", metric, labels)}
	for _, i := range bins {
		p.buckets = append(p.buckets, fmt.Sprintf("%s_bucket{%s,le=%q} ", metric, labels, decimal(float64(bound(l, i))/1e9)))
	}
	p.buckets = append(p.buckets, fmt.Sprintf("%s_bucket{%s,le=\"+Inf\"} ", metric, labels))
	return p
}

// point writes one point. at is its time with a space before it, or empty.
func (p *pointWriter) point(h *hist.Histogram, at string) {
	next, within := 0, 0.0
	for i, n := range h.All() {
		for next < len(p.bins) && p.bins[next] < i {
			p.line(p.buckets[next], whole(within), at)
			next++
		}
		within += n
	}
	total := whole(within)
	for ; next < len(p.buckets); next++ {
		p.line(p.buckets[next], total, at)
	}
	p.line(p.count, total, at)
	sum := 0.0
	if within > 0 {
		sum = h.Mean().Value * within / 1e9
	}
	p.line(p.sum, decimal(sum), at)
}

func (p *pointWriter) line(name, value, at string) {
	p.w.WriteString(name)
	p.w.WriteString(value)
	p.w.WriteString(at)
	p.w.WriteByte('\n')
}

// addLabel adds a label with its value escaped, unless the value is empty.
func addLabel(to *strings.Builder, name, value string) {
	if value == "" {
		return
	}
	if to.Len() > 0 {
		to.WriteByte(',')
	}
	fmt.Fprintf(to, `%s="%s"`, name, labelEscapes.Replace(strings.ToValidUTF8(value, "\uFFFD")))
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// whole returns a number of requests. It rounds, because merging fio 2 with fio 3 makes fractions.
func whole(n float64) string { return strconv.FormatInt(int64(math.Round(n)), 10) }

// decimal returns the shortest text that is parsed as the same number, as Prometheus writes it.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// unixTime returns a time in seconds since 1970, with milliseconds.
func unixTime(t time.Time) string {
	ms := t.UnixMilli()
	return fmt.Sprintf("%d.%03d", ms/1000, ms%1000)
}

// Buckets are the wanted bounds of a histogram's buckets. The zero value means 1-2-5 steps from 1 µs to 10 s, or
// further if the histogram's bins reach further.
type Buckets struct {
	all    bool
	wanted []time.Duration // ascending; empty: 1-2-5 steps
}

// ParseBuckets parses "1-2-5"; "all", which means each edge of a bin; or latencies such as "100us,1ms,10ms".
func ParseBuckets(text string) (Buckets, error) {
	switch text {
	case "1-2-5":
		return Buckets{}, nil
	case "all":
		return Buckets{all: true}, nil
	}
	b := Buckets{}
	for part := range strings.SplitSeq(text, ",") {
		d, ok := expr.ParseLatency(part)
		if !ok || d <= 0 {
			return Buckets{}, fmt.Errorf("%s: want 1-2-5, all, or latencies such as 100us,1ms,10ms", text)
		}
		b.wanted = append(b.wanted, d)
	}
	slices.Sort(b.wanted)
	return b, nil
}

// steps returns 1, 2 and 5 of each power of ten from 1 µs to 10 s, or as far as the bins of a layout reach.
func steps(l hist.Layout) (all []time.Duration) {
	open, _ := l.Bounds(l.Len() - 1)
	most := max(time.Duration(open), 10*time.Second)
	for d := time.Microsecond; 0 < d && d <= most; d *= 10 { // 0 < d, because d may overflow
		for _, step := range []time.Duration{d, 2 * d, 5 * d} {
			if step <= most {
				all = append(all, step)
			}
		}
	}
	return all
}

// bins returns the bins at whose ends buckets end, ascending, each once: those whose highest latency is nearest to a
// wanted bound, or the lower one of two.
func (b *Buckets) bins(l hist.Layout) []int {
	var bins []int
	if b.all {
		for i := range l.Len() - 1 {
			bins = append(bins, i)
		}
		return bins
	}
	wanted := b.wanted
	if len(wanted) == 0 {
		wanted = steps(l)
	}
	for _, d := range wanted {
		i := min(l.Index(int64(d)), l.Len()-2)
		if i > 0 && int64(d)-bound(l, i-1) <= bound(l, i)-int64(d) {
			i--
		}
		bins = append(bins, i)
	}
	return slices.Compact(bins)
}

// bound returns the highest latency of bin i in nanoseconds. The last bin has none.
func bound(l hist.Layout, i int) int64 {
	_, high := l.Bounds(i)
	return high - 1
}

// packedWindow is a window in about three bytes for each bin. The points of a series must be written together, and
// bounds depend on the coarsest layout. So windows are kept until the run ends: a day of one-second windows takes
// about 100 MB for each series.
type packedWindow struct {
	start, end time.Time
	layout     hist.Layout
	bins       []byte // for each bin: its index less that of the bin before, and its count
}

func pack(w *window.Window, requests *hist.Histogram) packedWindow {
	p := packedWindow{start: w.Start, end: w.End, layout: requests.Layout()}
	last, buf := 0, make([]byte, 0, 1024)
	for i, n := range requests.All() {
		buf = binary.AppendUvarint(buf, uint64(i-last))
		buf = binary.AppendUvarint(buf, uint64(math.Round(n)))
		last = i
	}
	p.bins = slices.Clone(buf) // without spare capacity
	return p
}

func (p *packedWindow) addTo(sum *hist.Histogram) {
	window, index := hist.New(p.layout), 0
	for b := p.bins; len(b) > 0; {
		gap, size := binary.Uvarint(b)
		n, more := binary.Uvarint(b[size:])
		index += int(gap)
		window.AddAt(index, float64(n))
		b = b[size+more:]
	}
	sum.Merge(window)
}
