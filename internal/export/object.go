package export

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// names say whose a window is.
type names struct {
	Run       string `json:"run"`
	Archive   string `json:"archive"`
	Name      string `json:"name"`
	Host      string `json:"host"`
	Job       string `json:"job"`
	Direction string `json:"direction"`
	Layout    string `json:"layout"`
}

// object is a line of JSON with a window and its bins.
type object struct {
	names
	StartMS int64     `json:"start_ms"`
	EndMS   int64     `json:"end_ms"`
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`

	Low   []int64  `json:"low_ns"`
	High  []*int64 `json:"high_ns"`
	Count []int64  `json:"count"`
}

// isBins reports whether a text begins like CSV or JSON with bins.
func isBins(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	has := func(name string) bool { return bytes.Contains(line, []byte(name)) }
	return has("low_ns") && has("count") || len(line) == len(head) && has(`"low_ns"`)
}

// readBins reads CSV or lines of JSON.
func readBins(c *collector, in io.Reader) error {
	buffered := bufio.NewReader(in)
	if first, err := buffered.Peek(1); err == nil && first[0] != '{' {
		return readCSV(c, buffered)
	}
	lines := bufio.NewScanner(buffered)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		c.line++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var o object
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			at := int64(0)
			if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
				at = syntax.ByteOffset
			} else if semantic := (*json.SemanticError)(nil); errors.As(err, &semantic) {
				at = semantic.ByteOffset
			}
			return c.bad(int(at)+1, strings.ReplaceAll(err.Error(), "\n", " "), "an object with start, end, direction, and low_ns, high_ns and count")
		}
		if err := c.addObject(&o); err != nil {
			return err
		}
	}
	return c.endOfLines(lines.Err())
}

// addObject adds the window of an object.
func (c *collector) addObject(o *object) error {
	requests, err := c.binsOf(o)
	if err != nil {
		return err
	}
	info := mapping.RunInfo{ID: o.Run, Archive: o.Archive, Name: o.Name}
	if info.Name == "" {
		info.Name = filepath.Base(c.file)
	}
	r := c.run(info)
	const most = 100 * 365 * 24 * 3600 * 1000
	if max(math.Abs(float64(o.StartMS)), math.Abs(float64(o.EndMS))) > most || o.Start.IsZero() != o.End.IsZero() {
		return c.bad(1, fmt.Sprintf("start_ms %d, end_ms %d, start %s, end %s", o.StartMS, o.EndMS, o.Start, o.End), "both times, within a century")
	}
	w := window.Window{Host: o.Host, Job: o.Job, Direction: strings.ToLower(o.Direction), Start: o.Start, End: o.End}
	if o.Start.IsZero() {
		w.Start, w.End = fromSeconds(o.Start, float64(o.StartMS)/1000), fromSeconds(o.Start, float64(o.EndMS)/1000)
	} else if r.Info.Start.IsZero() {
		r.Info.Start = o.Start.Add(-time.Duration(o.StartMS) * time.Millisecond)
	}
	if !slices.Contains(mapping.Directions[:], w.Direction) {
		w.Direction = mapping.AllDirections
	}
	return c.add(r, w, requests)
}

// binsOf returns the requests of an object.
func (c *collector) binsOf(o *object) (*hist.Histogram, error) {
	h := hist.New(layoutFor("ns"))
	if o.Layout != "" {
		layout, err := mapping.ParseLayout(o.Layout)
		if err != nil {
			return nil, c.bad(1, "layout "+quote(o.Layout), "a layout of fio's bins such as fio3/0")
		}
		h = hist.New(layout)
	}
	if len(o.Low) != len(o.High) || len(o.Low) != len(o.Count) {
		return nil, c.bad(1, fmt.Sprintf("%d, %d and %d values", len(o.Low), len(o.High), len(o.Count)), "as many of low_ns, high_ns and count")
	}
	for i, low := range o.Low {
		high, n := int64(math.MaxInt64), o.Count[i]
		if o.High[i] != nil {
			high = *o.High[i]
		}
		if low < 0 || high <= low || n < 0 || n > hist.MaxCount {
			return nil, c.bad(1, fmt.Sprintf("%d requests of %d to %d ns", n, low, high), "0 or more, at most 2^53, and edges in order")
		}
		switch at := h.Layout().Index(low); {
		case o.Layout == "" && o.High[i] != nil:
			h.AddBetween(float64(low), float64(high), uint64(n))
		case o.Layout == "":
			return nil, c.bad(1, fmt.Sprintf("a bin from %d ns on without an end", low), "high_ns, or the layout of fio's bins")
		default:
			if from, to := h.Layout().Bounds(at); from != low || to != high && o.High[i] != nil || o.High[i] == nil && !h.Layout().Open(at) {
				return nil, c.bad(1, fmt.Sprintf("a bin from %d to %d ns", low, high), fmt.Sprintf("one of %s, such as %d to %d ns", o.Layout, from, to))
			}
			h.AddAt(at, float64(n))
		}
	}
	return h, nil
}
