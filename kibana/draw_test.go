package kibana_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
	"github.com/fio2es/fio2es/mapping"
)

// noData is what panels show if there is nothing to draw, such as "no data for this time, query and filters".
var noData = regexp.MustCompile(`^no [a-z ]+ for this time, query and filters$`)

func browser(t *testing.T) *Browser {
	t.Helper()
	b := &Browser{Chromium: os.Getenv("FIO2ES_TEST_CHROMIUM"), Vega: os.Getenv("FIO2ES_TEST_VEGA")}
	if b.Chromium == "" || b.Vega == "" {
		t.Skip("FIO2ES_TEST_CHROMIUM and FIO2ES_TEST_VEGA name no browser and no library to draw with; .ci/vega does")
	}
	return b
}

// draw draws jobs, which are those of a whole test, because a browser takes a second to start.
func (b *Browser) draw(t *testing.T, jobs ...Job) []Picture {
	t.Helper()
	pictures, err := b.Draw(t.Context(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	return pictures
}

// job returns a panel with the answers of a kind: recorded ones, or "missing".
func job(t *testing.T, b *kibana.Bundle, panel, kind string) Job {
	t.Helper()
	j := Job{Spec: b.Specs[panel], Answers: map[string]json.RawMessage{}}
	for _, r := range requests(t, b) {
		if r.Panel != panel {
			continue
		}
		answer, err := kibanatest.Missing, error(nil)
		if kind != "missing" {
			answer, err = kibanatest.ReadAnswer(filepath.Join("testdata", "answers"), panel, r.Data, kind)
		}
		if errors.Is(err, os.ErrNotExist) {
			t.Errorf("no answer is recorded for panel %s, data set %s: run TestKibanaElastic with -update", panel, r.Data)
			answer = kibanatest.Missing
		} else if err != nil {
			t.Fatal(err)
		}
		j.Answers[r.Data] = answer
	}
	return j
}

// TestDraw draws every Vega panel: with the example archive, for a time without documents, and without an index; in
// the light and the dark theme, wide and narrow.
func TestDraw(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	type drawing struct{ panel, kind string }
	var list []drawing
	var jobs []Job
	for _, panel := range slices.Sorted(maps.Keys(b.Specs)) {
		for _, kind := range []string{kibanatest.Full, kibanatest.Empty, "missing"} {
			j := job(t, b, panel, kind)
			list, jobs = append(list, drawing{panel, kind}), append(jobs, j)
			if kind == kibanatest.Full {
				j.Dark, j.Width, j.Height = true, 600, 300
				list, jobs = append(list, drawing{panel, kind}), append(jobs, j)
			}
		}
	}
	pictures := browser.draw(t, jobs...)
	for i, p := range pictures {
		name := list[i].panel + list[i].kind
		for _, message := range p.Messages {
			if list[i].kind != kibanatest.Full && strings.Contains(message, "Infinite extent") {
				// a warning about a scale without data, which Kibana shows only to people who edit the panel
				continue
			}
			t.Errorf("%s: %s", name, message)
		}
		saysNothing := slices.ContainsFunc(p.Texts(), noData.MatchString)
		if saysNothing != (list[i].kind != kibanatest.Full) {
			t.Errorf("%s: says that there is nothing: %v", name, saysNothing)
		}
		if n := marks(p.SVG); n == 0 && list[i].kind == kibanatest.Full {
			t.Errorf("%s: nothing is drawn", name)
		}
		checkTexts(t, name, p.Texts())
		savePicture(t, fmt.Sprintf("%s-%d", name, i), p)
	}
}

// savePicture saves a picture in the folder FIO2ES_TEST_PICTURES, for people to look at.
func savePicture(t *testing.T, name string, p Picture) {
	t.Helper()
	dir := os.Getenv("FIO2ES_TEST_PICTURES")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(f, p.Image), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// checkTexts finds texts that formulas make from missing values.
func checkTexts(t *testing.T, name string, texts []string) {
	t.Helper()
	for _, text := range texts {
		for _, wrong := range []string{"NaN", "undefined", "null", "Infinity", "[object"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
}

// marks returns the number of elements of a specification's marks, without axes, legends and titles.
func marks(svg string) int {
	n := 0
	for _, group := range strings.Split(svg, `role-mark`)[1:] {
		if end := strings.Index(group, `class="mark-`); end >= 0 {
			group = group[:end]
		}
		for _, element := range []string{"<path", "<text", "<line", "<rect"} {
			n += strings.Count(group, element)
		}
	}
	return n
}

// TestDrawChanges: a triangle marks the first run after each change, in the chart of its number, with all that is
// known of it. Changes of another direction are left out.
func TestDrawChanges(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	wants := map[string][]string{
		"all": {
			"p99 of writes 10.8ms, was 8.96ms: +20.6 % (+18.2 … +23.0 %)", "IOPS of writes 184, was 2629: -93.0 % (-93.5 … -92.4 %)",
			"p99.9 of reads 14.0ms, was 18.0ms: -22.3 % (-25.0 … -20.1 %); p99.9 of writes 14.0ms, was 11.0ms: +27.3 % (+25.0 … +30.1 %)",
		},
		"read": {"p99.9 of reads 14.0ms, was 18.0ms: -22.3 % (-25.0 … -20.1 %)"},
		"write": {
			"p99 of writes 10.8ms, was 8.96ms: +20.6 % (+18.2 … +23.0 %)", "IOPS of writes 184, was 2629: -93.0 % (-93.5 … -92.4 %)",
			"p99.9 of writes 14.0ms, was 11.0ms: +27.3 % (+25.0 … +30.1 %)",
		},
		"trim": {},
	}
	directions := slices.Sorted(maps.Keys(wants))
	var jobs []Job
	for _, direction := range directions {
		j := job(t, b, "history-runs", kibanatest.Full)
		j.Signals, j.Ask = map[string]any{"direction": direction}, map[string]string{"texts": "view.data('marks').map(d => d.text)"}
		jobs = append(jobs, j)
	}
	pictures := browser.draw(t, jobs...)
	for i, p := range pictures {
		var texts []string
		asked(t, p, "texts", &texts)
		want := wants[directions[i]]
		slices.Sort(want)
		if slices.Sort(texts); !slices.Equal(texts, want) {
			t.Errorf("%s: %q, want %q", directions[i], texts, want)
		}
		better, worse := strings.Count(p.SVG, `fill="#54B399"`), strings.Count(p.SVG, `fill="#E7664C"`)
		if better+worse != len(want) || (better == 1) != (directions[i] == "read") {
			t.Errorf("%s: %d marks for the better, %d for the worse", directions[i], better, worse)
		}
	}
}

// TestDrawWhatChanged: a line for a run, the largest change for the worse first.
func TestDrawWhatChanged(t *testing.T) {
	browser := browser(t)
	j := job(t, bundle(t, kibana.Options{}), "history-counts", kibanatest.Full)
	change := func(verdict string, percent float64, metric string) string {
		return fmt.Sprintf(`{"direction":"read","metric":%q,"verdict":%q,"percent":%v,"text":"t"}`, metric, verdict, percent)
	}
	run := func(id, start, workload string, changes ...string) string {
		return fmt.Sprintf(`{"_source":{"run":{"id":%q,"start":%q},"workload":{"id":%q,"name":%q},"changes":[%s]}}`, id, start, workload, workload, strings.Join(changes, ","))
	}
	j.Answers["events"] = json.RawMessage(`{"timed_out":false,"hits":{"hits":[` + strings.Join([]string{
		run("3", "2026-01-03T00:00:00Z", "better", change("better", -60, "p99")),
		run("2", "2026-01-02T00:00:00Z", "small", change("worse", 5, "p50"), change("worse", 12, "p99")),
		run("1", "2026-01-01T00:00:00Z", "large", change("worse", 50, "p99"), change("better", -70, "p50")),
	}, ",") + `]}}`)
	j.Ask = map[string]string{"lines": "view.data('events').map(d => d.plain + ' ' + d.short)"}
	p := browser.draw(t, j)[0]
	var lines []string
	asked(t, p, "lines", &lines)
	if want := []string{
		"large worse: p99 +50.0 % of reads; better: p50 −70.0 % of reads", "small worse: p99 +12.0 %, p50 +5.0 % of reads", "better better: p99 −60.0 % of reads",
	}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

// TestDrawPlain: a run of fio on one machine, whose files do not name the host, and a run that is not complete.
func TestDrawPlain(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	replace := func(old, text string) func([]byte) []byte {
		return func(answer []byte) []byte { return regexp.MustCompile(old).ReplaceAll(answer, []byte(text)) }
	}
	plain := []func([]byte) []byte{
		replace(`"hosts":\[\{[^\]]*\]`, `"hosts":[{"clock":"report","jobs":2}]`), replace(`"complete":true`, `"complete":false`),
		replace(`"options":\[[^\]]*\]`, `"options":["bs=4096B","rw=randwrite"]`),
	}
	noWarnings := replace(`"warnings":\[[^\]]*\]`, `"warnings":null`)
	cases := map[string]struct {
		change []func([]byte) []byte
		want   []string
		not    string
	}{
		"no json+": {
			[]func([]byte) []byte{replace(`"warnings":\[[^\]]*\]`, `"warnings":["no json+ report"]`)},
			[]string{"one host, 2 jobs", "no: see the warnings", "• no json+ report"}, "labels",
		},
		"last bin": {
			[]func([]byte) []byte{replace(`"write":\{"bandwidth".*?"latency":\{[^}]*\}`, `"write":{"requests":9,"iops":9,"latency":{"layout":"fio3/0","p50":12,"p99":17045651.4,"p99_9":17045651.456,"max":17045651.456}`)},
			[]string{"12 µs, 17 s", "≥ 17 s, ≥ 17 s"}, "",
		},
		"long": {
			[]func([]byte) []byte{replace(`"warnings":\[[^\]]*\]`, `"warnings":["`+strings.Repeat("a word that is long enough to fill lines ", 6)+`"]`)},
			[]string{"• " + strings.Repeat("a word that is long enough to fill lines ", 4) + "a"}, "…",
		},
		"no warnings": {[]func([]byte) []byte{noWarnings}, []string{"one host, 2 jobs", "no"}, ""},
		"live": {
			[]func([]byte) []byte{noWarnings, replace(`"ingest":"[^"]*"`, `"ingest":"`+mapping.LiveIngest(time.Unix(1, 0))+`"`)},
			[]string{"not yet: fio runs"}, "",
		},
		"no report": {
			[]func([]byte) []byte{replace(`"version":"fio-[^"]*"`, `"version":null`), replace(`"jobs":\d+`, `"jobs":1`)},
			[]string{"1 job", "one host, 1 job"}, "1 jobs",
		},
		"labels": {
			[]func([]byte) []byte{replace(`"fields":\{`, `"fields":{"labels":["disk=vda","who=me"],`)},
			[]string{"labels", "disk=vda, who=me"}, "hover",
		},
		"averages": {
			[]func([]byte) []byte{replace(`"write":\{"bandwidth".*?"latency":\{[^}]*\}`, `"write":{"requests":9,"iops":9,"latency":{"mean":161.6},
				"fio":{"max":48098.4,"p50":63.744,"p99":2801.664,"p99_9":8847.36}`)},
			[]string{"63.7 µs, 2.8 ms, by fio", "8.85 ms, 48.1 ms, by fio"}, "",
		},
	}
	names := slices.Sorted(maps.Keys(cases))
	var jobs []Job // light, dark, light, …
	for _, name := range names {
		j := job(t, b, "run-facts", kibanatest.Full)
		for set, answer := range j.Answers {
			for _, change := range append(plain, cases[name].change...) {
				answer = change(answer)
			}
			j.Answers[set] = answer
		}
		jobs = append(jobs, j)
		j.Dark = true
		jobs = append(jobs, j)
	}
	for i, p := range browser.draw(t, jobs...) {
		name, texts := names[i/2], p.Texts()
		c := cases[name]
		checkTexts(t, "run-facts", texts)
		for _, want := range c.want {
			if !slices.Contains(texts, want) {
				t.Errorf("%s: %q is not in %q", name, want, texts)
			}
		}
		if c.not != "" && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, c.not) }) {
			t.Errorf("%s: %q is in %q", name, c.not, texts)
		}
		savePicture(t, fmt.Sprintf("run-facts-%s-%v", name, jobs[i].Dark), p)
	}
}

// TestDrawUnknown: runs with unknown settings are compared by their names, as in fio2es trend. Unknown values are in
// no text.
func TestDrawUnknown(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	answer := nights(t, 4)
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatal(err)
	}
	n := 0
	visit(v, func(node map[string]any) {
		if node["cbt.mode"] == nil {
			return
		}
		if delete(node, "cbt.op_size"); n < 2 {
			delete(node, "cbt.mode")
			node["run.name"] = []any{fmt.Sprintf("job-%d", n)}
		}
		n++
	})
	answer, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	panels := [][2]string{{"history-runs", "configuration"}, {"response-curve", "workloadText"}}
	var jobs []Job
	for _, p := range panels {
		j := job(t, b, p[0], kibanatest.Full)
		j.Answers["answer"] = answer
		j.Ask = map[string]string{"of": fmt.Sprintf("view.data('runs').map(r => r.%s).sort()", p[1])}
		jobs = append(jobs, j)
	}
	for i, p := range browser.draw(t, jobs...) {
		panel := panels[i][0]
		var of []string
		asked(t, p, "of", &of)
		if want := []string{"job-0", "job-1", "randread", "randwrite"}; !slices.Equal(of, want) {
			t.Errorf("%s: runs of %q, want %q", panel, of, want)
		}
		if texts := p.Texts(); slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "none") }) {
			t.Errorf("%s: %q", panel, texts)
		}
		savePicture(t, panel+"-unknown", p)
	}
}

// TestDrawLegend: the legend of a narrow panel does not cut words, and its title is complete even if it is long.
func TestDrawLegend(t *testing.T) {
	browser := browser(t)
	j := job(t, bundle(t, kibana.Options{}), "history-runs", kibanatest.Full)
	var jobs []Job
	for _, j.Width = range []int{400, 600, 1200} {
		for _, colour := range []string{"mode", "configuration"} {
			j.Signals = map[string]any{"colour": colour}
			jobs = append(jobs, j)
		}
	}
	j = job(t, bundle(t, kibana.Options{}), "response-curve", kibanatest.Full)
	// without settings, so each run is compared by its name
	j.Answers["answer"] = regexp.MustCompile(`"cbt\.[a-z_]+":\[[^\]]*\],`).ReplaceAll(nights(t, 12), nil)
	pictures := browser.draw(t, append(jobs, j)...)
	for i, j := range jobs {
		want := []string{"randwrite", "randrw"}
		if j.Signals["colour"] == "configuration" && j.Width > 400 {
			want = []string{"randwrite qd4 rate_iops=50 volumes=1 numjobs=16", "randwrite qd4 rate_iops=50 volumes=1 numjobs=2"}
		} else if j.Signals["colour"] == "configuration" {
			want = nil
		}
		savePicture(t, fmt.Sprintf("legend-%d-%s", j.Width, j.Signals["colour"]), pictures[i])
		for _, text := range want {
			if !slices.Contains(pictures[i].Texts(), text) {
				t.Errorf("%d pixels wide: %q", j.Width, pictures[i].Texts())
			}
		}
	}
	const title = "the 8 with the most runs of 12, others grey; numbers: iodepth"
	if texts := pictures[len(jobs)].Texts(); !slices.Contains(texts, title) {
		t.Errorf("%q is not in %q", title, texts)
	}
}

// TestDrawArchives: response curves of two archives lie over each other, the newer ones solid, the older ones dashed.
func TestDrawArchives(t *testing.T) {
	browser := browser(t)
	runs := sweep([]int{4096, 65536}, []int{1, 4, 16, 64}, fields{"run.archive": "before"})
	for i, run := range sweep([]int{4096, 65536}, []int{1, 4, 16, 64}, fields{"run.archive": "after"}) {
		run["run.id"], run["run.start"], run["all.latency.p99"] = fmt.Sprintf("%020x", 100+i), fmt.Sprint(1_780_100_000_000+60_000*i), 1.3*run["all.latency.p99"].(float64)
		runs = append(runs, run)
	}
	j := job(t, bundle(t, kibana.Options{}), "response-curve", kibanatest.Full)
	j.Answers["answer"], j.Signals, j.Height = answerOf(t, runs...), map[string]any{"choice": "all by archive"}, 600
	p := browser.draw(t, j)[0]
	savePicture(t, "response-curve-archives", p)
	if dashed := strings.Count(p.SVG, `stroke-dasharray="6`); dashed != 2 || !slices.Contains(p.Texts(), "numbers: iodepth; solid: after, dashed: before") {
		t.Errorf("%d dashed curves, %q", dashed, p.Texts())
	}
}

// TestDrawDistribution: the name of a direction is above the labels of its percentiles, at any position.
func TestDrawDistribution(t *testing.T) {
	browser := browser(t)
	j := job(t, bundle(t, kibana.Options{}), "distribution", kibanatest.Full)
	j.Ask = map[string]string{"texts": MarksOf("text")}
	pictures := browser.draw(t, j)
	names, labels := itemsOf(t, pictures[0], "texts", "name"), itemsOf(t, pictures[0], "texts", "label")
	if len(names) == 0 || len(labels) != 3*len(names) {
		t.Fatalf("%d names, %d labels", len(names), len(labels))
	}
	for _, name := range names {
		for _, label := range labels {
			if min(name.Y+name.Height, label.Y+label.Height)-max(name.Y, label.Y) > 2 {
				t.Errorf("%q is in the line of %q", name.Text, label.Text)
			}
		}
	}
}

// TestDrawLowestBand: the lowest band has no lower bound. What is in it is drawn in the plot, and no bound is invented.
func TestDrawLowestBand(t *testing.T) {
	browser := browser(t)
	j := job(t, bundle(t, kibana.Options{}), "distribution", kibanatest.Full)
	j.Answers["answer"] = ofRun("one", `"directions":{"buckets":[{"key":"read","doc_count":1,"requests":{"value":100},
		"bands":{"buckets":[{"key":"*-0.001","to":0.001,"doc_count":99},{"key":"0.001-0.00112202","from":0.001,"to":0.00112202,"doc_count":1}]},
		"latency":{"values":[{"key":50.0,"value":0.0005},{"key":99.0,"value":0.0005},{"key":99.9,"value":0.00101}]}}]}`)
	j.Ask = map[string]string{"rules": MarksOf("rule"), "rects": MarksOf("rect"), "latencies": "view.data('bands').map(d => d.between)"}
	pictures := browser.draw(t, j)
	left := math.Inf(1)
	for _, band := range itemsOf(t, pictures[0], "rects", "band") {
		left = min(left, band.X)
	}
	rules := itemsOf(t, pictures[0], "rules", "percentile")
	for _, rule := range rules {
		if rule.X < left-1 {
			t.Errorf("a percentile is at %.0f, the plot begins at %.0f", rule.X, left)
		}
	}
	var latencies []string
	asked(t, pictures[0], "latencies", &latencies)
	if want := []string{"< 1 ns", "1 ns – 1.12 ns"}; len(rules) != 3 || !slices.Equal(latencies, want) {
		t.Errorf("%d rules, bands %q, texts %q", len(rules), latencies, pictures[0].Texts())
	}
	savePicture(t, "below", pictures[0])
}

// TestPlainHosts: the panels of hosts also show documents without a host name, as of a run on one machine.
func TestPlainHosts(t *testing.T) {
	n := 0
	for _, r := range requests(t, bundle(t, kibana.Options{})) {
		var spec any
		if err := json.Unmarshal(r.URL, &spec); err != nil {
			t.Fatal(err)
		}
		kibanatest.Walk(spec, "", func(key string, node map[string]any) {
			if node["field"] != "host.name" {
				return
			}
			if n++; node["missing"] == nil {
				t.Errorf("%s: %s of host.name leaves out documents without it", r.Panel, key)
			}
		})
	}
	if n < 3 {
		t.Errorf("%d searches by host", n)
	}
}
