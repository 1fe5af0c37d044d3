package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/testcost"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// exported is a run with its windows.
type exported struct {
	mapping.RunInfo
	windows []given
}

// given is a window and its requests.
type given struct {
	window.Window
	requests *hist.Histogram
}

// runs returns two small runs. The first has a host with a hostile name, a gap, windows that are a millisecond
// apart, and a request in the last bin. The start of the second is not known.
func runs() []exported {
	start := time.Date(2026, 1, 31, 9, 12, 0, 250e6, time.UTC)
	window := func(from time.Time, host, direction string, begin, end int, l hist.Layout, latencies ...int64) given {
		h := hist.New(l)
		for _, ns := range latencies {
			h.AddLatency(ns, float64(len(latencies)))
		}
		ms := func(n int) time.Time { return from.Add(time.Duration(n) * time.Millisecond) }
		return given{window.Window{Level: mapping.Host, Host: host, Direction: direction, Start: ms(begin), End: ms(end)}, h}
	}
	const hostile = "a \"b\"\\c,\nd\xff"
	list := []exported{
		{mapping.RunInfo{Name: "seq/4k", Archive: "results", Start: start}, []given{
			window(start, "client01", "read", 0, 1000, hist.Fio3(0), 90, 950_000, 1_200_000),
			window(start, hostile, "write", 3, 1003, hist.Fio3(3), 2_000_000, 2_500_000),
			window(start, "client01", "read", 1001, 2001, hist.Fio3(2), 1_000_000),
			window(start, "client01", "read", 6000, 7000, hist.Fio3(0), 3_000_000, 20e9),
		}},
		{mapping.RunInfo{Name: "old", Archive: "", Start: time.Time{}}, []given{
			window(time.Time{}, "", "trim", 0, 1000, hist.Fio2(0), 5_000, 40_000_000),
		}},
	}
	for i := range list {
		for j := range list[i].windows {
			list[i].windows[j].Run = &list[i].RunInfo
		}
	}
	return list
}

// writeAll writes runs and closes the writer.
func writeAll(t *testing.T, w Writer, runs []exported) {
	t.Helper()
	if err := writeRuns(w, runs); err != nil {
		t.Fatal(err)
	}
}

func writeRuns(w Writer, runs []exported) error {
	for i := range runs {
		err := w.Begin(&runs[i].RunInfo, false)
		for j := range runs[i].windows {
			err = errors.Join(err, w.Add(&runs[i].windows[j].Window, runs[i].windows[j].requests))
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}

func TestCSV(t *testing.T) {
	var out bytes.Buffer
	writeAll(t, NewBins(&out, table.CSV), runs())
	golden.File(t, "testdata/runs.csv.golden", out.String())
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	writeAll(t, NewBins(&out, table.JSON), runs())
	golden.File(t, "testdata/runs.json.golden", out.String())
}

// TestBinsRoundTrip: the edges and counts of CSV and JSON give the same histogram again.
func TestBinsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistogram(t)
		run := &mapping.RunInfo{Name: "r", Start: time.Unix(1e9, 0)}
		w := &window.Window{Run: run, Level: mapping.Cluster, Direction: "read", Start: run.Start, End: run.Start.Add(time.Second)}
		var lines, objects bytes.Buffer
		for _, to := range []Writer{NewBins(&lines, table.CSV), NewBins(&objects, table.JSON)} {
			if err := errors.Join(to.Begin(run, false), to.Add(w, h), to.Close()); err != nil {
				t.Fatal(err)
			}
		}
		var want, ofCSV []string
		for i, n := range h.All() {
			low, high := h.Layout().Bounds(i)
			to := strconv.FormatInt(high, 10)
			if i == h.Layout().Len()-1 {
				to = ""
			}
			want = append(want, fmt.Sprintf("%d,%s,%.0f", low, to, n))
		}
		rows, err := csv.NewReader(&lines).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			ofCSV = append(ofCSV, strings.Join(row[len(row)-4:len(row)-1], ","))
		}
		if !slices.Equal(ofCSV, want) {
			t.Fatalf("CSV: %v, want %v", ofCSV, want)
		}
		var object struct {
			Low   []int64  `json:"low_ns"`
			High  []*int64 `json:"high_ns"`
			Count []int64  `json:"count"`
		}
		if err := json.Unmarshal(objects.Bytes(), &object); err != nil {
			t.Fatal(err)
		}
		for i, low := range object.Low {
			to := ""
			if object.High[i] != nil {
				to = strconv.FormatInt(*object.High[i], 10)
			}
			if got := fmt.Sprintf("%d,%s,%d", low, to, object.Count[i]); got != want[i] {
				t.Fatalf("JSON: bin %d of %d is %s, want %s", i, len(want), got, want[i])
			}
		}
	})
}

// failing is a writer that fails after some bytes.
type failing struct{ left int }

var errFull = errors.New("no space left")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestWriteFails: a failed write is an error, at the latest in Close.
func TestWriteFails(t *testing.T) {
	for name, to := range map[string]func(*failing) Writer{
		"hdrlog":      func(f *failing) Writer { return NewHDRLog(f) },
		"openmetrics": func(f *failing) Writer { return NewOpenMetrics(f, OpenMetricsOptions{}) },
		"ddsketch":    func(f *failing) Writer { return NewDDSketch(f) },
		"csv":         func(f *failing) Writer { return NewBins(f, table.CSV) },
		"json":        func(f *failing) Writer { return NewBins(f, table.JSON) },
	} {
		w, run := to(&failing{left: 10}), &runs()[0]
		err := w.Begin(&run.RunInfo, false)
		for range 100 {
			for i := range run.windows {
				if err == nil {
					err = w.Add(&run.windows[i].Window, run.windows[i].requests)
				}
			}
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// exportWindow returns a document of a host with n requests of 1 ms.
func exportWindow(elapsed, late int64, host, direction string, n int64) *mapping.Interval {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	at := start.Add(time.Duration(elapsed+late) * time.Millisecond)
	return &mapping.Interval{
		Time: at, Level: mapping.Host, Window: mapping.Window{End: at.Add(time.Second), MS: 1000, ElapsedMS: elapsed},
		Run: mapping.RunRef{ID: "1", Name: "r", Start: start}, Host: mapping.HostRef{Name: host}, Fio: mapping.FioRef{Direction: direction},
		Latency: mapping.Latency{Layout: "fio3/0", Bins: mapping.Bins{Values: []float64{1003.519}, Counts: []int64{n}}},
	}
}

// TestOrdered: windows of one time are written in the same order, for any order of their documents. Parts of a split
// document become one window again.
func TestOrdered(t *testing.T) {
	const many = 3 * mapping.MaxCount
	docs := []*mapping.Interval{
		exportWindow(0, 0, "b", "read", 1), exportWindow(0, 0, "b", "write", 2), exportWindow(0, 3, "a", "read", 3), exportWindow(0, 0, "c", "trim", 4),
	}
	big := exportWindow(1000, 0, "a", "read", 1)
	big.Latency.Bins = mapping.Bins{Values: []float64{1003.519, 1003.519, 1003.519}, Counts: []int64{mapping.MaxCount, mapping.MaxCount, mapping.MaxCount}}
	parts := big.Split()
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	text := func(docs []*mapping.Interval) string {
		var out bytes.Buffer
		to := NewBins(&out, table.CSV)
		e := NewOrdered(to, nil)
		for _, w := range window.RejoinAll(docs) {
			if err := e.Add(w); err != nil {
				t.Fatal(err)
			}
		}
		if hasRequests, err := e.End(); !hasRequests || err != nil {
			t.Fatal(hasRequests, err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		if hasRequests, err := e.End(); hasRequests || err != nil {
			t.Error("a run without windows", hasRequests, err)
		}
		return out.String()
	}
	got := text(append(slices.Clone(docs), parts...))
	slices.Reverse(docs)
	if other := text(append(docs, parts...)); other != got {
		t.Errorf("%s\nand in another order\n%s", got, other)
	}
	var lines []string
	for _, row := range strings.Split(strings.TrimSpace(got), "\n")[1:] {
		f := strings.Split(row, ",")
		lines = append(lines, strings.Join([]string{f[4], f[6], f[7], f[13]}, " "))
	}
	want := []string{"b read 0 1", "b write 0 2", "c trim 0 4", "a read 3 3", fmt.Sprint("a read 1000 ", many)}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

func TestMain(m *testing.M) {
	testcost.Lower()
	m.Run()
}
