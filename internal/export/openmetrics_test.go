package export

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/common/expfmt"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// point has what a histogram says at one time.
type point struct {
	labels  map[string]string
	at      float64 // NaN without a time
	bounds  []float64
	counts  []float64
	count   float64
	sum     float64
	created float64
}

// metadata is at the beginning, once.
var metadata = regexp.MustCompile(`^# TYPE fio_latency_seconds histogram\n# UNIT fio_latency_seconds seconds\n# HELP fio_latency_seconds .+\n`)

// parse parses an exposition of OpenMetrics 1.0: its metadata, the points of each series together and sorted by
// time, and the end. Prometheus's own parser reads the samples.
func parse(text string) (points []point, err error) {
	head := metadata.FindString(text)
	body, ok := strings.CutSuffix(text[len(head):], "# EOF\n")
	if head == "" || !ok || !utf8.ValidString(text) {
		return nil, errors.New("no metadata, no # EOF at the end, or no UTF-8")
	}
	seen := map[string]bool{}
	for _, lines := range pointsOf(body) {
		p, err := parsePoint(lines)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", lines, err)
		}
		series := fmt.Sprint(p.labels)
		if n := len(points); n > 0 && fmt.Sprint(points[n-1].labels) == series {
			err = follows(&points[n-1], &p)
		} else if seen[series] {
			err = errors.New("is interrupted by others")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", series, err)
		}
		seen[series] = true
		points = append(points, p)
	}
	return points, nil
}

// pointsOf returns the lines of each point. A point begins with its buckets.
func pointsOf(body string) (points [][]string) {
	const bucket = metric + "_bucket{"
	before := ""
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, bucket) && !strings.HasPrefix(before, bucket) || before == "" {
			points = append(points, nil)
		}
		points[len(points)-1] = append(points[len(points)-1], line)
		before = line
	}
	return points
}

// parsePoint parses the lines of a point. They have the same time. The parser of Prometheus returns it in
// milliseconds.
func parsePoint(lines []string) (point, error) {
	p := point{labels: map[string]string{}, at: math.NaN(), created: math.NaN()}
	text, time := "# TYPE fio_latency_seconds histogram\n", ""
	for i, line := range lines {
		end := strings.LastIndex(line, "} ") + len("} ")
		value, at, _ := strings.Cut(strings.TrimSuffix(line[end:], "\n"), " ")
		if i > 0 && at != time || !strings.HasSuffix(line, "\n") {
			return p, fmt.Errorf("%q has another time", line)
		}
		if time = at; time != "" {
			var err error
			if p.at, err = strconv.ParseFloat(time, 64); err != nil {
				return p, err
			}
		}
		isCount := strings.HasPrefix(line, metric+"_bucket{") || strings.HasPrefix(line, metric+"_count{")
		if n, err := strconv.ParseUint(value, 10, 64); isCount && (err != nil || strconv.FormatUint(n, 10) != value) {
			return p, fmt.Errorf("%q has no whole count", line)
		}
		text += line[:end] + value + "\n"
	}
	var parser expfmt.TextParser
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return p, err
	}
	if of := families[metric+"_created"]; of != nil {
		p.created = of.GetMetric()[0].GetUntyped().GetValue()
		delete(families, metric+"_created")
	}
	if len(families) != 1 || len(families[metric].GetMetric()) != 1 {
		return p, fmt.Errorf("%d families, %d series", len(families), len(families[metric].GetMetric()))
	}
	m := families[metric].GetMetric()[0]
	for _, l := range m.GetLabel() {
		p.labels[l.GetName()] = l.GetValue()
	}
	h := m.GetHistogram()
	if h.SampleCount == nil || h.SampleSum == nil || !(h.GetSampleSum() >= 0) {
		return p, errors.New("no count or no sum")
	}
	p.count, p.sum = float64(h.GetSampleCount()), h.GetSampleSum()
	for _, b := range h.GetBucket() {
		p.bounds, p.counts = append(p.bounds, b.GetUpperBound()), append(p.counts, float64(b.GetCumulativeCount()))
	}
	last := len(p.bounds) - 1
	if last < 0 || !math.IsInf(p.bounds[last], 1) || p.counts[last] != p.count || !slices.IsSorted(p.counts) ||
		!slices.IsSorted(p.bounds) || len(slices.Compact(slices.Clone(p.bounds))) != len(p.bounds) {
		return p, fmt.Errorf("buckets %v of %v, and %v in all", p.bounds, p.counts, p.count)
	}
	return p, nil
}

// follows returns what is wrong with next as the point after p.
func follows(p, next *point) error {
	if !(next.at > p.at) || fmt.Sprint(p.bounds) != fmt.Sprint(next.bounds) || next.sum < p.sum*(1-1e-12) {
		return fmt.Errorf("after %v at %v: %v", p, p.at, next)
	}
	for i := range p.counts {
		if next.counts[i] < p.counts[i] {
			return fmt.Errorf("bucket %v goes back", p.bounds[i])
		}
	}
	return nil
}

// exposition writes runs and parses the result.
func exposition(t *testing.T, opt OpenMetricsOptions, of []exported) (string, []point) {
	t.Helper()
	var out bytes.Buffer
	writeAll(t, NewOpenMetrics(&out, opt), of)
	points, err := parse(out.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String(), points
}

func TestOpenMetrics(t *testing.T) {
	text, points := exposition(t, OpenMetricsOptions{}, runs())
	golden.File(t, "testdata/runs.om.golden", text)
	if len(points) != 3 {
		t.Fatalf("%d points", len(points))
	}
	if got := points[1].labels["host"]; got != "a \"b\"\\c,\nd\uFFFD" {
		t.Errorf("host %q", got)
	}
	if p := points[0]; p.created != 1769850720.25 || p.at != 1769850727.25 || p.count != 14 {
		t.Errorf("%+v", p)
	}
	if p := points[2]; !math.IsNaN(p.created) || !math.IsNaN(p.at) { // times are not known
		t.Errorf("%+v", p)
	}
}

func TestOpenMetricsWindows(t *testing.T) {
	text, points := exposition(t, OpenMetricsOptions{Windows: true, Buckets: Buckets{wanted: []time.Duration{time.Millisecond}}}, runs()[:1])
	golden.File(t, "testdata/run.windows.om.golden", text)
	var got []string
	for _, p := range points {
		got = append(got, fmt.Sprintf("%s %.3f %v", p.labels["direction"], p.at-1769850720.25, p.counts))
	}
	want := []string{
		// at 6 s: no request since 2 s
		"read 0.000 [0 0]", "read 1.000 [6 9]", "read 2.001 [7 10]", "read 6.000 [7 10]", "read 7.000 [7 14]",
		"write 0.003 [0 0]", "write 1.003 [0 4]",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOpenMetricsExact: the count of a bucket is exactly the number of requests within its bound. The last point of
// windows has all requests of the run.
func TestOpenMetricsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		run := exported{RunInfo: mapping.RunInfo{Name: "r", Start: time.Unix(1.7e9, 0)}}
		merged := &hist.Histogram{}
		fio2 := rapid.Bool().Draw(rt, "fio 2")
		for i := range rapid.IntRange(1, 6).Draw(rt, "windows") {
			l := hist.Fio3(rapid.IntRange(0, 6).Draw(rt, "coarseness"))
			if fio2 {
				l = hist.Fio2(l.Coarseness())
			}
			h := hist.New(l)
			for range rapid.IntRange(1, 9).Draw(rt, "bins") {
				h.AddAt(rapid.IntRange(0, l.Len()-1).Draw(rt, "bin"), float64(rapid.IntRange(1, 1e9).Draw(rt, "count")))
			}
			merged.Merge(h)
			from := run.Start.Add(time.Duration(i) * time.Second)
			run.windows = append(run.windows, given{window.Window{Level: mapping.Cluster, Direction: "read", Start: from, End: from.Add(time.Duration(rapid.IntRange(0, 2500).Draw(rt, "ms")) * time.Millisecond)}, h})
		}
		buckets := rapid.SampledFrom([]string{"1-2-5", "all", "3us,77us,1ms,20s"}).Draw(rt, "buckets")
		b, err := ParseBuckets(buckets)
		if err != nil {
			rt.Fatal(err)
		}
		_, whole := exposition(t, OpenMetricsOptions{Buckets: b}, []exported{run})
		_, over := exposition(t, OpenMetricsOptions{Buckets: b, Windows: true}, []exported{run})
		p, last := whole[0], over[len(over)-1]
		if len(whole) != 1 || fmt.Sprint(p.bounds, p.counts, p.count, p.sum) != fmt.Sprint(last.bounds, last.counts, last.count, last.sum) {
			rt.Fatalf("%+v, in windows %+v", p, last)
		}
		for i, le := range p.bounds[:len(p.bounds)-1] {
			if count, low, high := merged.CountWithin(math.Round(le * 1e9)); count != p.counts[i] || low != count || high != count {
				rt.Fatalf("%v requests within %v s, not %v (%v … %v)", p.counts[i], le, count, low, high)
			}
		}
		if p.count != merged.Total() || p.sum != merged.Mean().Value*merged.Total()/1e9 {
			rt.Fatalf("count %v, sum %v", p.count, p.sum)
		}
	})
}

// TestOpenMetricsNames: names of runs and hosts with any characters are read back unchanged.
func TestOpenMetricsNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name, host := rapid.StringN(1, 20, -1).Draw(rt, "run"), rapid.StringOf(rapid.SampledFrom([]rune("\\\"\n{},= n#é"))).Draw(rt, "host")
		run := runs()[0]
		run.Name = name
		run.windows = run.windows[:1]
		run.windows[0].Host = host
		_, points := exposition(t, OpenMetricsOptions{}, []exported{run})
		if got := points[0].labels; got["run"] != strings.ToValidUTF8(name, "\uFFFD") || got["host"] != host {
			rt.Fatalf("%q", got)
		}
	})
}

func TestOpenMetricsRefuses(t *testing.T) {
	o := NewOpenMetrics(&bytes.Buffer{}, OpenMetricsOptions{Windows: true})
	if err := o.Begin(&runs()[1].RunInfo, false); err == nil || !strings.Contains(err.Error(), "old: its files do not say when it started") {
		t.Errorf("windows of a run without a known start: %v", err)
	}
	run := &runs()[0].RunInfo
	if err := o.Begin(run, false); err != nil {
		t.Fatal(err)
	}
	if err := o.Begin(run, false); err == nil || !strings.Contains(err.Error(), "run seq/4k of archive results is written already: name it once") {
		t.Errorf("the same labels again: %v", err)
	}
}

// TestParse: the parser of these tests refuses wrong text.
func TestParse(t *testing.T) {
	text, _ := exposition(t, OpenMetricsOptions{Windows: true, Buckets: Buckets{wanted: []time.Duration{time.Millisecond}}}, runs()[:1])
	read := `fio_latency_seconds_count{run="seq/4k",archive="results",direction="read",host="client01"} `
	for name, wrong := range map[string]string{
		"no end":           strings.TrimSuffix(text, "# EOF\n"),
		"more at the end":  text + read + "1 1769850727.250\n",
		"no type":          strings.Replace(text, "# TYPE", "# HELP", 1),
		"late metadata":    strings.Replace(text, "# EOF", "# UNIT fio_latency_seconds seconds\n# EOF", 1),
		"count":            strings.Replace(text, read+"9 ", read+"8 ", 1),
		"a point twice":    strings.Replace(text, "1769850722.251", "1769850721.250", -1),
		"time goes back":   strings.Replace(text, "1769850722.251", "1769850720.251", -1),
		"counter goes":     strings.Replace(text, `le="0.001015807"} 7 1769850727.250`, `le="0.001015807"} 6 1769850727.250`, 1),
		"part of requests": strings.Replace(text, `le="0.001015807"} 6 `, `le="0.001015807"} 5.5 `, 1),
		"bound":            strings.Replace(text, `le="0.001015807"} 7 1769850727.250`, `le="0.001015806"} 7 1769850727.250`, 1),
		"escape":           strings.Replace(text, `\\c`, `\c`, 1),
		"series in two":    strings.Replace(text, "# EOF", strings.ReplaceAll(read+"99 1769850728\n", "_count{", "_bucket{le=\"+Inf\",")+"# EOF", 1),
	} {
		if wrong == text {
			t.Errorf("%s: nothing is wrong", name)
		} else if _, err := parse(wrong); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestParseBuckets(t *testing.T) {
	for text, want := range map[string]string{
		"1-2-5":           "false []",
		"all":             "true []",
		"1ms":             "false [1ms]",
		"1ms, 100us,1.5s": "false [100µs 1ms 1.5s]",
	} {
		b, err := ParseBuckets(text)
		if got := fmt.Sprint(b.all, b.wanted); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "100", "1ms,", "-1ms", "0s", "1-2-5,1ms", "every"} {
		if b, err := ParseBuckets(text); err == nil || !strings.Contains(err.Error(), "want 1-2-5, all, or latencies") {
			t.Errorf("%q: %v, %v", text, b, err)
		}
	}
}

func FuzzParseBuckets(f *testing.F) {
	for _, text := range []string{"1-2-5", "all", "100us,1ms", "1h,1ns,1ns", "2562047h", ",", "1e3s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBuckets(text)
		if err != nil {
			return
		}
		for _, l := range []hist.Layout{hist.Fio3(0), hist.Fio3(6), hist.Fio2(3)} {
			checkBins(t, l, b.bins(l))
		}
	})
}

// checkBins checks that buckets end at ascending bins of the layout, and not at the last one.
func checkBins(t *testing.T, l hist.Layout, bins []int) {
	t.Helper()
	if len(bins) == 0 || bins[0] < 0 || bins[len(bins)-1] >= l.Len()-1 {
		t.Fatalf("%v: %v", l, bins)
	}
	for i := range bins[1:] {
		if bins[i] >= bins[i+1] {
			t.Fatalf("%v: %v", l, bins)
		}
	}
}

// TestStepsFollowLayout: bins of minutes have buckets, too.
func TestStepsFollowLayout(t *testing.T) {
	for groups, want := range map[int]time.Duration{17: 10 * time.Second, 29: 10 * time.Second, 30: 20 * time.Second, 34: 500 * time.Second, 40: 20_000 * time.Second} {
		l, err := hist.NewLayout(hist.Nanoseconds, groups, 0)
		if err != nil {
			t.Fatal(err)
		}
		if list := steps(l); list[len(list)-1] != want {
			t.Errorf("%d groups: up to %v, want %v", groups, list[len(list)-1], want)
		}
	}
	for groups := hist.MinGroups; groups <= hist.MaxGroups; groups++ {
		for _, unit := range []hist.Unit{hist.Nanoseconds, hist.Microseconds} {
			l, err := hist.NewLayout(unit, groups, 0)
			if err != nil {
				t.Fatal(err)
			}
			checkBins(t, l, (&Buckets{}).bins(l))
		}
	}
}

// TestBucketBounds: the bound of a bucket is the nearest edge of a bin. With fio's finest bins it differs from the
// step by at most a hundredth.
func TestBucketBounds(t *testing.T) {
	if list := steps(hist.Fio3(0)); len(list) != 22 || list[0] != time.Microsecond || list[21] != 10*time.Second {
		t.Fatalf("steps %v", list)
	}
	for _, l := range layouts() {
		bins := (&Buckets{}).bins(l)
		checkBins(t, l, bins)
		for _, step := range steps(l) {
			nearest, taken := math.Inf(1), math.Inf(1)
			for i := range l.Len() - 1 {
				_, high := l.Bounds(i)
				away := math.Abs(float64(high - 1 - int64(step)))
				nearest = min(nearest, away)
				if slices.Contains(bins, i) {
					taken = min(taken, away)
				}
			}
			if nearest != taken || l == hist.Fio3(0) && taken > float64(step)/100 {
				t.Errorf("%v: %v is %v ns away, the nearest %v", l, step, taken, nearest)
			}
		}
		if all := (&Buckets{all: true}).bins(l); len(all) != l.Len()-1 {
			t.Errorf("%v: %d of %d bins", l, len(all), l.Len())
		}
	}
}
