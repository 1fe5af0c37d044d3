package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func write(t testing.TB, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	scripts = regexp.MustCompile(`(?s)(<script[^>]*>).*?(</script>)`)
	metas   = regexp.MustCompile(`(<meta [^>]*)>`)
)

// checkWellFormed checks that all elements of a page are closed in the right place.
func checkWellFormed(t *testing.T, page string) {
	t.Helper()
	// XML requires that these are closed
	text := metas.ReplaceAllString(scripts.ReplaceAllString(page, "$1$2"), "$1/>")
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		switch _, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			line, _ := d.InputPos()
			t.Fatalf("not well-formed: %v\n%s", err, strings.Split(text, "\n")[line-1])
		}
	}
}

// pair returns a page of two runs and their comparison. The second run is slower and incomplete.
func pair(t testing.TB) *Page {
	p := New(Options{Program: "fio2es test"})
	doc, windows := sample("before", 1)
	put(t, p, doc, windows)
	doc, windows = sample("after", 1.5)
	doc.Run.Complete, doc.Missing.Requests = false, 12
	doc.Warnings = []string{"output.0_clat_hist.1.log.client02: line 3: cut off"}
	put(t, p, doc, windows)
	metric := func(name string) facts.Metric {
		m, _ := facts.ParseMetric(name)
		return m
	}
	line := func(c compare.Change) compare.Line { return compare.Line{Direction: "read", Change: c} }
	p.pair = &comparison{Changes: []compare.Line{
		line(compare.Change{Metric: metric("p50"), Base: 120_000, Other: 180_000, Change: 0.5, Low: 0.4, High: 0.62, Verdict: compare.Worse}),
		line(compare.Change{Metric: metric("iops"), Base: 246, Other: 246, Change: 0, Low: -0.1, High: 0.1, Verdict: compare.Same}),
		line(compare.Change{
			Metric: metric("p99.9"), Base: math.NaN(), Other: math.NaN(), Change: math.NaN(), Low: math.NaN(), High: math.NaN(),
			Verdict: compare.Unknown, Why: "too few requests",
		}),
	}}
	return p
}

// TestGolden: the page equals the golden file.
func TestGolden(t *testing.T) {
	single := New(Options{Program: "fio2es test", Query: query.Query{Directions: []string{"write"}, From: "+1s"}})
	doc, windows := sample("before", 1)
	doc.Fio.Options, doc.Config = nil, nil
	var chosen []*mapping.Interval
	for _, d := range windows {
		if d.Fio.Direction == "write" && d.Window.ElapsedMS >= 1000 {
			chosen = append(chosen, d)
		}
	}
	put(t, single, doc, chosen)
	for name, page := range map[string]*Page{"pair.html": pair(t), "part.html": single} {
		got := write(t, page)
		checkWellFormed(t, got)
		golden.File(t, filepath.Join("testdata", name), got)
	}
}

// shown returns a page without the titles of cells, which only narrow screens show.
func shown(t *testing.T, p *Page) string {
	return regexp.MustCompile(` data-title="[^"]*"`).ReplaceAllString(write(t, p), "")
}

// TestNumbersOfPage: the numbers on the page are those of the documents.
func TestNumbersOfPage(t *testing.T) {
	page := shown(t, pair(t))
	for _, want := range []string{
		`<strong>This run is incomplete.</strong> 12 requests are missing`, "line 3: cut off",
		`<dt>Recovered</dt><dd>123 requests (3.6 %)`, `<dt>disk</dt><dd>nvme</dd>`, `<dt>OSD read-ahead</dt><dd>4MiB</dd>`, `<dt>CPU of a job</dt><dd>1.25 % user, 0.5 % system</dd>`,
		`archive · 2026-11-21 03:13:02 to 03:13:10 UTC · 8.00s · 2 hosts · 4 jobs · fio-3.33`, `librbdfio · randrw · Block size 4KiB · I/O depth 4 · numjobs 2 · Iteration 0`,
		`<th scope="row" class="text">client02</th><td>847</td>`, `XXH64 00c0ffee00c0ffee`, `0 at 03:13:07.000</td><td class="text">1.00s</td>`,
		`title="too few requests">unknown</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestHalf: the last windows of a live run are drawn only when all directions have them, because directions come one
// after another.
func TestHalf(t *testing.T) {
	for _, tt := range []struct {
		ingest string
		lacks  string
		want   string // rows of each direction
	}{{"live-1", "write", "6 6"}, {"live-1", "", "7 7"}, {"1", "write", "7 6"}} {
		p := New(Options{Program: "fio2es test"})
		doc, windows := sample("before", 1)
		doc.Run.Ingest = tt.ingest
		put(t, p, doc, slices.DeleteFunc(windows, func(d *mapping.Interval) bool { return d.Window.ElapsedMS == 7000 && d.Fio.Direction == tt.lacks }))
		var got []string
		for _, panel := range dataOf(t, p) {
			got = append(got, fmt.Sprint(len(panel.Rows)))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// dataOf returns the values that a pointer shows.
func dataOf(t *testing.T, p *Page) []panelData {
	t.Helper()
	var data chartData
	text := regexp.MustCompile(`(?s)<script type="application/json" class="data">(.*?)</script>`).FindStringSubmatch(write(t, p))[1]
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	return data.Panels
}

// TestData: the values that a pointer shows are the drawn values, for each direction and window.
func TestData(t *testing.T) {
	p := New(Options{Program: "fio2es test"})
	doc, windows := sample("before", 1)
	put(t, p, doc, windows)
	panels := dataOf(t, p)
	if len(panels) != 2 || panels[0].Name != "read" || len(panels[1].Rows) != 7 || strings.Join(panels[0].Columns, " ") != "p50 p95 p99 p99.9 max iops" {
		t.Fatalf("%+v", panels)
	}
	if got := fmt.Sprint(panels[0].Rows[0]); got != "[76 196 03:13:02.000 – 03:13:03.000 120µs 604µs 606µs 899µs 899µs 242]" {
		t.Error(got)
	}
}

// TestHostile: no text in a run document becomes an element, an attribute or a script.
func TestHostile(t *testing.T) {
	const evil = `</title></script></svg></style><script>alert(1)</script><img src=x onerror=alert(2)>" onload="alert(3)' onload='alert(4) javascript:alert(5) {{.}} ]]> &lt;script&gt;`
	clean := New(Options{Program: "fio2es test"})
	hostile := New(Options{Program: "fio2es test"})
	for range 2 {
		doc, windows := sample("before", 1)
		put(t, clean, doc, windows)
		doc, windows = sample(evil, 1)
		i := &doc.Run
		i.Archive, i.Path, i.ID, i.Labels = evil, evil, evil, map[string]string{evil: evil}
		doc.Config, doc.Fio.Options, doc.Fio.Version = mapping.ConfigOf(map[string]any{evil: evil}), map[string]string{evil: evil}, evil
		doc.CBT.Benchmark, doc.CBT.Mode, doc.CBT.Workload, doc.CBT.Pool = evil, evil, evil, evil
		doc.Warnings, doc.Clock.Source, doc.Weighting = []string{evil}, evil, evil
		doc.Hosts[0].Name = evil
		for _, d := range windows {
			if d.Host.Name == "client01" {
				d.Host.Name = evil
			}
		}
		put(t, hostile, doc, windows)
	}
	hostile.pair = &comparison{Why: evil}
	page := write(t, hostile)
	checkWellFormed(t, page)
	if strings.Contains(page, "<img") || strings.Contains(page, "<script>alert") || strings.Contains(page, `" onload=`) || strings.Contains(page, `' onload=`) {
		t.Error("a name came through as it was")
	}
	want := write(t, clean)
	for _, element := range []string{"<script", "<svg", "<style", "<title", "<text", " href="} {
		if got, want := strings.Count(page, element), strings.Count(want, element); got != want {
			t.Errorf("%d times %s, want %d", got, element, want)
		}
	}
	if n := strings.Count(page, "onload="); n == 0 || !strings.Contains(page, `<strong>Notes:</strong>`) { // of a complete run
		t.Error("the name or a note is not on the page at all")
	}
}

// TestAlone: the page loads nothing, and its policy allows only its own script.
func TestAlone(t *testing.T) {
	page := write(t, pair(t))
	for _, link := range regexp.MustCompile(`(?:src|href|url|action|data)\s*[=(]\s*["']?([^"'\s>)]*)`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(link[1], "#") && !strings.HasPrefix(link[1], "run.querySelector") {
			t.Errorf("%s", link[0])
		}
	}
	if n := strings.Count(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), "://"); n != 0 {
		t.Errorf("%d addresses", n)
	}
	if !strings.Contains(page, "default-src &#39;none&#39;") || !strings.Contains(page, "<script>"+pageJS+"</script>") {
		t.Error("no policy, or another script than the one that it allows")
	}
}

// TestIsSmall: the size of a page of 46 minutes of reads and writes with widely spread latencies.
func TestIsSmall(t *testing.T) {
	random, p := rand.New(rand.NewPCG(1, 2)), New(Options{Program: "fio2es test"})
	r, sum := p.begin(true), &hist.Histogram{}
	for second := range int64(1250) {
		for _, direction := range []string{"read", "write"} {
			h := hist.New(hist.Fio3(0))
			for range 150 {
				h.AddLatency(int64(50_000*math.Exp(random.NormFloat64()*2)), float64(1+random.IntN(30)))
			}
			sum.Merge(h)
			r.add(window.From(windowOf(direction, "", second*1000, 1000, h)), h)
		}
	}
	doc, _ := sample("long", 1)
	doc.Read, doc.Write = totalsOfHist(sum, 1250), totalsOfHist(sum, 1250)
	one, err := r.end(doc)
	if err != nil || one == nil {
		t.Fatal(one, err)
	}
	p.put(one, r)
	if n := len(write(t, p)); n > 800_000 {
		t.Errorf("%d bytes", n)
	}
}

// TestManyStages: stages without a section and a colour are in the summary.
func TestManyStages(t *testing.T) {
	p := New(Options{Program: "fio2es test"})
	for i := range MaxSections + 2 {
		doc, windows := sample(fmt.Sprintf("results/run%02d", i), 1)
		stageOf(doc, i+1, MaxSections+2)
		put(t, p, doc, windows)
	}
	page := shown(t, p)
	checkWellFormed(t, page)
	for text, want := range map[string]int{
		`<article class="run"`: MaxSections, `<td class="text name">run`: MaxSections + 2, `<a href="#run-`: MaxSections,
		"The last 2 of these runs have no section": 1, "The first 8 runs are drawn": 2, `class="line run`: 4 * maxCurves,
	} {
		if got := strings.Count(page, text); got != want {
			t.Errorf("%d times %s, want %d", got, text, want)
		}
	}
}

// stageOf makes a run a stage of one execution.
func stageOf(doc *mapping.Run, stage, of int) {
	i := &doc.Run
	i.StageName, i.Execution, i.Stage, i.Stages = strings.TrimPrefix(i.Name, "results/"), "ffff", stage, of
}

// TestMatrix: a page of stages that differ in one setting or two has their p99 by these, in each direction. A page of parts of
// the stages has not, because documents have the numbers of whole runs.
func TestMatrix(t *testing.T) {
	page := func(q query.Query, settings ...mapping.CBT) string {
		p := New(Options{Program: "fio2es test", Query: q})
		for i, cbt := range settings {
			doc, windows := sample(fmt.Sprintf("run%02d", i), float64(1+i))
			doc.CBT = cbt
			stageOf(doc, i+1, len(settings))
			put(t, p, doc, windows)
		}
		text := write(t, p)
		checkWellFormed(t, text)
		return text
	}
	at := func(size, depth int64) mapping.CBT {
		return mapping.CBT{Benchmark: "librbdfio", Mode: "randrw", OpSize: size, IODepth: depth, TotalIODepth: 4 * depth}
	}
	sweep := []mapping.CBT{at(4096, 1), at(4096, 16), at(65536, 1), at(65536, 16)}
	const two, one = "<h2>p99 of %ss by op_size and total_iodepth</h2>", "<h2>p99 of %ss by total_iodepth</h2>"
	three := append(sweep, sweep[0])
	three[4].Pool = "ec"
	for _, c := range []struct {
		name     string
		query    query.Query
		settings []mapping.CBT
		title    string
		drawings int // of a direction; none: no title
	}{
		{"two settings", query.Query{}, sweep, two, 2},
		{"one setting", query.Query{}, []mapping.CBT{at(4096, 1), at(4096, 4), at(4096, 16)}, one, 1},
		{"a part", query.Query{From: "+1s"}, sweep, two, 0},
		{"three settings", query.Query{}, three, two, 0},
		{"two runs", query.Query{}, sweep[:2], one, 0},
	} {
		text := page(c.query, c.settings...)
		for _, direction := range []string{"read", "write"} {
			_, after, has := strings.Cut(text, fmt.Sprintf(c.title, direction))
			section, _, _ := strings.Cut(after, "</section>")
			if n := strings.Count(section, "<svg xmlns"); has != (c.drawings > 0) || n != c.drawings {
				t.Errorf("%s: %d drawings of %ss, want %d", c.name, n, direction, c.drawings)
			}
		}
	}
}

// TestSparse: pages of runs about which little is known.
func TestSparse(t *testing.T) {
	unknown, windows := sample("unknown", 1)
	for _, d := range windows {
		d.Time, d.Window.End = timeZero.Add(d.Time.Sub(began)), timeZero.Add(d.Window.End.Sub(began))
	}
	unknown.Run.Start, unknown.Run.End = timeZero, timeZero.Add(at(8000).Sub(began))
	averages := &mapping.Run{
		Run: mapping.RunInfo{Name: "averages", Start: began, End: at(1000)}, Read: &mapping.Totals{IOPS: 120, Latency: mapping.Latency{Mean: 42}},
	}
	window := windowOf("read", "", 0, 1000, &hist.Histogram{})
	window.Latency, window.IOPS = mapping.Latency{Mean: 42}, 120
	report := &mapping.Run{Run: mapping.RunInfo{Name: "report alone", Start: began, End: at(1000)}, Read: totalsOfHist(histOf(10, 50), 1)}
	hosts, cluster := sample("hosts", 1)
	hosts.Levels = []mapping.Level{mapping.Cluster}
	cluster = cluster[2:3]
	for _, c := range []struct {
		doc     *mapping.Run
		windows []*mapping.Interval
		want    []string
	}{
		{unknown, windows, []string{"<dt>Start</dt><dd class=\"time\">not known</dd>", "seconds since the run&#39;s start", "&#43;5s"}},
		{averages, []*mapping.Interval{window}, []string{"none: averages have no percentiles", ">IOPS</text>", "<td>42.0µs</td>"}},
		{report, nil, []string{"no percentiles over time: its files do not say what happened when", "<td>10</td>", "Distribution"}},
		{hosts, cluster, []string{"no documents of this run&#39;s hosts: ingest it with --levels cluster,host"}},
	} {
		p := New(Options{Program: "fio2es test"})
		put(t, p, c.doc, c.windows)
		page := shown(t, p)
		checkWellFormed(t, page)
		for _, want := range c.want {
			if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#43;", "+")) {
				t.Errorf("%s: no %s", c.doc.Run.Name, want)
			}
		}
		for _, not := range []string{"NaN", "Inf", "%!"} {
			if strings.Contains(strings.ReplaceAll(page, pageJS, ""), not) {
				t.Errorf("%s: %s", c.doc.Run.Name, not)
			}
		}
	}
	p := New(Options{Program: "fio2es test", Query: query.Query{From: "+1h"}})
	if one, err := p.begin(true).end(hosts); one != nil || err != nil {
		t.Errorf("%v, %v", one, err)
	}
}

func TestChangeX(t *testing.T) {
	for change, want := range map[float64]float64{0: 80, 1: 154, -0.5: 6, 10: 154, -0.9: 6, math.Sqrt2 - 1: 117} {
		if got := changeX(change); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v is at %v, want %v", change, got, want)
		}
	}
}

// TestLiveTotals: the table of a live run has the requests of its pictures, and not those of windows that are not complete.
func TestLiveTotals(t *testing.T) {
	doc, docs := sample("a", 1)
	doc.Run.Ingest = mapping.LiveIngest(began)
	docs = docs[:len(docs)-1] // without the last writes
	r, want := New(Options{}).begin(true), int64(0)
	for _, w := range window.RejoinAll(docs) {
		h, err := w.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		if r.add(w, h); w.Level == mapping.Cluster && w.ElapsedMS < 7000 && w.Direction == "read" {
			want += w.Completed
		}
	}
	one, err := r.end(doc)
	if err != nil || one == nil {
		t.Fatal(one, err)
	}
	if got := one.Totals[0]; got.Direction != "read" || got.Requests != want {
		t.Errorf("%s: %d requests, want %d; the document has %d", got.Direction, got.Requests, want, doc.Read.Requests)
	}
}

// TestExecution: on the page of an execution a table has all stages, with the settings in which they differ. Stages are not
// compared with one another.
func TestExecution(t *testing.T) {
	p := New(Options{Program: "fio2es test"})
	for i, depth := range []int64{1, 16} {
		doc, windows := sample(fmt.Sprintf("results/qd%d", depth), 1)
		doc.Run.StageName, doc.Run.Execution, doc.Run.Stage, doc.Run.Stages, doc.CBT.IODepth = fmt.Sprintf("qd%d", depth), "ffff", i+1, 2, depth
		put(t, p, doc, windows)
	}
	page := shown(t, p)
	checkWellFormed(t, page)
	for _, want := range []string{
		`<title>ffff archive:results, 2 stages - fio2es report</title>`, `<p class="title">2026-11-21 03:13:02 to 03:13:10 UTC · 8.00s · fio-3.33</p>`,
		`<a href="#run-2">2/2</a></td><td class="text name">qd16</td><td class="text name">randrw 4K qd16</td><th scope="row" class="text">read</th>`,
		`<article class="run" id="run-2">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(page, "against run 1") {
		t.Error("stages are compared")
	}

	// as a pair they are
	pair := New(Options{Program: "fio2es test", Pair: true})
	for i := range 2 {
		doc, windows := sample(fmt.Sprintf("results/qd%d", i), 1)
		stageOf(doc, i+1, 2)
		put(t, pair, doc, windows)
	}
	if page := shown(t, pair); !strings.Contains(page, "<h2 id=\"comparison\">Run 2 against run 1</h2>") {
		t.Error("the pair is not compared")
	}
}
