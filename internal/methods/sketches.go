package methods

import (
	"time"

	"github.com/DataDog/sketches-go/ddsketch"
	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/caio/go-tdigest/v4"
)

// sketch is what a method keeps of the requests of one window, or of the whole run.
type sketch interface {
	add(part)
	percentiles(qs []float64) []float64 // in nanoseconds, of quantiles from 0 to 1; called once, after add
	size() int64                        // bytes when it is stored, after percentiles
}

// hdrHistogram is HdrHistogram from 1 ns to an hour. Its text is compressed.
type hdrHistogram struct{ *hdr.Histogram }

func newHDR() sketch { return hdrHistogram{hdr.New(1, time.Hour.Nanoseconds(), 3)} }

func (h hdrHistogram) add(p part) { _ = h.RecordValue(min(p.ns, time.Hour.Nanoseconds())) } // fails only beyond its range

func (h hdrHistogram) percentiles(qs []float64) (list []float64) {
	for _, q := range qs {
		list = append(list, float64(h.ValueAtPercentile(100*q)))
	}
	return list
}

func (h hdrHistogram) size() int64 {
	text, _ := h.EncodeV2() // fails only if memory cannot be written
	return int64(len(text))
}

// ddSketch is a DDSketch with a relative error of 1 %.
type ddSketch struct{ *ddsketch.DDSketch }

func newDDSketch() sketch {
	s, err := ddsketch.NewDefaultDDSketch(0.01)
	if err != nil {
		panic(err) // the constant is not between 0 and 1
	}
	return ddSketch{s}
}

func (s ddSketch) add(p part) { _ = s.Add(float64(p.ns)) } // fails only below 0 and far above an int64

func (s ddSketch) percentiles(qs []float64) []float64 {
	list, _ := s.GetValuesAtQuantiles(qs) // fails only without requests
	return list
}

func (s ddSketch) size() int64 {
	var b []byte
	s.Encode(&b, false)
	return int64(len(b))
}

// tDigest is a t-digest of compression 100. It has its own random numbers, so that the same requests give the same answer.
type tDigest struct{ *tdigest.TDigest }

func newTDigest() sketch {
	t, err := tdigest.New(tdigest.Compression(100), tdigest.LocalRandomNumberGenerator(1))
	if err != nil {
		panic(err) // the constant is not above 1
	}
	return tDigest{t}
}

func (t tDigest) add(p part) { _ = t.Add(float64(p.ns)) } // fails only for NaN and infinity

func (t tDigest) percentiles(qs []float64) (list []float64) {
	for _, q := range qs {
		list = append(list, t.Quantile(q))
	}
	return list
}

func (t tDigest) size() int64 {
	b, _ := t.AsBytes() // fails only if memory cannot be written
	return int64(len(b))
}
