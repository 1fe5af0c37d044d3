package mapping

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

// Why a document is refused.
var (
	ErrIdentity   = errors.New("document lacks a part of its identity")
	ErrTime       = errors.New("time cannot be written as RFC 3339")
	ErrNumber     = errors.New("number is negative, infinite or none")
	ErrSize       = errors.New("document is too large to be stored")
	ErrUnreadable = errors.New("document could not be read again")
	ErrBins       = errors.New("not a histogram")
	ErrCountLimit = errors.New("count above 2^31-1, which Elasticsearch refuses")
	ErrDocCount   = errors.New("_doc_count is not the sum of the counts")
)

// Check fails if the document is wrong: with [ErrIdentity], [ErrTime], [ErrNumber], [ErrBins], [ErrCountLimit] (see
// [Interval.Split]) or [ErrDocCount]. Stores refuse such a document.
func (d *Interval) Check() error {
	field, err := "", error(nil)
	switch {
	case d.Run.ID == "":
		field, err = RunField, ErrIdentity
	case d.Run.Ingest == "":
		field, err = IngestField, ErrIdentity
	case !d.Level.isKnown():
		field, err = LevelField, ErrIdentity
	case d.Fio.Direction == "":
		field, err = DirectionField, ErrIdentity
	case d.Part < 0:
		field, err = PartField, ErrIdentity
	case !isTime(d.Time) || !isTime(d.Window.End) || !isTime(d.Run.Start):
		field, err = "times", ErrTime
	case d.Window.MS < 0:
		field, err = LengthField, ErrNumber
	case d.Requests.Completed < 0 || !isSize(d.Requests.Weight):
		field, err = "requests", ErrNumber
	case !isSize(d.IOPS):
		field, err = "iops", ErrNumber
	default:
		if field, err = "latency", d.Latency.check(); err != nil {
			break
		}
		if field = "_doc_count"; d.DocCount != d.Latency.Bins.Total() {
			err = ErrDocCount
		} else if d.DocCount > MaxCount {
			err = ErrCountLimit
		}
	}
	if err != nil {
		return fmt.Errorf("check interval %d ms of run %q: %s: %w", d.Window.ElapsedMS, d.Run.ID, field, err)
	}
	return nil
}

// Check fails if the document is wrong: with [ErrIdentity], [ErrTime], [ErrNumber], [ErrBins],
// [ErrCountLimit], [ErrSize] or [ErrUnreadable]. It encodes the document and decodes it again.
func (r *Run) Check() error {
	switch {
	case r.Run.ID == "" || r.Run.Ingest == "":
		return fmt.Errorf("check run %q, ingest %q: %w", r.Run.ID, r.Run.Ingest, ErrIdentity)
	case !isTime(r.Run.Start) || !isTime(r.Run.End) || !isTime(r.Run.Compacted.At) || !isTime(r.Ingested):
		return fmt.Errorf("check run %q: %w", r.Run.ID, ErrTime)
	}
	if slices.ContainsFunc(r.Levels, func(l Level) bool { return !l.isKnown() }) {
		return fmt.Errorf("check run %q: levels: %w", r.Run.ID, ErrIdentity)
	}
	for _, d := range append([]DirectionTotals{{AllDirections, r.All}}, r.ByDirection()...) {
		if err := d.check(); err != nil {
			return fmt.Errorf("check run %q: totals %q: %w", r.Run.ID, d.Direction, err)
		}
	}
	text := r.AppendJSON(nil)
	if len(text) > MaxRunBytes {
		return fmt.Errorf("check run %q: %d bytes, at most %d are read: %w", r.Run.ID, len(text), MaxRunBytes, ErrSize)
	}
	if err := json.Unmarshal(text, new(Run)); err != nil {
		return fmt.Errorf("check run %q: %w: %w", r.Run.ID, ErrUnreadable, err)
	}
	return nil
}

// MaxRunBytes is the largest size of a run document in bytes. Elasticsearch accepts requests of up to 100 MB, and every
// store can read smaller documents.
const MaxRunBytes = 64 << 20

func (t *Totals) check() error {
	if t == nil {
		return nil
	}
	for _, f := range [...]float64{float64(t.Requests), float64(t.Bytes), t.IOPS, t.Bandwidth, t.Sums.IOPS, t.Sums.Bandwidth} {
		if !isSize(f) {
			return ErrNumber
		}
	}
	if err := t.Latency.check(); err != nil || t.Fio == nil {
		return err
	}
	f := t.Fio
	numbers := []float64{f.Min, f.Mean, f.Max, f.StdDev, f.Step, f.PercentileStep}
	for _, p := range f.Percentiles {
		if !(p.Rank >= 0 && p.Rank <= 100) {
			return fmt.Errorf("fio's percentile of rank %v: %w", p.Rank, ErrNumber)
		}
		numbers = append(numbers, p.Value)
	}
	for _, v := range numbers {
		if !isSize(v) {
			return fmt.Errorf("fio's own figures: %w", ErrNumber)
		}
	}
	return nil
}

func (lat *Latency) check() error {
	if !isSize(lat.StdDev) {
		return ErrNumber
	}
	hasOthers := lat.StdDev != 0
	for _, f := range lat.figures() {
		if !isSize(*f) {
			return ErrNumber
		}
		hasOthers = hasOthers || *f != 0 && f != &lat.Mean
	}
	values, counts := lat.Bins.Values, lat.Bins.Counts
	if lat.Layout == "" && len(values) == 0 && hasOthers {
		return fmt.Errorf("percentiles without the layout of their bins: %w", ErrBins)
	}
	if len(values) != len(counts) {
		return fmt.Errorf("%d values, %d counts: %w", len(values), len(counts), ErrBins)
	}
	last := 0.0
	for i, v := range values {
		n := counts[i]
		err := ErrBins // a value below the one before, or a count below 1
		switch {
		case v >= last && v <= math.MaxFloat64 && n >= 1 && n <= MaxCount:
			last = v
			continue
		case !isSize(v):
			err = ErrNumber
		case v >= last && n > MaxCount:
			err = ErrCountLimit
		}
		return fmt.Errorf("bin %d has value %v and count %d: %w", i, v, n, err)
	}
	return nil
}

// Split returns the document itself or, if it has too many requests ([ErrCountLimit]), several documents with numbered
// parts. Their counts, requests and iops add up to those of the document. Each part has the percentiles, mean, minimum
// and maximum of the whole document.
func (d *Interval) Split() []*Interval {
	total := d.Latency.Bins.Total()
	if err := d.Latency.check(); total <= MaxCount || err != nil && !errors.Is(err, ErrCountLimit) {
		return []*Interval{d} // nothing to split, or another error
	}
	var pieces []Bins // of MaxCount requests, and one with the rest
	piece, room := Bins{}, int64(MaxCount)
	for i, left := range d.Latency.Bins.Counts {
		for left > 0 {
			n := min(left, room)
			piece.Values, piece.Counts = append(piece.Values, d.Latency.Bins.Values[i]), append(piece.Counts, n)
			left, room = left-n, room-n
			if room == 0 {
				pieces, piece, room = append(pieces, piece), Bins{}, MaxCount
			}
		}
	}
	if !piece.IsZero() {
		pieces = append(pieces, piece)
	}
	var parts []*Interval
	cum := int64(0)
	for _, bins := range pieces {
		p := *d
		p.Part, p.Latency.Bins, p.DocCount = len(parts), bins, bins.Total()
		before, after := float64(cum)/float64(total), float64(cum+p.DocCount)/float64(total)
		p.Requests.Completed = share(d.Requests.Completed, cum+p.DocCount, total) - share(d.Requests.Completed, cum, total)
		p.Requests.Weight = d.Requests.Weight*after - d.Requests.Weight*before
		p.IOPS = d.IOPS*after - d.IOPS*before
		cum += p.DocCount
		parts = append(parts, &p)
	}
	return parts
}

// share returns n*part/total without overflow, for 0 <= part <= total.
func share(n, part, total int64) int64 {
	if n < 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(total))
	return int64(q)
}

// isSize reports whether f is a finite number that is not negative.
func isSize(f float64) bool { return f >= 0 && f <= math.MaxFloat64 }

func isTime(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 0 && year <= 9999
}
