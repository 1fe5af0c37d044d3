package hist_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/golden"
)

const corpus = "../testdata/corpus"

// fioReport is what these tests need of fio's JSON.
type fioReport struct {
	Jobs []map[string]json.RawMessage `json:"jobs"`
}

type fioDirection struct {
	Latency struct {
		N          uint64            `json:"N"`
		Percentile map[string]int64  `json:"percentile"`
		Bins       map[string]uint64 `json:"bins"`
	} `json:"clat_ns"`
}

var directions = []string{"read", "write", "trim"}

// reports finds the JSON documents among fio's other output: each begins with a line
// that is one brace.
func reports(t *testing.T, text []byte) []fioReport {
	t.Helper()
	var out []fioReport
	opening := regexp.MustCompile(`(?m)^\{$`)
	for {
		at := opening.FindIndex(text)
		if at == nil {
			return out
		}
		d := json.NewDecoder(bytes.NewReader(text[at[0]:]))
		var r fioReport
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
		text = text[at[0]+int(d.InputOffset()):]
	}
}

// fromJSON makes a histogram of json+ bins, whose keys are fio's values for the bins.
func fromJSON(t *testing.T, d fioDirection) *hist.Histogram {
	t.Helper()
	h := hist.New(hist.Fio3(0))
	for key, n := range d.Latency.Bins {
		value, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		bin := h.Layout().Index(value)
		if got := h.Layout().Representative(bin); got != value {
			t.Errorf("fio's value for bin %d is %d, got %d", bin, value, got)
		}
		h.AddAt(bin, float64(n))
	}
	return h
}

func direction(t *testing.T, job map[string]json.RawMessage, name string) fioDirection {
	t.Helper()
	var d fioDirection
	if raw, ok := job[name]; ok {
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func outputs(t *testing.T) []string {
	t.Helper()
	name := regexp.MustCompile(`^(out\.(txt|json)|json_output\.\d+|output\.\d+)(\.[^_]+)?\.gz$`)
	var out []string
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err == nil && name.MatchString(d.Name()) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFioPercentile compares with every percentile that fio itself printed.
func TestFioPercentile(t *testing.T) {
	files, documents, histograms, percentiles := 0, 0, 0, 0
	for _, path := range outputs(t) {
		files++
		t.Run(strings.TrimPrefix(filepath.ToSlash(path), corpus+"/"), func(t *testing.T) {
			docs := reports(t, golden.Gunzip(t, path))
			if len(docs) == 0 {
				t.Error("no JSON document")
			}
			documents += len(docs)
			for i, doc := range docs {
				for j, job := range doc.Jobs {
					for _, name := range directions {
						d := direction(t, job, name)
						if len(d.Latency.Bins) == 0 {
							continue
						}
						histograms++
						percentiles += comparePercentiles(t, fmt.Sprintf("document %d, job %d, %s", i, j, name), d)
					}
				}
			}
		})
	}
	t.Logf("%d files, %d documents, %d histograms, %d percentiles", files, documents, histograms, percentiles)
	if files < 29 || documents < 39 || percentiles < 17*histograms || percentiles < 4199 {
		t.Error("less was compared than the corpus contains")
	}
}

func comparePercentiles(t *testing.T, where string, d fioDirection) int {
	t.Helper()
	h := fromJSON(t, d)
	if n := d.Latency.N; n != 0 && h.Total() != float64(n) { // N since fio 3.18
		t.Errorf("%s: %v requests, fio says %d", where, h.Total(), n)
	}
	for key, want := range d.Latency.Percentile {
		f, err := strconv.ParseFloat(key, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := h.FioPercentile(f); !ok || got != want {
			t.Errorf("%s: p%s of %v requests is %d, fio printed %d", where, key, h.Total(), got, want)
		}
	}
	return len(d.Latency.Percentile)
}

// TestFioPercentileRounding: 99.95 as a double is a little more than 99.95, so where a
// bin ends exactly on the rank fio takes the next; the same with 99.9, while 99.99 is a
// little less. Rounding makes 30 % of 200 exactly 60 in fio's order of computing, and a
// little more in that of its source.
func TestFioPercentileRounding(t *testing.T) {
	for _, c := range []struct {
		f            float64
		below, above uint64
		want         int64
	}{
		{99.95, 9_995, 5, 20},
		{99.95, 9_996, 4, 10},
		{99.9, 999, 1, 20},
		{99.9, 9_990, 10, 20},
		{99.99, 9_999, 1, 10},
		{30, 60, 140, 10},
		{60, 240, 160, 10},
		{30, 1_800, 4_200, 10},
		{95, 1_007, 53, 10},
		{50, 5, 5, 10},
	} {
		h := fromRow(hist.Fio3(0), []hist.Bin{{Index: 10, Count: c.below}, {Index: 20, Count: c.above}})
		if got, ok := h.FioPercentile(c.f); !ok || got != c.want {
			t.Errorf("p%v of %d + %d requests: got %d, want %d", c.f, c.below, c.above, got, c.want)
		}
	}
}

// TestRawLogs bins the raw completions of a run, which must give fio's own bins, and
// looks for their exact percentiles in the answers.
func TestRawLogs(t *testing.T) {
	for _, c := range []struct {
		run      string
		requests int // at least
	}{
		{"two-jobs-rw", 30_000},
		{"coarseness", 30_000},
		{"stalls", 10_000},
	} {
		t.Run(c.run, func(t *testing.T) {
			docs := reports(t, golden.Gunzip(t, filepath.Join(corpus, c.run, "out.txt.gz")))
			if len(docs) != 1 {
				t.Fatalf("%d documents, want 1", len(docs))
			}
			requests := 0
			for j, job := range docs[0].Jobs {
				raw := readRaw(t, filepath.Join(corpus, c.run, fmt.Sprintf("out_clat.%d.log.gz", j+1)))
				for dir, name := range directions {
					slices.Sort(raw[dir])
					h := binned(hist.Fio3(0), raw[dir])
					if diff := cmp.Diff(fromJSON(t, direction(t, job, name)).Weights(), h.Weights()); diff != "" {
						t.Errorf("job %d, %s (-json+ +raw):\n%s", j+1, name, diff)
					}
					if len(raw[dir]) > 0 {
						compareRaw(t, raw[dir])
					}
					requests += len(raw[dir])
				}
			}
			t.Logf("%d requests", requests)
			if requests < c.requests {
				t.Error("less was compared than the corpus contains")
			}
		})
	}
}

// compareRaw wants the exact percentiles of sorted latencies within the bounds, in all
// layouts, and within a bin's width as promised.
func compareRaw(t *testing.T, sorted []int64) {
	t.Helper()
	for _, l := range allLayouts() {
		h := binned(l, sorted)
		for _, q := range []quantile{{0, 1}, {1, 2}, {9, 10}, {99, 100}, {999, 1000}, {9999, 10_000}, {1, 1}} {
			a, want := h.Percentile(q.float()), float64(sorted[q.rank(len(sorted))-1])
			if want < a.Low || want > a.High {
				t.Errorf("%v, q=%v: %v is not in %+v", l, q.float(), want, a)
			}
			if off := max(a.Value-want, want-a.Value); off > 2*l.RelativeError()*want && want >= 128_000 {
				t.Errorf("%v, q=%v: %v is %v off", l, q.float(), a.Value, off)
			}
		}
	}
}

// readRaw are the latencies of a raw log by direction.
func readRaw(t *testing.T, path string) (out [3][]int64) {
	t.Helper()
	all, err := fiotest.ReadRaw(bytes.NewReader(golden.Gunzip(t, path)))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, c := range all {
		out[c.Direction] = append(out[c.Direction], int64(c.Latency))
	}
	return out
}
