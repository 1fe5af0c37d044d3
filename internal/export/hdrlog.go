package export

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
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
		for _, c := range []byte(name) {
			if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~:+@", c) >= 0 {
				tag.WriteByte(c)
			} else {
				fmt.Fprintf(&tag, "%%%02X", c)
			}
		}
		if name != "" {
			tag.WriteByte('/')
		}
	}
	tag.WriteString(w.Direction)
	return tag.String()
}

// Cookies of HdrHistogram's encodings, version 2. 0x10 says that counts have a variable length. Readers ignore it,
// but with it base64 begins with HISTFAAA as in other implementations.
const (
	hdrCookie           = 0x1c849303 | 0x10
	hdrCompressedCookie = 0x1c849304 | 0x10

	hdrDigits = 3
	hdrLowest = 1

	hdrHalfBits = 10 // 3 digits need 2048 slots for the first values, and half as many for each further power of two
)

// hdrHighest returns the highest value of histograms with a layout, in nanoseconds: the end of its last bin, but at
// least that of released versions of fio.
func hdrHighest(l hist.Layout) uint64 { return uint64(max(l.Reach(), 1<<34)) - 1 }

// hdrSlot returns the slot of a value, and hdrBounds the lowest and the highest value of a slot. Each of the first
// 2048 slots has one value. Each further 1024 slots are twice as wide as those before.
func hdrSlot(v uint64) int {
	shift := max(bits.Len64(v)-1-hdrHalfBits, 0)
	return shift<<hdrHalfBits + int(v>>shift)
}

func hdrBounds(slot int) (low, high uint64) {
	shift := max(slot>>hdrHalfBits-1, 0)
	low = uint64(slot-shift<<hdrHalfBits) << shift
	return low, low + 1<<shift - 1
}

// hdrEncoder encodes histograms. It reuses its memory.
type hdrEncoder struct {
	plain, text []byte
	packed      bytes.Buffer
	deflate     *zlib.Writer
}

// encode returns the compressed histogram in base64, which is valid until the next call, and its highest value.
func (e *hdrEncoder) encode(h *hist.Histogram) (text []byte, highest uint64, err error) {
	e.plain, highest = appendHDR(e.plain[:0], h)
	e.packed.Reset()
	e.packed.Write(make([]byte, 8))
	if e.deflate == nil {
		e.deflate = zlib.NewWriter(&e.packed)
	} else {
		e.deflate.Reset(&e.packed)
	}
	_, err = e.deflate.Write(e.plain)
	if err := errors.Join(err, e.deflate.Close()); err != nil {
		return nil, 0, err
	}
	packed := e.packed.Bytes()
	binary.BigEndian.PutUint32(packed, hdrCompressedCookie)
	binary.BigEndian.PutUint32(packed[4:], uint32(len(packed)-8))
	e.text = base64.StdEncoding.AppendEncode(e.text[:0], packed)
	return e.text, highest, nil
}

// appendHDR appends the histogram without compression: a header, and the counts of all slots up to the last one that
// is not empty.
func appendHDR(dst []byte, h *hist.Histogram) (_ []byte, highest uint64) {
	order := binary.BigEndian
	dst = order.AppendUint32(dst, hdrCookie)
	dst = order.AppendUint32(dst, 0) // length of the counts, set below
	dst = order.AppendUint32(dst, 0) // offset of the first slot
	dst = order.AppendUint32(dst, hdrDigits)
	dst = order.AppendUint64(dst, hdrLowest)
	dst = order.AppendUint64(dst, hdrHighest(h.Layout()))
	dst = order.AppendUint64(dst, math.Float64bits(1)) // factor for values
	head, next := len(dst), 0
	layout := h.Layout()
	for i, n := range h.All() {
		count := int64(math.Round(n))
		if count == 0 {
			continue
		}
		slot := hdrSlot(uint64(layout.Middle(i)))
		if zeros := slot - next; zeros > 0 { // a run of zeros is written as its length, negative
			dst = binary.AppendVarint(dst, -int64(zeros))
		}
		// HdrHistogram's ninth byte differs from Go's varints. hist.MaxCount needs at most eight bytes.
		dst = binary.AppendVarint(dst, count)
		next = slot + 1
		_, highest = hdrBounds(slot)
	}
	order.PutUint32(dst[4:], uint32(len(dst)-head))
	return dst, highest
}
