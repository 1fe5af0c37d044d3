package export

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
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
		{"empty", header, "ns", "got no histograms, want at least one"},
		{"other", "fio", "ns", `x:1:1: got "fio", want `},
	} {
		_, err := Read("x", strings.NewReader(c.text), ReadOptions{Unit: c.unit})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) && !strings.HasSuffix(err.Error(), c.want) || !errors.As(err, new(*fiolog.SyntaxError)) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
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

func FuzzReadHDRLog(f *testing.F) {
	var log bytes.Buffer
	if err := writeRuns(NewHDRLog(&log), runs()[:1]); err != nil {
		f.Fatal(err)
	}
	fuzzRead(f, func(text string, opt ReadOptions) ([]*Run, error) {
		return Read("x", strings.NewReader("#[x]\n"+text), opt)
	},
		log.String(), hdrLine(2, "", 5, 7), hdrLine(5, "Tag=x,", 5, 7, 1<<20), "#[StartTime: 1e9 ]\n#[BaseTime: 1]\n")
}
