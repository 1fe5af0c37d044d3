package export

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// packedWindow is a window in about three bytes for each bin. The points of a series must be written together, and
// bounds depend on the coarsest layout. So windows are kept until the run ends: a day of one-second windows takes
// about 100 MB for each series.
type packedWindow struct {
	start, end time.Time
	layout     hist.Layout
	bins       []byte // for each bin: its index less that of the bin before, and its count
}

func pack(w *window.Window, requests *hist.Histogram) packedWindow {
	p := packedWindow{start: w.Start, end: w.End, layout: requests.Layout()}
	last, buf := 0, make([]byte, 0, 1024)
	for i, n := range requests.All() {
		buf = binary.AppendUvarint(buf, uint64(i-last))
		buf = binary.AppendUvarint(buf, uint64(math.Round(n)))
		last = i
	}
	p.bins = slices.Clone(buf) // without spare capacity
	return p
}

func (p *packedWindow) addTo(sum *hist.Histogram) {
	window, index := hist.New(p.layout), 0
	for b := p.bins; len(b) > 0; {
		gap, size := binary.Uvarint(b)
		n, more := binary.Uvarint(b[size:])
		index += int(gap)
		window.AddAt(index, float64(n))
		b = b[size+more:]
	}
	sum.Merge(window)
}
