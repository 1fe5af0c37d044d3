package export

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// inflate unpacks the histogram in a line of a log, as readers do.
func inflate(text string) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	if len(packed) < 8 || binary.BigEndian.Uint32(packed)&^0xf0 != 0x1c849304 || int(binary.BigEndian.Uint32(packed[4:])) != len(packed)-8 {
		return nil, errors.New("no compressed histogram of version 2, or of another length")
	}
	z, err := zlib.NewReader(bytes.NewReader(packed[8:]))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func layouts() (all []hist.Layout) {
	for c := range 7 {
		all = append(all, hist.Fio3(c), hist.Fio2(c))
		for _, groups := range []int{17, 24, 34, 47} {
			for _, unit := range []hist.Unit{hist.Nanoseconds, hist.Microseconds} {
				l, err := hist.NewLayout(unit, groups, c)
				if err != nil {
					panic(err)
				}
				all = append(all, l)
			}
		}
	}
	return all
}

// inHDR returns what a reader of a log sees of a histogram.
func inHDR(t rapid.TB, h *hist.Histogram) *hdrhistogram.Histogram {
	t.Helper()
	to := hdrhistogram.NewPacked(1, hdrHighest(h.Layout()), hdrDigits)
	err := to.RecordValue(1) // nothing of the last histogram must remain
	err = errors.Join(err, recordHDR(to, h))
	if err != nil {
		t.Fatal(err)
	}
	text, err := to.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := hdrhistogram.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// TestSlotInBin: each bin of each layout has its own slot of HdrHistogram, which lies within the bin. The values of the slot
// are as near to the bin's middle as the package comment says.
func TestSlotInBin(t *testing.T) {
	for _, l := range layouts() {
		h := hist.New(l)
		for i := range l.Real() {
			h.AddAt(i, 3)
		}
		i := 0
		for _, slot := range inHDR(t, h).Distribution() {
			if slot.Count == 0 {
				continue
			}
			if from, high := l.Bounds(i); slot.From < from || slot.To >= high || slot.Count != 3 {
				t.Fatalf("%v: bin %d, %d … %d ns, is slot %d … %d with %d", l, i, from, high, slot.From, slot.To, slot.Count)
			}
			for _, v := range []int64{slot.From, slot.To} {
				if added := math.Abs(float64(v) - l.Middle(i)); added >= max(1, float64(slot.From)/1024) {
					t.Fatalf("%v: bin %d with middle %v is read as %d", l, i, l.Middle(i), v)
				}
			}
			i++
		}
		if i != l.Real() {
			t.Fatalf("%v: %d slots of %d bins", l, i, l.Real())
		}
	}
}

// drawHistogram draws a histogram of whole counts that is not empty.
func drawHistogram(t *rapid.T) *hist.Histogram {
	l := rapid.SampledFrom(layouts()).Draw(t, "layout")
	h := hist.New(l)
	for range rapid.IntRange(1, 40).Draw(t, "bins") {
		h.AddAt(rapid.IntRange(0, l.Len()-1).Draw(t, "bin"), float64(rapid.OneOf(rapid.Int64Range(1, 9), rapid.Int64Range(1, 1<<47)).Draw(t, "count")))
	}
	return h
}

// TestHDRRoundTrip: hdrhistogram-go reads the exact counts, each within its bin. It finds each percentile in the bin
// in which package hist finds it.
func TestHDRRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistogram(t)
		read := inHDR(t, h)
		highest := read.Max()
		back := hist.New(h.Layout())
		for _, bar := range read.Distribution() {
			if bar.Count == 0 {
				continue
			}
			if bar.To > highest {
				t.Fatalf("%d is above the highest, %d", bar.To, highest)
			}
			if h.Layout().Index(bar.From) != h.Layout().Index(bar.To) {
				t.Fatalf("%d … %d is in two bins", bar.From, bar.To)
			}
			back.AddLatency(bar.To, float64(bar.Count))
		}
		if got, want := fmt.Sprint(back.Weights()), fmt.Sprint(h.Weights()); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
			at := h.Percentile(q)
			value := float64(valueAt(read.Distribution(), math.Max(math.Ceil(q*h.Total()), 1)))
			if h.Total() < 1e12 && (value < at.Low || value > at.High) { // above, q*N is not exact
				t.Fatalf("p%v is read as %v, but lies in %v … %v", q*100, value, at.Low, at.High)
			}
		}
	})
}

// valueAt returns the value of the request with a rank, as readers compute it.
func valueAt(bars []hdrhistogram.Bar, rank float64) int64 {
	sum := 0.0
	for _, bar := range bars {
		if sum += float64(bar.Count); sum >= rank {
			return bar.To
		}
	}
	return -1
}

// TestHDRKnown compares with a histogram encoded by HdrHistogram for Python 0.10.8 (its C code).
func TestHDRKnown(t *testing.T) {
	const known = "HISTFAAAAEF4nJNpmSzMwMCgwQABzFCaEcT+DwT2HyACTCyMN1i+MjY0NDAyczyX5ZLl2dsH4jUI3L3M2NQABgJ7eYUAe+MUuA=="
	h := hist.New(hist.Fio3(0))
	for _, c := range []struct {
		ns int64
		n  float64
	}{{0, 1}, {1, 2}, {3, 300}, {127, 1 << 20}, {130, 4}, {2047, 5}, {2048, 6}, {1e6, 1 << 31}, {9_876_543_210, 1<<52 + 1}, {20e9, 9}} {
		h.AddLatency(c.ns, c.n)
	}
	got := inHDR(t, h)
	want, err := hdrhistogram.Decode([]byte(known))
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equals(want) {
		t.Errorf("%v\nwant\n%v", got.Distribution(), want.Distribution())
	}
}

// TestHDRLog compares a log, with its histograms unpacked.
func TestHDRLog(t *testing.T) {
	var out bytes.Buffer
	writeAll(t, NewHDRLog(&out), runs()[:1])
	var text strings.Builder
	for line := range strings.Lines(out.String()) {
		if at := strings.LastIndexByte(line, ','); strings.HasPrefix(line, "Tag=") {
			b, err := inflate(strings.TrimSpace(line[at+1:]))
			if err != nil {
				t.Fatal(err)
			}
			line = fmt.Sprintf("%s%x\n", line[:at+1], b)
		}
		text.WriteString(line)
	}
	golden.File(t, "testdata/run.hlog.golden", text.String())
}

func TestHDRLogTimes(t *testing.T) {
	var out bytes.Buffer
	l := NewHDRLog(&out)
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1500, 1)
	if err := l.Begin(&mapping.RunInfo{Name: "r"}, false); err != nil { // a run with an unknown start
		t.Fatal(err)
	}
	if err := l.Add(&window.Window{Direction: "trim", Start: time.Time{}.Add(time.Second), End: time.Time{}.Add(2500 * time.Millisecond)}, h); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); strings.Contains(s, "Time:") || !strings.Contains(s, "\nTag=trim,1.000,1.500,0.001,HISTFAAA") {
		t.Error(s)
	}
	if err := l.Begin(&mapping.RunInfo{Name: "s"}, false); !errors.Is(err, ErrOneRun) {
		t.Errorf("a second run: %v", err)
	}
}

func TestHDRTag(t *testing.T) {
	for _, c := range []struct {
		window window.Window
		want   string
	}{
		{window.Window{Direction: "read"}, "read"},
		{window.Window{Host: "client01", Direction: "write"}, "client01/write"},
		{window.Window{Host: "client01", Job: "0.1", Direction: "write"}, "client01/0.1/write"},
		{window.Window{Host: "a,b c/d\n%é", Direction: "read"}, "a%2Cb%20c%2Fd%0A%25%C3%A9/read"},
		{window.Window{Job: "x", Direction: "read"}, "/x/read"},
	} {
		if got := hdrTag(&c.window); got != c.want {
			t.Errorf("%s/%s: %s, want %s", c.window.Host, c.window.Job, got, c.want)
		}
	}
}
