package mapping

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Encoded is an interval document as it is sent.
type Encoded struct {
	Level       Level
	Run, Ingest string    // run.id and run.ingest
	Start       time.Time // of the run
	ID          string
	JSON        []byte // one line without its end
}

// Index is the name of the index that the document belongs into.
func (e *Encoded) Index(prefix string) string { return LatencyIndex(prefix, e.Level, e.Start) }

// Before and after the place in the JSON where AppendCompact has left out the bins.
const (
	beforeBins = `,"latency":{`
	afterBins  = `"layout":"`
)

// AppendWire appends the JSON of what [Interval.AppendCompact] wrote, the same bytes as
// the document's AppendJSON, without decoding the document: many times faster. It fails
// when compact is anything else.
func AppendWire(dst, compact []byte) ([]byte, error) {
	length, size := binary.Uvarint(compact)
	if size <= 0 || length > uint64(len(compact)-size) {
		return dst, fmt.Errorf("read compact interval: length of JSON: %w", ErrBins)
	}
	text, rest := compact[size:size+int(length)], compact[size+int(length):]
	n, size := binary.Uvarint(rest)
	if size <= 0 || n > uint64(len(rest)) {
		return dst, fmt.Errorf("read compact interval: number of bins: %w", ErrBins)
	}
	if n == 0 {
		return append(dst, text...), nil
	}
	// Quotes within strings are escaped: this is found nowhere else.
	at := bytes.Index(text, []byte(beforeBins+afterBins))
	if at < 0 {
		return dst, fmt.Errorf("read compact interval: no layout of bins: %w", ErrBins)
	}
	at += len(beforeBins)
	name, _, _ := bytes.Cut(text[at+len(afterBins):], []byte{'"'})
	dst = append(dst, text[:at]...)
	dst, err := appendWireBins(dst, rest[size:], int(n), string(name))
	if err != nil {
		return dst, fmt.Errorf("read compact interval: %w", err)
	}
	dst = append(dst, ',')
	return append(dst, text[at:]...), nil
}

// appendWireBins appends the histogram of n bins, which begin b.
func appendWireBins(dst, b []byte, n int, layout string) ([]byte, error) {
	l, err := parseLayout(layout)
	if err != nil {
		return dst, err
	}
	t, counts := tableOf(l), b
	dst = append(dst, `"histogram":{"values":[`...)
	index, from, to := uint64(0), 0, 0 // the bins from … to-1 are neighbours, and not appended yet
	for i := range n {
		gap, size := binary.Uvarint(b)
		count, more := binary.Uvarint(b[max(size, 0):])
		if index += gap; size <= 0 || more <= 0 || gap > math.MaxInt32 || index >= uint64(len(t.values)) || count > math.MaxInt64 {
			return dst, fmt.Errorf("bin %d of %d: %w", i, n, ErrBins)
		}
		if int(index) != to {
			dst = t.append(dst, from, to)
			from, to = int(index), int(index)
		}
		to++
		b = b[size+more:]
	}
	dst = t.append(dst, from, to)
	small := smallNumbers()
	dst = append(closeList(dst), `,"counts":[`...)
	for range n { // all of which were read before
		_, size := binary.Uvarint(counts)
		count, more := binary.Uvarint(counts[size:])
		dst, counts = small.append(dst, int64(count)), counts[size+more:]
	}
	return append(closeList(dst), '}'), nil
}

// ElapsedIn is interval.elapsed_ms of a document's JSON, as this package writes it.
func ElapsedIn(text []byte) (int64, error) {
	// It stands before everything that users can choose names for.
	_, rest, ok := bytes.Cut(text, []byte(`"elapsed_ms":`))
	end := bytes.IndexAny(rest, ",}")
	if !ok || end < 0 {
		return 0, fmt.Errorf("read interval.elapsed_ms: %w", ErrTime)
	}
	n, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read interval.elapsed_ms: %w", ErrTime)
	}
	return n, nil
}
