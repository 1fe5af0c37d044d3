package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func drawn(t testing.TB, how Layout, doc *mapping.Run, windows []*mapping.Interval) string {
	t.Helper()
	how.Name = cmp.Or(how.Name, "01234567")
	s := NewScreen(&query.Query{}, how)
	for _, w := range window.RejoinAll(windows) {
		if err := s.Add(w); err != nil {
			t.Fatal(err)
		}
	}
	text, err := s.Draw(query.Stored(nil, doc), doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestScreen: the screen of a run equals the golden file, and fits a terminal of 80 columns and 24 lines.
func TestScreen(t *testing.T) {
	doc, windows := sample("out", 1)
	doc.Run.Note, doc.Warnings = "a new switch\nand more", []string{"archive:out: line 3: cut off"}
	doc.Documents.Cluster = 14
	var all strings.Builder
	for _, how := range []Layout{{Columns: 80, Lines: 24}, {Columns: 80, Lines: 40, Colour: true}, {}, {JSON: true}} {
		text := drawn(t, how, doc, windows)
		fmt.Fprintf(&all, "== %d x %d\n%s", how.Columns, how.Lines, text)
		if lines := strings.Count(text, "\n"); how.Lines > 0 && lines >= how.Lines {
			t.Errorf("%d lines:\n%s", lines, text)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(line) - 1; how.Columns > 0 && !how.Colour && n > how.Columns {
				t.Errorf("%d characters: %s", n, line)
			}
		}
	}
	golden.File(t, filepath.Join("testdata", "screen.txt"), all.String())
	const long = "a/rather/long/path/to/the/folder/of/results"
	if text := drawn(t, Layout{Columns: 80, Name: long}, doc, windows); !strings.HasSuffix(text, "\nnext: fio2es percentiles "+long+"\n") {
		t.Errorf("the last line is not one line:\n%s", text)
	}
}

// TestManyHosts: a terminal has the slowest hosts of each direction, as many as fit, and a file has all.
func TestManyHosts(t *testing.T) {
	const hosts = 40
	doc, _ := sample("hosts", 1)
	doc.Documents.Cluster = 8
	var windows []*mapping.Interval
	sum := &hist.Histogram{}
	for second := range int64(4) {
		for _, direction := range []string{"read", "write"} {
			whole := &hist.Histogram{}
			for i := range hosts {
				h := histOf(50, 100+10*float64(i))
				whole.Merge(h)
				windows = append(windows, windowOf(direction, fmt.Sprintf("node%02d", i), second*1000, 1000, h))
			}
			if direction == "read" { // writes are the same
				sum.Merge(whole)
			}
			windows = append(windows, windowOf(direction, "", second*1000, 1000, whole))
		}
	}
	doc.Read, doc.Write = totalsOfHist(sum, 4), totalsOfHist(sum, 4)
	for _, c := range []struct {
		lines, hosts int
		more         string
	}{{24, 4, "… and 76 more"}, {50, 24, "… and 56 more"}, {0, 80, ""}} {
		text := drawn(t, Layout{Columns: 80, Lines: c.lines}, doc, windows)
		if n := strings.Count(text, "\nnode"); n != c.hosts || !strings.Contains(text, c.more) || strings.Contains(text, "… and") != (c.more != "") {
			t.Errorf("%d lines: %d hosts, want %d, %s:\n%s", c.lines, n, c.hosts, c.more, text)
		}
		if n := strings.Count(text, "\n"); c.lines > 0 && n >= c.lines {
			t.Errorf("%d lines, of %d", n, c.lines)
		}
		for i, direction := range []string{"read", "write"} {
			if at := strings.Index(text, "\nnode39  "+direction); at < 0 || i > 0 && at < strings.Index(text, "\nnode38  read") {
				t.Errorf("the slowest host is not the first of its direction:\n%s", text)
			}
		}
	}
}

// TestScreenSparse: what is not known is not shown as a number, and why is said.
func TestScreenSparse(t *testing.T) {
	unknown, windows := sample("unknown", 1)
	for _, d := range windows {
		d.Time, d.Window.End = timeZero.Add(d.Time.Sub(began)), timeZero.Add(d.Window.End.Sub(began))
		d.Run.Start = timeZero
	}
	unknown.Run.Start, unknown.Run.End, unknown.Clock.Source = timeZero, timeZero.Add(at(8000).Sub(began)), "unknown"
	averages := &mapping.Run{
		Run: mapping.RunInfo{Name: "averages", Start: began, End: at(1000)}, Read: &mapping.Totals{IOPS: 120, Latency: mapping.Latency{Mean: 42}},
		Missing: mapping.Lost{Requests: 1234}, NoWindows: "averages have no percentiles", Levels: []mapping.Level{mapping.Cluster, mapping.Host},
	}
	var means []*mapping.Interval
	for _, host := range []string{"", "a", "b"} {
		w := windowOf("read", host, 0, 1000, &hist.Histogram{})
		w.Weighting, w.Latency, w.IOPS = mapping.Averaged, mapping.Latency{Mean: 42}, 60
		if host == "b" {
			w.IOPS = 0
		}
		means = append(means, w)
	}
	report := &mapping.Run{Run: mapping.RunInfo{Name: "report", Start: began, End: at(1000), Complete: true}, Read: totalsOfHist(histOf(10, 50), 1)}
	live, some := sample("live", 1)
	live.Run.Ingest, live.Run.Complete, live.Documents.Cluster = mapping.LiveIngest(began), false, 1
	live.Levels = []mapping.Level{mapping.Cluster}
	some = slices.DeleteFunc(some, func(d *mapping.Interval) bool { return d.Level == mapping.Host })
	for _, c := range []struct {
		doc       *mapping.Run
		windows   []*mapping.Interval
		want, not []string
	}{
		{unknown, windows, []string{"\ndate not known · 8.00s · 2 hosts", " at +3s ", " at +5s     1.00s\n"}, []string{"0001-01-01"}},
		{averages, means, []string{
			"DIR   REQUESTS  IOPS  BANDWIDTH    MEAN  P50  P95  P99  P99.9  MAX\nread         -   120          -  42.0µs    -    -    -      -    -\n", "\na     read         -    60    -    -    -\n", "\nb     read         -     -    -    -    -\n",
			"note: 1,234 requests are missing: ", "note: averages have no percentiles",
		}, []string{"HIGHEST", "LATENCY"}},
		{report, nil, []string{"read        10", "49.9µs  50.1µs†", "note: no percentiles over time: its files do not say what happened when"}, []string{"HIGHEST", "HOST", "windows of", "0 hosts"}},
		{live, some, []string{"note: the run is live", "note: The history has no documents of this run's hosts"}, nil},
	} {
		text := drawn(t, Layout{}, c.doc, c.windows)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.doc.Run.Name, want, text)
			}
		}
		for _, not := range append(c.not, "NaN", "Inf", "%!") {
			if strings.Contains(text, not) {
				t.Errorf("%s: %s in\n%s", c.doc.Run.Name, not, text)
			}
		}
		var data map[string]any
		if err := json.Unmarshal([]byte(drawn(t, Layout{JSON: true}, c.doc, c.windows)), &data); err != nil || data["by_direction"] == nil {
			t.Errorf("%s: %v: %v", c.doc.Run.Name, err, data)
		}
	}
}

// TestClockTime: a time on another day than the start has its date.
func TestClockTime(t *testing.T) {
	r := &run{Doc: &mapping.Run{Run: mapping.RunInfo{Start: began}}}
	for after, want := range map[time.Duration]string{time.Hour: "04:13:02.000", 24 * time.Hour: "Nov 22 03:13:02.000"} {
		if got := clockTime(r.Doc.Run.Start, began.Add(after)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
