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
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// lineOf is what a window of a run is, without its figures.
func lineOf(run *mapping.RunInfo, w *window.Window, requests *hist.Histogram) string {
	return fmt.Sprintf("%s %q %q %s %s to %s %s %v", run.Name, w.Host, w.Job, w.Direction, w.Start.UTC(), w.End.UTC(), mapping.LayoutName(requests.Layout()), requests.Weights())
}

// linesRead returns the windows of a file.
func linesRead(t testing.TB, text []byte, opt ReadOptions) (lines []string) {
	t.Helper()
	runs, err := Read("x", bytes.NewReader(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		for _, w := range r.Windows {
			h, err := w.Histogram()
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, lineOf(w.Run, w, h))
		}
	}
	return lines
}

// TestReadBack: what fio2es wrote is read as it was, with hosts, jobs, times and bins of any layout.
func TestReadBack(t *testing.T) {
	for name, writer := range map[string]func(*bytes.Buffer) Writer{
		"hdrlog": func(to *bytes.Buffer) Writer { return NewHDRLog(to) },
		"csv":    func(to *bytes.Buffer) Writer { return NewBins(to, table.CSV) },
		"json":   func(to *bytes.Buffer) Writer { return NewBins(to, table.JSON) },
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			start := rapid.SampledFrom([]time.Time{{}, time.Date(2026, 1, 31, 9, 12, 0, 250e6, time.UTC)}).Draw(t, "start")
			run := &mapping.RunInfo{Name: "r, \"s\"", Archive: "a", Start: start}
			var out bytes.Buffer
			to, want := writer(&out), []string(nil)
			err := to.Begin(run, false)
			for i := range rapid.IntRange(1, 3).Draw(t, "windows") {
				from := start.Add(time.Duration(i) * 1003 * time.Millisecond)
				w := &window.Window{
					Run: run, Level: mapping.Job, Host: rapid.SampledFrom([]string{"", "client01", "a b,c/d"}).Draw(t, "host"),
					Job:       rapid.SampledFrom([]string{"", "0.1"}).Draw(t, "job"),
					Direction: rapid.SampledFrom(mapping.Directions[:]).Draw(t, "direction"), Start: from, End: from.Add(time.Second),
				}
				h := drawHistogram(t)
				want = append(want, lineOf(run, w, h))
				err = errors.Join(err, to.Add(w, h))
			}
			if err = errors.Join(err, to.Close()); err != nil {
				t.Fatal(err)
			}
			var got []string
			runs, err := Read("x", &out, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range runs[0].Windows {
				h, err := w.Histogram()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, lineOf(w.Run, w, h))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		}))
	}
}

// TestReadJHiccup reads a log of the Java library. The numbers are those of its own test of this log (HistogramLogReaderWriterTest).
func TestReadJHiccup(t *testing.T) {
	text, err := os.ReadFile("testdata/jhiccup.hlog")
	if err != nil {
		t.Fatal(err)
	}
	runs, err := Read("dir/jhiccup.hlog", bytes.NewReader(text), ReadOptions{Unit: "ns"})
	if err != nil {
		t.Fatal(err)
	}
	r, sum := runs[0], &hist.Histogram{}
	for _, w := range r.Windows {
		h, err := w.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		sum.Merge(h)
	}
	if len(runs) != 1 || r.Info.Name != "jhiccup.hlog" || len(r.Windows) != 62 || sum.Total() != 48761 || r.IntervalMS != 1000 || r.Info.Start.UnixMilli() != 1441812279474 {
		t.Errorf("%+v, %d windows, %v requests, interval %d", r.Info, len(r.Windows), sum.Total(), r.IntervalMS)
	}
	for q, want := range map[float64]float64{0.999: 1745879039, 1: 1796210687} {
		if a := sum.Percentile(q); want < a.Low || want > a.High {
			t.Errorf("p%v is %v … %v, want %v", q*100, a.Low, a.High, want)
		}
	}
	if w := r.Windows[0]; w.Direction != mapping.AllDirections || w.Start.UnixMilli() != 1441812279601 || w.Length() != 1007*time.Millisecond {
		t.Errorf("%+v", w)
	}
}

// hdrLine returns a line of a log with some values, each once.
func hdrLine(digits int, tag string, start float64, values ...int64) string {
	h := hdrhistogram.New(1, 3_600_000_000, digits)
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			panic(err)
		}
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s%.3f,1.000,%.3f,%s\n", tag, start, float64(h.Max())/1e6, text)
}

// TestReadYCSB: values of the reference library in microseconds come into the bins of microseconds that they lie in, none is
// divided, and the header says which operations they are.
func TestReadYCSB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, 3_600_000_000), 1, 30).Draw(t, "microseconds")
		digits := rapid.IntRange(2, 5).Draw(t, "digits")
		want := hist.New(layoutFor("us"))
		for _, us := range values {
			want.AddLatency(us*1000, 1)
		}
		log := "#[Logging for: READ]\n#[Histogram log format version 1.2]\n#[StartTime: 1438613579.295 (seconds since epoch), Mon Aug 03 07:52:59 PDT 2015]\n" +
			"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n" + hdrLine(digits, "", 1438613579.295, values...)
		runs, err := Read("x", strings.NewReader(log), ReadOptions{Unit: "us"})
		if err != nil {
			t.Fatal(err)
		}
		w := runs[0].Windows[0]
		got, err := w.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		if w.Direction != "read" || w.Start.UnixMilli() != 1438613579295 || !slices.Equal(got.Weights(), want.Weights()) {
			t.Fatalf("%s %s: %v, want %v", w.Direction, w.Start, got.Weights(), want.Weights())
		}
	})
}

// TestSlotWidth compares the widths of slots with the reference library.
func TestSlotWidth(t *testing.T) {
	for digits := 1; digits <= 5; digits++ {
		for _, least := range []int64{1, 2, 3, 1000} {
			of, width := hdrhistogram.New(least, 1<<30, digits), slotWidth(hdrhistogram.NewPacked(least, 1<<30, digits))
			for shift := range 29 {
				for _, v := range []int64{1 << shift, 3 << shift >> 1, 1<<shift - 1} {
					n := int64(width(v))
					if low := v - v%n; !of.ValuesAreEquivalent(low, low+n-1) || of.ValuesAreEquivalent(low, low+n) {
						t.Fatalf("%d digits from %d: the slot of %d has not %d values", digits, least, v, n)
					}
				}
			}
		}
	}
}

// TestReadTags: only if all tags are directions, requests have one.
func TestReadTags(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      string // job and direction of each window
	}{
		{"directions", hdrLine(3, "Tag=READ,", 5, 7) + hdrLine(3, "Tag=write,", 5, 7), "/read /write"},
		{"other names", hdrLine(3, "Tag=READ,", 5, 7) + hdrLine(3, "Tag=UPDATE,", 5, 7) + hdrLine(3, "", 5, 7), "read/all UPDATE/all /all"},
		{"payload alone", strings.SplitN(hdrLine(3, "", 5, 7), ",", 4)[3], "/all"},
	} {
		runs, err := Read("x", strings.NewReader(c.log), ReadOptions{Unit: "us"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range runs[0].Windows {
			got = append(got, w.Job+"/"+w.Direction)
			if !w.Start.Equal(time.Time{}.Add(5*time.Second)) && c.name != "payload alone" {
				t.Errorf("%s: starts %s, and nothing says the date", c.name, w.Start)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestReadErrors: errors name the place, what is there and what was expected.
func TestReadErrors(t *testing.T) {
	const header = "#[Histogram log format version 1.3]\n"
	line := hdrLine(3, "", 5, 7)
	for _, c := range []struct{ name, text, unit, want string }{
		{"no unit", header + line, "", "x:2:1: got values without a unit, want --values-in ns, us, ms or s: "},
		{"version 1", header + "0.133,1.005,2.802,HISTIgAAAFd42pNpmazIwMAYxgABTBDKT4GBgdnNYMcCBvsPUBkeBkYGZqA8MwMbAzsDC5DFBCTZgJCDQY1BjkGLQZRBlUEPCB8zWDCYMxgDZZkZhgJgHDibAY8JB/A=\n", "ns", `x:2:19: got "HISTIgAAAFd42pNpmazIwMAY" (`},
		{"number", header + "0.1,one,2,HIST\n", "ns", `x:2:5: got "one", want seconds`},
		{"infinite", header + "0.1,inf,2,HIST\n", "ns", `x:2:5: got "inf", want seconds`},
		{"fields", header + "0.1,1\n", "ns", "x:2:1: got 2 fields, want start, length"},
		{"tag", header + "Tag=x\n", "ns", "x:2:6: got the end of the line, want a comma"},
		{"start", "#[StartTime: soon (seconds since epoch)]\n", "ns", `x:1:14: got "soon", want seconds`},
		{"bins", "#[fio2es: bins fio9/0]\n", "ns", `x:1:16: got "fio9/0", want a layout`},
		{"payload", header + line[:len(line)-9] + "\n", "ns", `x:2:19: got "HISTFAAA`},
		{"backwards", header + strings.Replace(line, ",1.000,", ",-1.000,", 1), "ns", "x:2:1: got a window from "},
		{"JSON", `{"low_ns":[1],}`, "", `x:1:14: got `},
		{"lists", `{"low_ns":[1]}`, "", "x:1:1: got 1, 0 and 0 values, want as many"},
		{"edges", `{"low_ns":[5],"high_ns":[5],"count":[1]}`, "", "x:1:1: got 1 requests of 5 to 5 ns, want 0 or more"},
		{"large", `{"low_ns":[5],"high_ns":[6],"count":[9223372036854775807]}`, "", "x:1:1: got 9223372036854775807 requests"},
		{"sum", `{"low_ns":[5,6],"high_ns":[6,7],"count":[9007199254740992,2]}`, "", "x:1:1: got 9.007e+15 requests, want at most 2^53"},
		{"open", `{"low_ns":[5],"high_ns":[null],"count":[1]}`, "", "x:1:1: got a bin from 5 ns on without an end"},
		{"no such bin", `{"low_ns":[129],"high_ns":[130],"count":[1],"layout":"fio3/0"}`, "", "x:1:1: got a bin from 129 to 130 ns, want one of fio3/0, such as 128 to 130"},
		{"layout", `{"low_ns":[129],"layout":"fio4/0"}`, "", `x:1:1: got layout "fio4/0"`},
		{"columns", "low_ns,count\n", "", `x:1:1: got "low_ns,count", want a column direction`},
		{"fields", "direction,start_ms,end_ms,low_ns,high_ns,count\n1,2\n", "", "x:2:1: got wrong number of fields"},
		{"cell", "direction,start_ms,end_ms,low_ns,high_ns,count\nread,0,1000,1,2,many\n", "", `x:2:17: got "many", want a whole number for count`},
		{"time", "direction,start_ms,end_ms,low_ns,high_ns,count,start\nread,0,1000,1,2,3,noon\n", "", `x:2:19: got "noon", want a time`},
		{"empty", header, "ns", "got no histograms, want at least one"},
		{"other", "fio", "ns", `x:1:1: got "fio", want `},
	} {
		_, err := Read("x", strings.NewReader(c.text), ReadOptions{Unit: c.unit})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) && !strings.HasSuffix(err.Error(), c.want) || !errors.As(err, new(*fiolog.SyntaxError)) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestReadBins: bins of others, in CSV that someone made.
func TestReadBins(t *testing.T) {
	const csv = "direction,start_ms,end_ms,low_ns,high_ns,count\nread,0,1000,1000,3000,4\nread,0,1000,3000,4000,2\nwrite,0,1000,0,7,1\n"
	lines := linesRead(t, []byte(csv), ReadOptions{})
	if len(lines) != 2 || !strings.HasPrefix(lines[0], `x "" "" read 0001-01-01 00:00:00 +0000 UTC to 0001-01-01 00:00:01 +0000 UTC fio3/0/44 [`) ||
		!strings.HasSuffix(lines[1], " fio3/0/44 [{3 1}]") {
		t.Errorf("%q", lines)
	}
}

// fuzzRead checks that a reader of one kind survives any text, and loses or makes no request. seeds are texts of this kind.
func fuzzRead(f *testing.F, read func(string, ReadOptions) ([]*Run, error), seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		runs, err := read(text, ReadOptions{Unit: "us", Budget: new(source.Budget)})
		if err != nil {
			return
		}
		for _, r := range runs {
			for _, w := range r.Windows {
				h, err := w.Histogram()
				if err != nil {
					t.Fatal(err)
				}
				if h != nil && (h.Total() != float64(w.Completed) || h.Total() > hist.MaxCount || w.Run == nil) {
					t.Fatalf("%v requests in bins, %d in the window", h.Total(), w.Completed)
				}
			}
		}
	})
}

// written returns what a writer makes of runs.
func written(f *testing.F, writer func(io.Writer) Writer, runs []exported) string {
	var out bytes.Buffer
	if err := writeRuns(writer(&out), runs); err != nil {
		f.Fatal(err)
	}
	return out.String()
}

func FuzzReadHDRLog(f *testing.F) {
	fuzzRead(f, func(text string, opt ReadOptions) ([]*Run, error) {
		return Read("x", strings.NewReader("#[x]\n"+text), opt)
	},
		written(f, func(w io.Writer) Writer { return NewHDRLog(w) }, runs()[:1]),
		hdrLine(2, "", 5, 7), hdrLine(5, "Tag=x,", 5, 7, 1<<20), "#[StartTime: 1e9 ]\n#[BaseTime: 1]\n")
}

func FuzzReadBins(f *testing.F) {
	read := func(text string, opt ReadOptions) ([]*Run, error) {
		c := &collector{ReadOptions: opt, file: "x", byName: map[[3]string]*Run{}}
		if err := readBins(c, strings.NewReader(text)); err != nil {
			return nil, err
		}
		return c.end()
	}
	fuzzRead(f, read,
		written(f, func(w io.Writer) Writer { return NewBins(w, table.CSV) }, runs()), written(f, func(w io.Writer) Writer { return NewBins(w, table.JSON) }, runs()),
		"direction,start_ms,end_ms,low_ns,high_ns,count\n", "\"")
}

// TestReadHostile: small files that become large end in an error, within bounds of memory.
func TestReadHostile(t *testing.T) {
	const digits, slots = 5, 6_000_000
	head := binary.BigEndian.AppendUint32(nil, 0x1c849313)
	head = binary.BigEndian.AppendUint32(head, slots)
	head = binary.BigEndian.AppendUint32(head, 0)
	head = binary.BigEndian.AppendUint32(head, digits)
	head = binary.BigEndian.AppendUint64(head, 1)
	head = binary.BigEndian.AppendUint64(head, math.MaxInt64)
	head = binary.BigEndian.AppendUint64(head, math.Float64bits(1))
	payload := func(counts []byte) string {
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		z.Write(head)
		z.Write(counts)
		z.Close()
		all := binary.BigEndian.AppendUint32(nil, 0x1c849314)
		all = binary.BigEndian.AppendUint32(all, uint32(packed.Len()))
		return base64.StdEncoding.EncodeToString(append(all, packed.Bytes()...))
	}
	full := payload(bytes.Repeat([]byte{2}, slots)) // one request in each slot
	cases := []struct {
		name, text string
		wantErr    bool
	}{
		{"a payload that inflates a thousand times", full + "\n", true},
		{"many such payloads", strings.Repeat("0,1,1,"+full+"\n", 20), true},
		{"windows without end", strings.Repeat(`{"low_ns":[1],"high_ns":[2],"count":[1]}`+"\n", 600_000), true},
	}
	for _, c := range cases[:memtest.Scale(1, len(cases))] { // the others take half a minute
		used := memtest.Measure(t, func() {
			_, err := Read("x", strings.NewReader(c.text), ReadOptions{Unit: "ns", Budget: new(source.Budget)})
			if (err != nil) != c.wantErr || err != nil && !errors.Is(err, source.ErrTooMuch) {
				t.Errorf("%s: %v", c.name, err)
			}
		})
		if used.Peak > 400<<20 {
			t.Errorf("%s: %d MB", c.name, used.Peak>>20)
		}
		t.Logf("%s: %d MB, %v", c.name, used.Peak>>20, used.Time)
	}
}

// TestReadShortFirst: windows of one series stay what they are, also if the first one is shorter (a log whose rows begin late), and
// windows of hosts that begin a little apart are of one time.
func TestReadShortFirst(t *testing.T) {
	for _, c := range []struct {
		windows []string
		want    []int64
	}{
		{
			[]string{"a,read,0,505", "b,read,20,505", "a,read,505,2505", "b,read,505,2507", "a,read,2505,4505", "b,read,2507,4505", "b,read,4505,4700"},
			[]int64{0, 0, 505, 505, 2505, 2505, 4505},
		},
		{[]string{"a,read,0,955", "a,read,955,1955", "a,read,3955,4955", "a,read,4955,5000"}, []int64{0, 955, 3955, 4955}},
	} {
		text := "host,direction,start_ms,end_ms,low_ns,high_ns,count\n"
		for _, w := range c.windows {
			text += w + ",1000,1008,1\n"
		}
		runs, err := Read("x", strings.NewReader(text), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var at []int64
		for _, w := range runs[0].Windows {
			at = append(at, w.ElapsedMS)
		}
		if !slices.Equal(at, c.want) {
			t.Errorf("windows at %v ms, want %v", at, c.want)
		}
	}
}
