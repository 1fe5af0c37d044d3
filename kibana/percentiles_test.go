package kibana_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// TestDrawPercentiles checks the percentiles of two runs of the example archive, one as reads, one as writes. Each percentile in an
// answer, or stored in the only document of a bucket, is in a line, at the right height in the chart of its direction, and there are no
// other points. There is one kind of line for each percentile, and one for the maximum.
func TestDrawPercentiles(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	j := job(t, b, "percentiles", kibanatest.Full)
	j.Answers["read"] = job(t, b, "percentiles", kibanatest.Pictured).Answers["write"]
	percents, at, all := 0, []string{}, []float64{}
	for place, direction := range []string{"read", "write"} {
		values, maxima := answered(t, j.Answers[direction])
		if len(values) < 3 {
			t.Fatalf("percentiles %v are answered", slices.Sorted(maps.Keys(values)))
		}
		percents = len(values)
		for _, list := range append(slices.Collect(maps.Values(values)), maxima) {
			for _, v := range list {
				at = append(at, fmt.Sprintf("18 + %d * (view.signal('chartHeight') + view.signal('gap')) + view.scale('y')(%v)", place, v))
				all = append(all, v)
			}
		}
	}
	j.Ask = map[string]string{
		"lines": MarksOf("line"),
		"y":     "[" + strings.Join(at, ",") + "].map(y => offset[1] + y)",
	}
	pictures := browser.draw(t, j)
	p := pictures[0]
	if len(p.Messages) > 0 {
		t.Fatal(p.Messages)
	}
	var lines []Mark
	var want []float64
	asked(t, p, "lines", &lines)
	asked(t, p, "y", &want)
	strokes, drawn := map[string]int{}, []float64{}
	for _, l := range lines {
		if l.Name != "line" {
			continue // a wider line behind each line, for contrast
		}
		for _, i := range l.Items {
			strokes[i.Stroke]++
			drawn = append(drawn, i.Y)
		}
	}
	if len(strokes) != percents+1 {
		t.Errorf("lines in %d colours for %d percentiles and the maximum", len(strokes), percents)
	}
	isAt := func(y float64) func(float64) bool {
		return func(at float64) bool { return math.Abs(at-y) < 0.5 }
	}
	savePicture(t, "percentiles-directions", p)
	for _, y := range drawn {
		if !slices.ContainsFunc(want, isAt(y)) {
			t.Errorf("a point is at height %.1f, where no number should be", y)
		}
	}
	for i, y := range want {
		if !slices.ContainsFunc(drawn, isAt(y)) {
			t.Errorf("%v µs should be at height %.1f, where no line is", all[i], y)
		}
	}
	if !slices.ContainsFunc(p.Texts(), func(text string) bool { return strings.HasSuffix(text, " ms") }) {
		t.Errorf("no label in ms; there are %q", p.Texts())
	}
}

// answered returns the percentiles in an answer by percent, and its maxima.
func answered(t *testing.T, text json.RawMessage) (percentiles map[string][]float64, maxima []float64) {
	t.Helper()
	percentiles = map[string][]float64{}
	var a any
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	visit(a, func(node map[string]any) {
		latency, _ := node["latency"].(map[string]any)
		values, _ := latency["values"].(map[string]any)
		documents, _ := node["documents"].(map[string]any)
		for percent, v := range values {
			if documents["value"] == 1.0 { // then the stored percentile is shown
				field := "p" + strings.ReplaceAll(strings.TrimSuffix(percent, ".0"), ".", "_")
				v = node[field].(map[string]any)["value"]
			}
			if number, ok := v.(float64); ok {
				percentiles[percent] = append(percentiles[percent], number)
			}
		}
		if largest, ok := node["max"].(map[string]any); ok && values != nil {
			if number, ok := largest["value"].(float64); ok {
				maxima = append(maxima, number)
			}
		}
	})
	return percentiles, maxima
}
