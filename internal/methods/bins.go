package methods

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/fio2es/fio2es/hist"
)

// LogBins are bins of equal ratio: PerDecade for each power of ten, from Lowest to Highest. What is beyond counts in the
// first or the last bin.
type LogBins struct {
	PerDecade       int
	Lowest, Highest time.Duration
}

// logBins counts in [LogBins], also fractions of requests. Within a bin the logarithms of latencies are evenly spread.
type logBins struct {
	LogBins
	counts []float64
}

func (l LogBins) new() sketch {
	bins := math.Ceil(math.Log10(float64(l.Highest)/float64(l.Lowest))*float64(l.PerDecade) - 1e-9)
	return &logBins{l, make([]float64, max(int(bins), 1))}
}

func (l *logBins) add(p part) {
	bin := int(math.Floor(math.Log10(max(float64(p.ns), 1)/float64(l.Lowest)) * float64(l.PerDecade)))
	l.counts[min(max(bin, 0), len(l.counts)-1)] += p.weight
}

func (l *logBins) percentiles(qs []float64) (list []float64) {
	sum := 0.0
	for _, n := range l.counts {
		sum += n
	}
	for _, q := range qs {
		before, bin := 0.0, 0
		for bin < len(l.counts)-1 && before+l.counts[bin] < q*sum {
			before += l.counts[bin]
			bin++
		}
		at := float64(bin) + min((q*sum-before)/max(l.counts[bin], math.SmallestNonzeroFloat64), 1)
		list = append(list, float64(l.Lowest)*math.Pow(10, at/float64(l.PerDecade)))
	}
	return list
}

func (l *logBins) size() (bytes int64) {
	for _, n := range l.counts {
		bytes += sizeOfBin(n)
	}
	return bytes
}

// fioBins counts in fio's finest bins with the code of fio2es.
type fioBins struct{ *hist.Histogram }

func newFioBins() sketch { return fioBins{hist.New(hist.Fio3(0))} }

func (f fioBins) add(p part) { f.AddLatency(p.ns, p.weight) }

func (f fioBins) percentiles(qs []float64) (list []float64) {
	for _, a := range f.Percentiles(qs...) {
		list = append(list, a.Value)
	}
	return list
}

func (f fioBins) size() (bytes int64) {
	for _, n := range f.All() {
		bytes += sizeOfBin(n)
	}
	return bytes
}

// sizeOfBin is the number of bytes in which a bin can be stored: two for its number, and a whole count as a varint, or a
// fraction as a float64. A bin without requests is not stored.
func sizeOfBin(n float64) int64 {
	switch {
	case n == 0:
		return 0
	case n == math.Trunc(n):
		return 2 + int64(len(binary.AppendUvarint(nil, uint64(n))))
	}
	return 2 + 8
}
