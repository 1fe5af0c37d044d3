package kibana_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// nights returns an answer to the search of the History panel: n runs of four workloads, the latest first, with 6
// hours between them. Every tenth is slow.
func nights(t *testing.T, n int) json.RawMessage {
	t.Helper()
	var hits []any
	for i := n - 1; i >= 0; i-- {
		slow := 1.0
		if i%10 == 7 {
			slow = 4
		}
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 6 * time.Hour)
		hits = append(hits, map[string]any{"fields": map[string]any{
			"run.id": []any{fmt.Sprintf("%020x", i)}, "run.name": []any{fmt.Sprintf("night-%03d/a-run-whose-name-is-too-long-for-a-label", i)},
			"run.start": []any{fmt.Sprint(start.UnixMilli())}, "run.complete": []any{true}, "all.requests": []any{1000},
			"cbt.mode": []any{[]string{"randread", "randwrite", "read", "write"}[i%4]}, "cbt.op_size": []any{4096},
			"all.iops": []any{1000 + float64(37*i%100)}, "all.latency.p50": []any{90 + float64(13*i%20)},
			"all.latency.p99": []any{(900 + float64(29*i%200)) * slow}, "all.latency.p99_9": []any{(3000 + float64(41*i%900)) * slow},
		}})
	}
	text, err := json.Marshal(map[string]any{"timed_out": false, "hits": map[string]any{"hits": hits}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// nightChanges is an answer to the History panel's search for changes: the p99 of one run rose.
var nightChanges = json.RawMessage(`{"timed_out":false,"hits":{"hits":[{"_source":{"run":{"id":"00000000000000000003"},"changes":[
	{"direction":"read","metric":"p99","percent":20,"text":"p99 of reads 1.1ms, was 0.9ms: +20 %","verdict":"worse"}]}}]}}`)

// TestDrawLabels: beside the latest point of each workload is what distinguishes it from the others, if there is room. No label covers
// another or a point, or is outside of the panel.
func TestDrawLabels(t *testing.T) {
	browser := browser(t)
	type drawing struct{ runs, width, height, least int }
	drawings := []drawing{{5, 1200, 680, 8}, {5, 400, 680, 4}, {60, 1200, 680, 4}, {60, 400, 680, 1}, {300, 1200, 680, 1}, {300, 400, 680, 0}}
	var jobs []Job
	for i, d := range drawings {
		j := job(t, bundle(t, kibana.Options{}), "history-runs", kibanatest.Full)
		j.Answers = map[string]json.RawMessage{"answer": nights(t, d.runs), "changes": nightChanges}
		j.Width, j.Height, j.Dark = d.width, d.height, i%2 == 1
		j.Ask = map[string]string{"texts": MarksOf("text"), "symbols": MarksOf("symbol")}
		jobs = append(jobs, j)
	}
	pictures := browser.draw(t, jobs...)
	for i, p := range pictures {
		d := drawings[i]
		name := fmt.Sprintf("labels-%d-%d", d.runs, d.width)
		savePicture(t, name, p)
		if len(p.Messages) > 0 || strings.Contains(p.SVG, "NaN") {
			t.Errorf("%s: messages %v, or a place that is no number", name, p.Messages)
		}
		var texts, symbols []Mark
		asked(t, p, "texts", &texts)
		asked(t, p, "symbols", &symbols)
		labels := labelsOf(texts)
		if len(labels) < d.least || len(labels) > 4*4 {
			t.Errorf("%s: %d labels of %d points", name, len(labels), 4*d.runs)
		}
		checkLabels(t, name, labels, symbols, d.width)
	}
}

// lab returns the answers for eleven nights of twenty workloads, of which the sequential reads of two sizes became slower in the
// seventh night.
func lab(t *testing.T) (answer, events json.RawMessage) {
	t.Helper()
	var runs []fields
	var hits []any
	for night := range 11 {
		for i := range 20 {
			mode, size := []string{"randread", "randwrite", "read", "write"}[i%4], []int{4, 16, 64, 256, 1024}[i/4]
			p99, isSlow := float64(200*(i+3)+7*((night*i)%5)), mode == "read" && size <= 16
			if isSlow && night >= 6 {
				p99 *= 1.3
			}
			work := map[string]any{"id": fmt.Sprintf("1-%d", i), "name": fmt.Sprintf("%s %dK total-qd16 librbdfio direct volumes=2 #%04x", mode, size, 7919*(i+1)%65536)}
			start := time.Date(2026, 10, 23+night, 1, 3*i, 0, 0, time.UTC)
			run := swept(100*night+i, size<<10, 16, p99, fields{
				"cbt.mode": mode, "run.start": fmt.Sprint(start.UnixMilli()), "workload.id": work["id"], "workload.name": work["name"], "cbt.iodepth": nil, "cbt.total_iodepth": 16,
				"run.name": fmt.Sprintf("nightly-%s/0/id-%08x", start.Format(time.DateOnly), 99991*(i+1)), "all.latency.p50": p99 / 3, "all.latency.p99_9": p99 * 2,
			})
			runs = append(runs, run)
			if isSlow && night == 6 {
				changes := []any{}
				for k, metric := range []string{"p50", "p99", "p99_9", "iops"} {
					percent := []float64{30, 30.2, 29.6, -23.1}[k]
					changes = append(changes, map[string]any{"direction": "read", "metric": metric, "verdict": "worse", "percent": percent, "text": fmt.Sprintf("%s of reads: %+.1f %%", metric, percent)})
				}
				hits = append(hits, map[string]any{"_source": map[string]any{
					"run": map[string]any{"id": run["run.id"], "name": run["run.name"], "start": start}, "workload": work, "changes": changes,
				}})
			}
		}
	}
	events, err := json.Marshal(map[string]any{"timed_out": false, "hits": map[string]any{"hits": hits}})
	if err != nil {
		t.Fatal(err)
	}
	return answerOf(t, runs...), events
}

// TestDrawLab: of twenty workloads the two that changed have the colours, and a line each in what changed. Labels have what distinguishes
// workloads apart, not names of runs.
func TestDrawLab(t *testing.T) {
	browser := browser(t)
	answer, events := lab(t)
	history, counts := job(t, bundle(t, kibana.Options{}), "history-runs", kibanatest.Full), job(t, bundle(t, kibana.Options{}), "history-counts", kibanatest.Full)
	history.Answers, counts.Answers["events"] = map[string]json.RawMessage{"answer": answer, "changes": events}, events
	history.Width, history.Height, counts.Width, counts.Height = 1370, 900, 1370, 158
	history.Ask = map[string]string{"coloured": "view.data('coloured').map(d => d.key.split(' ').slice(0, 2).join(' '))"}
	pictures := browser.draw(t, history, counts)
	for i, p := range pictures {
		savePicture(t, fmt.Sprintf("lab-%d", i), p)
		if checkTexts(t, "lab", p.Texts()); len(p.Messages) > 0 {
			t.Error(p.Messages)
		}
	}
	var coloured []string
	if asked(t, pictures[0], "coloured", &coloured); strings.Join(coloured, ", ") != "read 16K, read 4K" {
		t.Errorf("with a colour: %q", coloured)
	}
	texts := strings.Join(pictures[0].Texts(), "\n")
	if !strings.Contains(texts, "configuration (2 that changed of 20, others grey)") || strings.Count(texts, "read 4K") != 5 || strings.Contains(texts, "#") || strings.Contains(texts, "nightly-") {
		t.Errorf("%q", texts)
	}
	var lines []string
	for _, text := range pictures[1].Texts() {
		if strings.Contains(text, "worse: ") {
			lines = append(lines, text)
		}
	}
	if len(lines) != 2 || !strings.Contains(lines[0], "   read 16K total-qd16 librbdfio direct volumes=2   worse: p99 +30.2 %") || !strings.Contains(lines[1], "   read 4K total-qd16 ") || !strings.Contains(lines[1], "p99 +30.2 %") || !strings.HasSuffix(lines[1], " of reads") {
		t.Errorf("%q", lines)
	}
}

// TestDrawReference: a band covers the runs of one day, and the reference is the median of the first ten runs.
func TestDrawReference(t *testing.T) {
	browser := browser(t)
	var runs []fields
	for i := range 15 { // ten runs of 100 µs, and five of 200 on the next day
		p99, start := 100.0, 1_780_000_000_000+60_000*i
		if i >= 10 {
			p99, start = 200, start+86_400_000
		}
		runs = append(runs, swept(i, 4096, 1, p99+float64(i%2), fields{"run.start": fmt.Sprint(start)}))
	}
	j := job(t, bundle(t, kibana.Options{}), "history-runs", kibanatest.Full)
	j.Answers["answer"] = answerOf(t, runs...)
	j.Signals = map[string]any{"values": "relative to the first ten"}
	j.Ask = map[string]string{
		"shown": "view.data('points').filter(d => d.metric === 'p99').map(d => d.shown.toFixed(2))", "rects": MarksOf("rect"),
	}
	p := browser.draw(t, j)[0]
	savePicture(t, "reference", p)
	var shown []string
	asked(t, p, "shown", &shown)
	if len(shown) != 15 || shown[0] != "1.00" || shown[14] != "1.99" {
		t.Errorf("%q", shown)
	}
	if bands := itemsOf(t, p, "rects", "day"); len(bands) != 4 || bands[0].Height <= 0 || bands[0].Width >= bands[1].X-bands[0].X {
		t.Errorf("%+v", bands)
	}
}

// labelsOf returns the visible labels.
func labelsOf(texts []Mark) []Item {
	var labels []Item
	for _, m := range texts {
		for _, i := range m.Items {
			if m.Name == "label" && i.Opacity > 0 && i.Text != "" {
				labels = append(labels, i)
			}
		}
	}
	return labels
}

func checkLabels(t *testing.T, name string, labels []Item, symbols []Mark, width int) {
	t.Helper()
	for i, a := range labels {
		if a.X < 0 || a.X+a.Width > float64(width) || a.Width > 112 {
			t.Errorf("%s: label %q is %.0f pixels wide at %.0f", name, a.Text, a.Width, a.X)
		}
		for _, b := range labels[:i] {
			if min(a.X+a.Width, b.X+b.Width)-max(a.X, b.X) > 2 && min(a.Y+a.Height, b.Y+b.Height)-max(a.Y, b.Y) > 4 {
				t.Errorf("%s: labels %q and %q overlap", name, a.Text, b.Text)
			}
		}
		for _, m := range symbols {
			for _, s := range m.Items {
				if s.X > a.X && s.X < a.X+a.Width && s.Y > a.Y+2 && s.Y < a.Y+a.Height-2 {
					t.Errorf("%s: label %q is on a %s", name, a.Text, m.Name)
				}
			}
		}
	}
}
