package export

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Run is a run as a file of histograms has it.
type Run struct {
	Info mapping.RunInfo // without an id; its start is before 1970 if it is not known
	// Windows are in order of time, with the host and the job that the file names, and no level. Their direction is
	// [mapping.AllDirections] in all if the file names none in some.
	Windows    []*window.Window
	IntervalMS int64 // usual length of windows
}

// ReadOptions says how a file is read.
type ReadOptions struct {
	// Unit of values if the file does not say it: ns, us, ms, s, or empty if it is not known.
	Unit   string
	Budget *source.Budget // what reading takes is charged to it; nil: without limits
}

// Units are the units that values of a file can have, in nanoseconds.
var Units = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

// kind is a kind of file that can be read.
type kind struct {
	name string // for people
	is   func(head []byte) bool
	read func(c *collector, in io.Reader) error
}

var kinds = []kind{
	{"an HdrHistogram log", isHDRLog, readHDRLog},
	{"histograms in CSV or JSON", isBins, readBins},
}

// Kind says for people what a file of histograms is, such as "an HdrHistogram log", by its first bytes. It is empty if
// [Read] cannot read it.
func Kind(head []byte) string {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.is(head) }); i >= 0 {
		return kinds[i].name
	}
	return ""
}

// headLen is how many bytes show the kind of a file.
const headLen = 32 << 10

// Read reads the runs of a file of histograms. name is for messages, and names a run that has no name in the file. Errors
// are [*fiolog.SyntaxError] values, or those of the reader and of the budget.
func Read(name string, in io.Reader, opt ReadOptions) ([]*Run, error) {
	head := make([]byte, headLen)
	n, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	c := &collector{ReadOptions: opt, file: name, byName: map[[3]string]*Run{}}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.is(head[:n]) })
	if i < 0 {
		return nil, c.bad(1, quote(head[:n]), "a file of histograms")
	}
	if err := kinds[i].read(c, io.MultiReader(bytes.NewReader(head[:n]), in)); err != nil {
		return nil, err
	}
	return c.end()
}

// collector collects the windows of a file.
type collector struct {
	ReadOptions
	file string
	line int // of the last line that was read
	runs []*Run

	byName map[[3]string]*Run // by id, archive and name
}

// bad returns the error for a place in the last line.
func (c *collector) bad(column int, got, want string) error {
	return &fiolog.SyntaxError{File: c.file, Line: max(c.line, 1), Column: column, Got: got, Want: want}
}

// longestLine is the longest line that is read.
const longestLine = 16 << 20

// endOfLines returns the error that ended the reading of lines.
func (c *collector) endOfLines(err error) error {
	if c.line++; errors.Is(err, bufio.ErrTooLong) {
		return c.bad(1, "a line of more than 16 MB", "a histogram")
	}
	return err
}

// quote returns the beginning of a text in quotes.
func quote[T string | []byte](text T) string { return fmt.Sprintf("%.24q", text) }

// scale returns how many nanoseconds a value of the file has, if it does not say its unit.
func (c *collector) scale() (float64, error) {
	if c.Unit == "" {
		return 0, c.bad(1, "values without a unit",
			"--values-in ns, us, ms or s: programs write nanoseconds as well as microseconds (YCSB, wrk2), and nothing in the file tells them apart")
	}
	return Units[c.Unit], nil
}

// layoutFor returns the layout for values of a unit, which reaches to six days, so that all real latencies have a bin with
// both edges. Bins of HdrHistogram with 2 to 5 digits lie within its bins.
func layoutFor(unit string) hist.Layout {
	of, groups := hist.Nanoseconds, 44
	if unit == "us" {
		of, groups = hist.Microseconds, 34
	}
	l, err := hist.NewLayout(of, groups, 0)
	if err != nil {
		panic(err)
	}
	return l
}

// run returns the run with a name in an archive.
func (c *collector) run(info mapping.RunInfo) *Run {
	key := [3]string{info.ID, info.Archive, info.Name}
	r := c.byName[key]
	if r == nil {
		r = &Run{Info: info}
		c.byName[key], c.runs = r, append(c.runs, r)
	}
	return r
}

// add adds a window with a host, a job, a direction, a start and an end, and its requests.
func (c *collector) add(r *Run, w window.Window, requests *hist.Histogram) error {
	if requests.Total() > hist.MaxCount {
		return c.bad(1, fmt.Sprintf("%.4g requests", requests.Total()), "at most 2^53")
	}
	if w.End.Before(w.Start) || w.Length() > 100*365*24*time.Hour {
		return c.bad(1, fmt.Sprintf("a window from %s to %s", w.Start, w.End), "one that ends after its start, and within a century")
	}
	w.Counts, w.Layout, w.Latency = requests.Bins(), requests.Layout(), mapping.Figures(requests)
	w.Completed, w.Weight = int64(requests.Total()), requests.Total()
	const bytesOfWindow, bytesOfBin = 1 << 10, 16
	if err := c.Budget.Hold(int64(bytesOfWindow + bytesOfBin*len(w.Counts))); err != nil {
		return err
	}
	r.Windows = append(r.Windows, &w)
	return nil
}

// end puts the windows of each run in order, and sets what only all of them show.
func (c *collector) end() ([]*Run, error) {
	c.runs = slices.DeleteFunc(c.runs, func(r *Run) bool { return len(r.Windows) == 0 })
	for _, r := range c.runs {
		slices.SortStableFunc(r.Windows, func(a, b *window.Window) int { return a.Start.Compare(b.Start) })
		var lengths []int64
		for _, w := range r.Windows {
			lengths = append(lengths, w.Length().Milliseconds())
			if w.End.After(r.Info.End) {
				r.Info.End = w.End
			}
		}
		slices.Sort(lengths)
		if r.IntervalMS = max(lengths[len(lengths)/2], 1); r.IntervalMS > 50 { // windows end some milliseconds late
			r.IntervalMS = (r.IntervalMS + 25) / 50 * 50
		}
		if first := r.Windows[0].Start; !unit.IsKnown(r.Info.Start) && unit.IsKnown(first) || first.Before(r.Info.Start) {
			r.Info.Start = first
		}
		off := func(w *window.Window) time.Duration {
			return (w.Length() - time.Duration(r.IntervalMS)*time.Millisecond).Abs()
		}
		// Where a window of usual length begins; the first and the last may be shorter.
		usual := slices.MinFunc(r.Windows, func(a, b *window.Window) int { return cmp.Compare(off(a), off(b)) })
		phase := usual.Start.Sub(r.Info.Start).Milliseconds() % r.IntervalMS
		hasDirections := !slices.ContainsFunc(r.Windows, func(w *window.Window) bool { return w.Direction == mapping.AllDirections })
		for _, w := range r.Windows {
			w.Run = &r.Info
			// Windows of hosts begin some milliseconds apart, and all have their middles in one interval.
			middle := w.StartMS() + w.Length().Milliseconds()/2
			w.ElapsedMS = max((middle-phase+r.IntervalMS)/r.IntervalMS*r.IntervalMS-r.IntervalMS+phase, 0)
			w.ToMS = r.Info.End.Sub(r.Info.Start).Milliseconds()
			if !hasDirections && w.Direction != mapping.AllDirections {
				w.Job, w.Direction = cmp.Or(w.Job, w.Direction), mapping.AllDirections
			}
		}
	}
	if len(c.runs) == 0 {
		return nil, c.bad(1, "no histograms", "at least one")
	}
	return c.runs, nil
}
