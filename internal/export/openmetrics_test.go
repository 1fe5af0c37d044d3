package export

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// sample is a line of an exposition.
type sample struct {
	name   string // without that of the family
	labels string // without le, as written
	values map[string]string
	le     float64
	value  float64
	at     string // its time, as written
}

// point is what a histogram says at one time.
type point struct {
	labels  map[string]string
	at      float64 // NaN without a time
	bounds  []float64
	counts  []float64
	count   float64
	sum     float64
	created float64
}

// parse is a strict reader of what OpenMetrics 1.0 says of one family of histograms: its
// metadata once, before all samples; points of a series together, in order of time;
// buckets ascending, and up to +Inf, which is the count; whole counts; no counter that goes
// back from one point to the next; the end of the exposition, and nothing after it.
func parse(text string) (points []point, err error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("no UTF-8")
	}
	body, ok := strings.CutSuffix(text, "# EOF\n")
	if !ok {
		return nil, errors.New("no # EOF at the end")
	}
	metadata := map[string]string{}
	series, seen := "", map[string]bool{}
	var group []sample
	end := func() error {
		if len(group) == 0 {
			return nil
		}
		p, err := pointOf(group)
		if err != nil {
			return fmt.Errorf("%s at %q: %w", series, group[0].at, err)
		}
		if last := len(points) - 1; last >= 0 && fmt.Sprint(points[last].labels) == fmt.Sprint(p.labels) {
			if err := follows(&points[last], &p); err != nil {
				return fmt.Errorf("%s at %q: %w", series, group[0].at, err)
			}
		}
		points, group = append(points, p), nil
		return nil
	}
	for line := range strings.Lines(body) {
		line, ok := strings.CutSuffix(line, "\n")
		if !ok || line == "" {
			return nil, fmt.Errorf("%q is no whole line", line)
		}
		if strings.HasPrefix(line, "#") {
			parts := strings.SplitN(line, " ", 4)
			if len(parts) != 4 || parts[2] != "fio_latency_seconds" || metadata[parts[1]] != "" || series != "" {
				return nil, fmt.Errorf("metadata out of place: %s", line)
			}
			metadata[parts[1]] = parts[3]
			continue
		}
		s, err := parseSample(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		if s.labels != series || len(group) > 0 && s.at != group[0].at {
			if err := end(); err != nil {
				return nil, err
			}
		}
		if s.labels != series && seen[s.labels] {
			return nil, fmt.Errorf("%s: %s is interrupted by others", line, s.labels)
		}
		series = s.labels
		seen[series] = true
		group = append(group, s)
	}
	if metadata["TYPE"] != "histogram" || metadata["UNIT"] != "seconds" || metadata["HELP"] == "" {
		return nil, fmt.Errorf("metadata %v", metadata)
	}
	return points, end()
}

// parseSample reads a line by the grammar of the specification.
func parseSample(line string) (s sample, err error) {
	rest, ok := strings.CutPrefix(line, "fio_latency_seconds")
	name, rest, braces := strings.Cut(rest, "{")
	if !ok || !braces {
		return s, errors.New("another name, or no labels")
	}
	s = sample{name: name, values: map[string]string{}, le: math.NaN()}
	for {
		label, after, ok := strings.Cut(rest, `="`)
		if !ok || label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return s, fmt.Errorf("label %q", label)
		}
		value, size, err := unescape(after)
		if err != nil {
			return s, err
		}
		if _, twice := s.values[label]; twice || value == "" {
			return s, fmt.Errorf("label %s is there twice, or empty", label)
		}
		if label == "le" {
			if s.le, err = strconv.ParseFloat(value, 64); err != nil {
				return s, err
			}
		} else {
			s.values[label] = value
			s.labels += label + "=" + after[:size] + ","
		}
		rest = after[size:]
		if more, ok := strings.CutPrefix(rest, ","); ok {
			rest = more
			continue
		}
		if rest, ok = strings.CutPrefix(rest, "} "); !ok {
			return s, fmt.Errorf("%q after labels", rest)
		}
		break
	}
	value, at, timed := strings.Cut(rest, " ")
	s.at = at
	if s.value, err = strconv.ParseFloat(value, 64); err != nil {
		return s, err
	}
	if timed {
		_, err = strconv.ParseFloat(at, 64)
	}
	return s, err
}

// unescape reads the value of a label up to, and with, its closing quote.
func unescape(text string) (value string, size int, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return b.String(), i + 1, nil
		case '\\':
			if i++; i == len(text) {
				return "", 0, errors.New("ends after a backslash")
			}
			switch text[i] {
			case '\\', '"':
				b.WriteByte(text[i])
			case 'n':
				b.WriteByte('\n')
			default:
				return "", 0, fmt.Errorf(`no escape: \%c`, text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, errors.New("a label's value has no end")
}

// pointOf puts together the samples of one series and time.
func pointOf(group []sample) (point, error) {
	p := point{labels: group[0].values, at: math.NaN(), count: math.NaN(), sum: math.NaN(), created: math.NaN()}
	if group[0].at != "" {
		p.at, _ = strconv.ParseFloat(group[0].at, 64)
	}
	for _, s := range group {
		to := map[string]*float64{"_count": &p.count, "_sum": &p.sum, "_created": &p.created}[s.name]
		switch {
		case s.name == "_bucket":
			last := len(p.bounds) - 1
			if math.IsNaN(s.le) || last >= 0 && (s.le <= p.bounds[last] || s.value < p.counts[last]) || s.value != math.Trunc(s.value) || s.value < 0 {
				return p, fmt.Errorf("bucket %v of %v after %v of %v", s.le, s.value, p.bounds, p.counts)
			}
			p.bounds, p.counts = append(p.bounds, s.le), append(p.counts, s.value)
		case to == nil || !math.IsNaN(*to) || !math.IsNaN(s.le):
			return p, fmt.Errorf("%s: no sample of a histogram, or twice", s.name)
		default:
			*to = s.value
		}
	}
	last := len(p.bounds) - 1
	if last < 0 || !math.IsInf(p.bounds[last], 1) || p.counts[last] != p.count || !(p.sum >= 0) {
		return p, fmt.Errorf("ends with %v: count %v, sum %v", p.bounds, p.count, p.sum)
	}
	return p, nil
}

// follows finds what is wrong with a point after another.
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

// exposition writes runs and reads them again.
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
	if p := points[2]; !math.IsNaN(p.created) || !math.IsNaN(p.at) { // not known
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
		"read 0.000 [0 0]", "read 1.000 [6 9]", "read 2.001 [7 10]", "read 6.000 [7 10]", "read 7.000 [7 14]", // at 6 s: nothing since 2 s
		"write 0.003 [0 0]", "write 1.003 [0 4]",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOpenMetricsExact: a bucket's count is the number of requests within its bound, with no
// doubt left by the bins; and the last point of windows is the whole run.
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

// TestOpenMetricsNames: any names of runs and hosts come back.
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

// TestParse: the reader of these tests takes nothing that is wrong.
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
