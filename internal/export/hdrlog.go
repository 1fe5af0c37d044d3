package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// ErrOneRun means that a second run was written to an HdrHistogram log.
var ErrOneRun = errors.New("an HdrHistogram log has one run")

// HDRLog writes an interval log of HdrHistogram.
type HDRLog struct {
	w     *bufio.Writer
	start time.Time // times in the log count from here
	begun bool
	enc   hdrEncoder
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
	text, highest, err := l.enc.encode(requests)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.w, "Tag=%s,%.3f,%.3f,%.3f,", hdrTag(w), w.Start.Sub(l.start).Seconds(), w.Length().Seconds(), float64(highest)/1e6)
	l.w.Write(text)
	return l.w.WriteByte('\n')
}

// Close writes what is buffered.
func (l *HDRLog) Close() error { return l.w.Flush() }

// hdrTag returns the tag of windows of one host, job and direction.
func hdrTag(w *window.Window) string {
	var tag strings.Builder
	for _, name := range []string{w.Host, w.Job} {
		if name != "" {
			escapeTag(&tag, name)
			tag.WriteByte('/')
		}
	}
	tag.WriteString(w.Direction)
	return tag.String()
}

func escapeTag(to *strings.Builder, name string) {
	for i := range len(name) {
		c := name[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~:+@", c) >= 0 {
			to.WriteByte(c)
			continue
		}
		fmt.Fprintf(to, "%%%02X", c)
	}
}
