package mapping

import (
	"bytes"
	"fmt"
	"iter"
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

// EncodeAll encodes documents one by one. Each is valid until the next one.
func EncodeAll(docs []*Interval) iter.Seq2[*Encoded, error] {
	return func(yield func(*Encoded, error) bool) {
		var e Encoded
		for _, d := range docs {
			e = Encoded{d.Level, d.Run.ID, d.Run.Ingest, d.Run.Start, d.ID(), d.AppendJSON(e.JSON[:0])}
			if !yield(&e, nil) {
				return
			}
		}
	}
}

// Index is the name of the index that the document belongs into.
func (e *Encoded) Index(prefix string) string { return LatencyIndex(prefix, e.Level, e.Start) }

// The texts before and after the place in the JSON where AppendCompact has left out the bins.
const (
	beforeBins = `,"latency":{`
	afterBins  = `"layout":"`
)

// AppendWire appends the JSON of a document in the form of [Interval.AppendCompact], the same
// bytes as the document's AppendJSON. It does not decode the document, which would take several
// times as long. It fails if compact is anything else.
func AppendWire(dst, compact []byte) ([]byte, error) {
	text, bins, n, err := cutCompact(compact)
	if err != nil || n == 0 {
		return append(dst, text...), err
	}
	// Quotes within strings are escaped, so this text is nowhere else.
	at := bytes.Index(text, []byte(beforeBins+afterBins))
	if at < 0 {
		return dst, fmt.Errorf("read compact interval: no layout of bins: %w", ErrBins)
	}
	at += len(beforeBins)
	name, _, _ := bytes.Cut(text[at+len(afterBins):], []byte{'"'})
	l, err := parseLayout(string(name))
	if err != nil {
		return dst, fmt.Errorf("read compact interval: %w", err)
	}
	var someIndexes [512]int
	var someCounts [512]int64
	indexes, counts, err := readCompactBins(bins, n, l.Len(), someIndexes[:0], someCounts[:0])
	if err != nil {
		return dst, err
	}
	dst = append(append(dst, text[:at]...), `"histogram":{"values":[`...)
	dst = append(closeWith(tableOf(l).append(dst, indexes), ']'), `,"counts":[`...)
	dst = append(closeWith(appendCounts(dst, counts), ']'), '}', ',')
	return append(dst, text[at:]...), nil
}

// ElapsedIn is interval.elapsed_ms of a document's JSON, as this package writes it.
func ElapsedIn(text []byte) (int64, error) {
	// It comes before all texts that users can choose.
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
