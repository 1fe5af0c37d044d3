package export

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bounded is a reader that fails where a record of CSV does not end.
type bounded struct {
	io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, bufio.ErrTooLong
	}
	n, err := b.Reader.Read(p)
	b.left -= n
	return n, err
}

// readCSV reads a line for each window and bin. Lines of one window follow one another.
func readCSV(c *collector, in io.Reader) error {
	limited := &bounded{Reader: in}
	lines := csv.NewReader(limited)
	lines.ReuseRecord = true
	var header []string
	var open, line object // the window so far, and the last line
	var low, high, count int64
	texts := map[string]*string{
		"run": &line.Run, "archive": &line.Archive, "name": &line.Name, "host": &line.Host, "job": &line.Job,
		"direction": &line.Direction, "layout": &line.Layout,
	}
	numbers := map[string]*int64{"start_ms": &line.StartMS, "end_ms": &line.EndMS, "low_ns": &low, "high_ns": &high, "count": &count}
	times := map[string]*time.Time{"start": &line.Start, "end": &line.End}
	for {
		limited.left = longestLine
		record, err := lines.Read()
		if syntax := (*csv.ParseError)(nil); errors.As(err, &syntax) {
			c.line = syntax.Line
			return c.bad(max(syntax.Column, 1), syntax.Err.Error(), fmt.Sprintf("a line of CSV with %d fields", len(header)))
		}
		if err != nil && err != io.EOF {
			return c.endOfLines(err)
		}
		if err == io.EOF && len(open.Low) == 0 {
			return nil
		}
		if err == io.EOF {
			return c.addObject(&open)
		}
		c.line, _ = lines.FieldPos(0)
		if header == nil {
			header = slices.Clone(record)
			for _, name := range []string{"direction", "start_ms", "end_ms", "low_ns", "high_ns", "count"} {
				if !slices.Contains(header, name) {
					return c.bad(1, quote(strings.Join(header, ",")), "a column "+name)
				}
			}
			continue
		}
		line = object{}
		isOpen := false // the bin has no upper end
		for i, text := range record {
			name, want := header[i], ""
			switch to, number, moment := texts[name], numbers[name], times[name]; {
			case to != nil:
				*to = text
			case name == "high_ns" && text == "":
				isOpen = true
			case number != nil:
				*number, err = strconv.ParseInt(text, 10, 64)
				want = "a whole number for " + name
			case moment != nil && text != "":
				*moment, err = time.Parse(time.RFC3339, text)
				want = "a time such as 2026-01-31T09:12:00Z"
			}
			if err != nil {
				var column int
				c.line, column = lines.FieldPos(i)
				return c.bad(column, quote(text), want)
			}
		}
		if len(open.Low) > 0 && (open.names != line.names || open.StartMS != line.StartMS || open.EndMS != line.EndMS) {
			if err := c.addObject(&open); err != nil {
				return err
			}
			open = object{}
		}
		if len(open.Low) == 0 {
			open = line
		}
		open.Low, open.High, open.Count = append(open.Low, low), append(open.High, nil), append(open.Count, count)
		if end := high; !isOpen {
			open.High[len(open.High)-1] = &end
		}
	}
}
