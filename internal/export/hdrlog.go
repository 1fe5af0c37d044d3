package export

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// ErrOneRun means that a second run was written to a format that has one.
var ErrOneRun = errors.New("an HdrHistogram log has one run")

// HDRLog writes an interval log of HdrHistogram.
type HDRLog struct {
	w     *bufio.Writer
	start time.Time // times in the log count from here
	begun bool

	layout    hist.Layout                   // of the histograms since the last line that names it
	histogram *hdrhistogram.PackedHistogram // of that layout, to encode with
}

// NewHDRLog returns a writer of a log to w. At a second run it fails with [ErrOneRun].
func NewHDRLog(w io.Writer) *HDRLog { return &HDRLog{w: bufio.NewWriter(w)} }

// Begin writes the header of the log. If the start of the run is not known, times count from 0.
func (l *HDRLog) Begin(run *mapping.RunInfo, _ bool) error {
	if l.begun {
		return ErrOneRun
	}
	l.begun, l.start = true, run.Start
	fmt.Fprintf(l.w, "#[fio2es: run %q of archive %q, latencies in nanoseconds]\n#[Histogram log format version 1.3]\n", run.Name, run.Archive)
	if unit.IsKnown(run.Start) {
		seconds := float64(run.Start.UnixMilli()) / 1000
		fmt.Fprintf(l.w, "#[BaseTime: %.3f (seconds since epoch)]\n", seconds)
		fmt.Fprintf(l.w, "#[StartTime: %.3f (seconds since epoch), %s]\n", seconds, run.Start.UTC().Format(time.UnixDate))
	}
	_, err := l.w.WriteString(`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"` + "\n")
	return err
}

// Add writes the line of a window: its tag, its start and its length in seconds, the highest latency in
// milliseconds, and the histogram.
func (l *HDRLog) Add(w *window.Window, requests *hist.Histogram) error {
	if layout := requests.Layout(); l.histogram == nil || l.layout != layout {
		l.layout, l.histogram = layout, hdrhistogram.NewPacked(1, hdrHighest(layout), hdrDigits)
		fmt.Fprintf(l.w, "#[fio2es: bins %s]\n", mapping.LayoutName(layout))
	}
	if err := recordHDR(l.histogram, requests); err != nil {
		return err
	}
	text, err := l.histogram.Encode()
	if err != nil {
		return err
	}
	fmt.Fprintf(l.w, "Tag=%s,%.3f,%.3f,%.3f,", hdrTag(w), w.Start.Sub(l.start).Seconds(), w.Length().Seconds(), float64(l.histogram.Max())/1e6)
	l.w.Write(text)
	return l.w.WriteByte('\n')
}

// Close writes what is buffered.
func (l *HDRLog) Close() error { return l.w.Flush() }

// hdrTag returns the tag of windows of one host, job and direction.
func hdrTag(w *window.Window) string {
	var tag strings.Builder
	for i, name := range []string{w.Host, w.Job} {
		for _, c := range []byte(name) {
			if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~:+@", c) >= 0 {
				tag.WriteByte(c)
			} else {
				fmt.Fprintf(&tag, "%%%02X", c)
			}
		}
		if name != "" || i == 0 && w.Job != "" { // the job is the second of three
			tag.WriteByte('/')
		}
	}
	tag.WriteString(w.Direction)
	return tag.String()
}

const hdrDigits = 3

// hdrHighest returns the highest value of histograms with a layout, in nanoseconds: the end of its last bin, but at
// least that of released versions of fio.
func hdrHighest(l hist.Layout) int64 { return max(l.Reach()-1, 1<<34-1) }

// recordHDR replaces the values of to by the middles of bins.
func recordHDR(to *hdrhistogram.PackedHistogram, requests *hist.Histogram) error {
	to.Reset()
	layout := requests.Layout()
	for i, n := range requests.All() {
		if err := to.RecordValues(int64(layout.Middle(i)), int64(math.Round(n))); err != nil {
			return err
		}
	}
	return nil
}

// hdrReader has what the comments of an HdrHistogram log say.
type hdrReader struct {
	*collector
	to      *Run
	isOurs  bool        // tags are those of hdrTag, and values are nanoseconds
	layout  hist.Layout // of what fio2es wrote
	tag     string      // of lines without one, by a comment of YCSB
	zero    time.Time   // when times count from; the first line decides if no comment says it
	hasZero bool
	start   float64 // seconds since 1970; 0: not known
}

// isHDRLog reports whether a text begins like an HdrHistogram log, or like the payload of one of its lines.
func isHDRLog(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	for _, begin := range []string{"#[", `"StartTimestamp"`, "Tag=", "HIST"} {
		if bytes.HasPrefix(line, []byte(begin)) {
			return true
		}
	}
	fields := bytes.Split(line, []byte(","))
	return len(fields) == 4 && bytes.HasPrefix(fields[3], []byte("HIST"))
}

// readHDRLog reads an HdrHistogram log, or payloads alone.
func readHDRLog(c *collector, in io.Reader) error {
	r := &hdrReader{collector: c, to: c.run(mapping.RunInfo{Name: filepath.Base(c.file)})}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		c.line++
		line := strings.TrimSuffix(lines.Text(), "\r")
		var err error
		switch {
		case line == "" || strings.HasPrefix(line, `"StartTimestamp"`):
		case line[0] == '#':
			err = r.comment(line)
		default:
			err = r.interval(line)
		}
		if err != nil {
			return err
		}
	}
	return c.endOfLines(lines.Err())
}

// comment reads a comment line.
func (r *hdrReader) comment(line string) (err error) {
	text := strings.Trim(line, "#[] ")
	seconds := func(name string) (s float64, ok bool) {
		rest, ok := strings.CutPrefix(text, name)
		if !ok || err != nil {
			return 0, false
		}
		number, _, _ := strings.Cut(rest, " ")
		s, err = r.seconds(1+strings.Index(line, number), number)
		return s, err == nil
	}
	if s, ok := seconds("StartTime: "); ok {
		r.start = s
		r.to.Info.Start = fromSeconds(time.Unix(0, 0), s)
	}
	if s, ok := seconds("BaseTime: "); ok {
		r.zero, r.hasZero = fromSeconds(time.Unix(0, 0), s), true
	}
	if name, ok := strings.CutPrefix(text, "Logging for: "); ok {
		r.tag = name
	}
	var name, archive string
	if n, _ := fmt.Sscanf(text, "fio2es: run %q of archive %q, latencies in nanoseconds", &name, &archive); n == 2 {
		r.isOurs, r.to.Info.Name, r.to.Info.Archive = true, name, archive
	}
	if bins, ok := strings.CutPrefix(text, "fio2es: bins "); ok {
		layout, err := mapping.ParseLayout(bins)
		if err != nil {
			return r.bad(strings.Index(line, bins)+1, quote(bins), "a layout of fio's bins such as fio3/0")
		}
		r.layout = layout
	}
	return err
}

// seconds parses a number of seconds.
func (c *collector) seconds(column int, text string) (float64, error) {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(s) < 1e11) {
		return 0, c.bad(column, quote(text), "seconds such as 1.003")
	}
	return s, nil
}

// fromSeconds returns the time some seconds after another, to the millisecond.
func fromSeconds(zero time.Time, s float64) time.Time {
	ms := int64(math.Round(s * 1000))
	return time.UnixMilli(zero.UnixMilli() + ms).UTC()
}

// interval reads a line with a histogram: [Tag=NAME,]start,length,highest,payload, or the payload alone.
func (r *hdrReader) interval(line string) (err error) {
	tag, rest := r.tag, line
	if named, ok := strings.CutPrefix(line, "Tag="); ok {
		if tag, rest, ok = strings.Cut(named, ","); !ok {
			return r.bad(len(line)+1, "the end of the line", "a comma after the tag")
		}
	}
	column := len(line) - len(rest) + 1
	fields := strings.SplitN(rest, ",", 4)
	var numbers [2]float64
	payload := fields[len(fields)-1]
	switch len(fields) {
	case 1: // without times
	case 4:
		for i := range numbers {
			if numbers[i], err = r.seconds(column, fields[i]); err != nil {
				return err
			}
			column += len(fields[i]) + 1
		}
		column += len(fields[2]) + 1
	default:
		return r.bad(column, fmt.Sprintf("%d fields", len(fields)), "start, length, highest value and histogram, with commas between them")
	}
	if !r.hasZero { // as HdrHistogram's own reader does: times a year before the start of the log count from that
		const year = 365 * 24 * 3600
		switch {
		case r.start > 0 && numbers[0] < r.start-year:
			r.zero = r.to.Info.Start
		case numbers[0] > year:
			r.zero = time.Unix(0, 0)
		}
		r.hasZero = true
	}
	w := window.Window{Start: fromSeconds(r.zero, numbers[0])}
	w.End = fromSeconds(w.Start, numbers[1])
	if err := r.setSeries(&w, tag); err != nil {
		return err
	}
	requests, err := r.decode(column, payload)
	if err != nil {
		return err
	}
	return r.add(r.to, w, requests)
}

// setSeries sets the direction, the host and the job that a tag names. The tags of other programs name only directions.
func (r *hdrReader) setSeries(w *window.Window, tag string) error {
	w.Direction = tag
	if r.isOurs {
		parts := strings.Split(tag, "/")
		for i, part := range parts {
			name, err := url.PathUnescape(part)
			if err != nil {
				return r.bad(len("Tag=")+1, quote(tag), "a host, a job and a direction as in client01/0.1/read")
			}
			parts[i] = name
		}
		w.Direction = parts[len(parts)-1]
		if w.Host = strings.Join(parts[:min(len(parts)-1, 1)], ""); len(parts) > 2 {
			w.Job = parts[1]
		}
	}
	if w.Direction = strings.ToLower(w.Direction); !slices.Contains(mapping.Directions[:], w.Direction) {
		w.Job, w.Direction = tag, mapping.AllDirections
	}
	return nil
}

// decode reads a payload in a column of the line.
func (r *hdrReader) decode(column int, payload string) (*hist.Histogram, error) {
	scale, layout := 1.0, &r.layout
	if !r.isOurs {
		var err error
		if scale, err = r.scale(); err != nil {
			return nil, err
		}
		wide := layoutFor(r.Unit)
		layout = &wide
	}
	from, err := hdrhistogram.DecodePacked([]byte(payload))
	if err != nil {
		return nil, r.bad(column, quote(payload)+" ("+err.Error()+")", "a compressed histogram of HdrHistogram, version 2, in base64 (HISTF…)")
	}
	const priceOfSlot = 100 // it takes as long as unpacking that many bytes
	if err := r.Budget.Spend(int64(len(payload)) + priceOfSlot*int64(from.Populated())); err != nil {
		return nil, err
	}
	h, width := hist.New(*layout), slotWidth(from)
	for low, count := range from.ForEachBucket {
		switch n := uint64(count); {
		case n > hist.MaxCount:
			return nil, r.bad(column, fmt.Sprintf("%d requests of one value", n), "at most 2^53")
		case r.isOurs: // the values lie within one bin
			h.AddAt(h.Layout().Index(low), float64(n))
		default:
			h.AddBetween(float64(low)*scale, (float64(low)+width(low))*scale, n)
		}
	}
	return h, nil
}

// slotWidth returns a function for the number of values that are equal to a value in a histogram. Up to a power of two above
// 2·10^digits it is a power of two, below the lowest value, and above it doubles with each power of two.
func slotWidth(of *hdrhistogram.PackedHistogram) func(int64) float64 {
	least := bits.Len64(uint64(max(of.LowestTrackableValue(), 1))) - 1
	half := max(bits.Len64(uint64(2*math.Pow10(int(of.SignificantFigures())))-1), 1) - 1
	return func(value int64) float64 { return math.Ldexp(1, max(least, bits.Len64(uint64(value))-1-half)) }
}
