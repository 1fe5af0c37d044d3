package kibana_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"maps"
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

// noData is what panels show where there is nothing to draw.
const noData = "no data in this time range"

func browser(t *testing.T) *Browser {
	t.Helper()
	b := &Browser{Chromium: os.Getenv("FIO2ES_TEST_CHROMIUM"), Vega: os.Getenv("FIO2ES_TEST_VEGA")}
	if b.Chromium == "" || b.Vega == "" {
		t.Skip("FIO2ES_TEST_CHROMIUM and FIO2ES_TEST_VEGA name no browser and no library to draw with; .ci/vega does")
	}
	return b
}

// job is a panel on the answers of a kind: those recorded, or "missing".
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

// TestDraw draws every Vega panel: on what the example archive has, on a time without
// documents, and where there is no index; in light and in dark theme, wide and narrow.
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
	pictures, err := browser.Draw(t.Context(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pictures {
		name := list[i].panel + list[i].kind
		for _, message := range p.Messages {
			if list[i].kind != kibanatest.Full && strings.Contains(message, "Infinite extent") {
				continue // a scale of no data: Kibana shows it to those who edit the panel
			}
			t.Errorf("%s: %s", name, message)
		}
		saysNothing := slices.ContainsFunc(p.Texts(), func(text string) bool { return strings.Contains(text, noData) })
		if saysNothing != (list[i].kind != kibanatest.Full) {
			t.Errorf("%s: says %q: %v", name, noData, saysNothing)
		}
		if n := marks(p.SVG); n == 0 && list[i].kind == kibanatest.Full {
			t.Errorf("%s: nothing is drawn", name)
		}
		checkTexts(t, name, p.Texts())
		savePicture(t, fmt.Sprintf("%s-%d", name, i), p)
	}
}

// savePicture keeps a picture for people to look at, in the folder that
// FIO2ES_TEST_PICTURES names.
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

// checkTexts finds texts that a formula makes of missing values.
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

// marks is how many elements there are in the marks of a specification, without axes,
// legends and titles.
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

// TestDrawChanges: a triangle marks the first run after each change, in the chart of its number, with all that is known of
// it; those of another direction are left out.
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
		j.Signals, j.Ask = map[string]any{"direction": direction}, map[string]string{"texts": "view.data('changes').map(d => d.text)"}
		jobs = append(jobs, j)
	}
	pictures, err := browser.Draw(t.Context(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
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

// TestDrawPlain: a run of fio on one machine, whose host has no name in the files, and one that is not complete.
func TestDrawPlain(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	nameless := regexp.MustCompile(`"name":"host[A-D]",`)
	secondHost := regexp.MustCompile(`("hosts":\[\{[^}]*\}),[^\]]*\]`)
	for _, c := range []struct {
		warnings, ingest string
		want             []string
	}{
		{`["no json+ report"]`, "95c508361fc72649", []string{"one host, 2", "no: see the warnings", "no json+ report"}},
		{`null`, "95c508361fc72649", []string{"one host, 2", "no"}},
		{`null`, mapping.LiveIngest(time.Unix(1, 0)), []string{"not yet: fio runs"}},
	} {
		j := job(t, b, "run-facts", kibanatest.Full)
		for name, answer := range j.Answers {
			answer = secondHost.ReplaceAll(nameless.ReplaceAll(answer, nil), []byte("$1]"))
			answer = bytes.ReplaceAll(answer, []byte(`"complete":true`), []byte(`"complete":false`))
			answer = regexp.MustCompile(`"warnings":\[[^\]]*\]`).ReplaceAll(answer, []byte(`"warnings":`+c.warnings))
			j.Answers[name] = regexp.MustCompile(`"ingest":"[^"]*"`).ReplaceAll(answer, []byte(`"ingest":"`+c.ingest+`"`))
		}
		for _, j.Dark = range []bool{false, true} {
			pictures, err := browser.Draw(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			texts := pictures[0].Texts()
			checkTexts(t, "run-facts", texts)
			for _, want := range c.want {
				if !slices.Contains(texts, want) {
					t.Errorf("%q is not in %q", want, texts)
				}
			}
			savePicture(t, fmt.Sprintf("run-facts-plain-%v", j.Dark), pictures[0])
		}
	}
}

// TestDrawLegend: the legend of a narrow panel cuts no words.
func TestDrawLegend(t *testing.T) {
	browser := browser(t)
	j := job(t, bundle(t, kibana.Options{}), "history-runs", kibanatest.Full)
	for _, j.Width = range []int{400, 600, 1200} {
		pictures, err := browser.Draw(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		savePicture(t, fmt.Sprintf("legend-%d", j.Width), pictures[0])
		if texts := pictures[0].Texts(); !slices.Contains(texts, "randwrite") || !slices.Contains(texts, "randrw") {
			t.Errorf("%d pixels wide: %q", j.Width, texts)
		}
	}
}

// TestPlainHosts: the panels of hosts have a part for documents without the name of a host, as a run on one machine has.
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
