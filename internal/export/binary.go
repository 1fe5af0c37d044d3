package export

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// binaryMagic is how a file in the binary form begins. The 1 is its version.
const binaryMagic = "fio2es windows 1\n"

// series is what windows of the binary form have in common.
type series struct {
	names
	Level string    `json:"level"`
	Start time.Time `json:"start,omitzero"` // of the run; zero if it is not known
}

// Binary writes windows in the binary form.
type Binary struct {
	w      *bufio.Writer
	series map[series]uint64 // their numbers, from 1
	before int64             // start of the last window
}

// NewBinary returns a writer to w.
func NewBinary(w io.Writer) *Binary {
	b := &Binary{w: bufio.NewWriter(w), series: map[series]uint64{}}
	b.w.WriteString(binaryMagic)
	return b
}

// Begin implements [Writer].
func (b *Binary) Begin(*mapping.RunInfo, bool) error { return nil }

// Add writes the record of a window, after that of its series if this is its first one.
func (b *Binary) Add(w *window.Window, requests *hist.Histogram) error {
	run := w.Run
	of := series{names: names{run.ID, run.Archive, run.Name, w.Host, w.Job, w.Direction, mapping.LayoutName(requests.Layout())}, Level: w.LevelName()}
	if unit.IsKnown(run.Start) {
		of.Start = run.Start.UTC()
	}
	number := b.series[of]
	if number == 0 {
		text, err := json.Marshal(of, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		number = uint64(len(b.series) + 1)
		b.series[of] = number
		if err := b.record(append([]byte{0}, text...)); err != nil {
			return err
		}
	}
	start := w.StartMS()
	record := binary.AppendUvarint(nil, number)
	record = binary.AppendVarint(record, start-b.before)
	record = binary.AppendUvarint(record, uint64(w.EndMS()-start))
	b.before = start
	return b.record(appendBins(record, requests))
}

func (b *Binary) record(bytes []byte) error {
	_, err := b.w.Write(append(binary.AppendUvarint(nil, uint64(len(bytes))), bytes...))
	return err
}

// Close writes what is buffered.
func (b *Binary) Close() error { return b.w.Flush() }

// appendBins appends a pair of varints for each bin with requests: its index less that of the bin before, and its count.
func appendBins(to []byte, requests *hist.Histogram) []byte {
	last := 0
	for i, n := range requests.All() {
		to = binary.AppendUvarint(to, uint64(i-last))
		to = binary.AppendUvarint(to, uint64(math.Round(n)))
		last = i
	}
	return to
}

// addBins adds what appendBins appended.
func addBins(to *hist.Histogram, bins []byte) error {
	for index := uint64(0); len(bins) > 0; {
		gap, count := uvarint(&bins), uvarint(&bins)
		if index += gap; gap >= uint64(to.Layout().Len()) || index >= uint64(to.Layout().Len()) || count > hist.MaxCount {
			return fmt.Errorf("%d requests in bin %d", count, index)
		}
		to.AddAt(int(index), float64(count))
	}
	return nil
}

// uvarint cuts a varint from the front of b. What is damaged or above [hist.MaxCount] is one more than that.
func uvarint(b *[]byte) uint64 {
	n, size := binary.Uvarint(*b)
	if size <= 0 {
		n, size = math.MaxUint64, len(*b)
	}
	*b = (*b)[size:]
	return min(n, hist.MaxCount+1)
}

// isBinary reports whether a text begins like the binary form.
func isBinary(head []byte) bool { return bytes.HasPrefix(head, []byte(binaryMagic)) }

// readBinary reads the binary form.
func readBinary(c *collector, in io.Reader) error {
	from := bufio.NewReader(in)
	if _, err := from.Discard(len(binaryMagic)); err != nil {
		return err
	}
	type ofLayout struct {
		series
		hist.Layout
	}
	var all []ofLayout
	start := int64(0)
	for c.line = 1; ; c.line++ { // the number of the record
		head, err := from.Peek(binary.MaxVarintLen64 + 1)
		if len(head) == 0 && err == io.EOF {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		size, n := binary.Uvarint(head)
		if n < 0 || size > longestLine {
			return c.bad(1, quote(head), "the length of a record, at most 16 MB")
		}
		record := make([]byte, size)
		if err = io.ErrUnexpectedEOF; n > 0 {
			from.Discard(n) // they were peeked
			_, err = io.ReadFull(from, record)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return c.bad(1, "the end of the file within a record", "a record as long as it says")
		}
		if err != nil {
			return err
		}
		number := uvarint(&record)
		if number == 0 {
			var s series
			err := json.Unmarshal(record, &s)
			layout, noLayout := mapping.ParseLayout(s.Layout)
			if err = cmp.Or(err, noLayout); err != nil {
				return c.bad(1, quote(record)+" ("+err.Error()+")", "a series in JSON with a layout of fio's bins such as fio3/0")
			}
			if err := c.Budget.Hold(int64(size)); err != nil {
				return err
			}
			all = append(all, ofLayout{s, layout})
			continue
		}
		if number > uint64(len(all)) {
			return c.bad(1, fmt.Sprintf("a window of series %d", number), fmt.Sprintf("one of the %d series before it", len(all)))
		}
		s := all[number-1]
		later, n := binary.Varint(record)
		record = record[max(n, 0):]
		start += later
		o, requests := &object{names: s.names, StartMS: start, EndMS: start + int64(uvarint(&record))}, hist.New(s.Layout)
		if !s.Start.IsZero() {
			o.Start = s.Start.Add(time.Duration(o.StartMS) * time.Millisecond)
			o.End = s.Start.Add(time.Duration(o.EndMS) * time.Millisecond)
		}
		if err := addBins(requests, record); err != nil {
			return c.bad(1, err.Error(), "bins of "+s.names.Layout)
		}
		if err := c.addWindow(o, requests); err != nil {
			return err
		}
	}
}
