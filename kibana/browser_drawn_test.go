package kibana_test

import (
	"encoding/json"
	"image/color"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const bars = `{
  "$schema": "https://vega.github.io/schema/vega/v5.json",
  "config": {"kibana": {"controlsLocation": "top"}},
  "autosize": {"type": "fit", "contains": "padding"},
  "data": [{"name": "src", "url": {"index": "x", "body": {}}, "transform": [
    {"type": "filter", "expr": "isValid(datum.aggregations)"},
    {"type": "flatten", "fields": ["aggregations.t.buckets"], "as": ["t"]}]}],
  "signals": [{"name": "size", "value": 40}, {"name": "done", "on": [{"events": "click", "update": "kibanaSetTimeFilter(0, 1)"}]}],
  "axes": [{"orient": "bottom", "scale": "x", "title": "a & b"}],
  "scales": [{"name": "x", "type": "point", "range": "width", "domain": {"data": "src", "field": "t.key"}}],
  "marks": [{"type": "rect", "from": {"data": "src"}, "encode": {"update": {
    "x": {"scale": "x", "field": "t.key"}, "y": {"value": 0}, "width": {"signal": "size"}, "height": {"signal": "size"}, "fill": {"value": "#0000ff"}}}}]
}`

// TestBrowser draws specifications that are so simple that the whole result is known.
func TestBrowser(t *testing.T) {
	b := Browser{Chromium: os.Getenv("FIO2ES_TEST_CHROMIUM"), Vega: os.Getenv("FIO2ES_TEST_VEGA")}
	if b.Chromium == "" || b.Vega == "" {
		t.Skip("FIO2ES_TEST_CHROMIUM and FIO2ES_TEST_VEGA name no browser and no library to draw with")
	}
	answer := map[string]json.RawMessage{"src": json.RawMessage(`{"aggregations":{"t":{"buckets":[{"key":"one"},{"key":"two"}]}}}`)}
	pictures, err := b.Draw(t.Context(),
		Job{Spec: json.RawMessage(bars), Answers: answer, Ask: map[string]string{"n": "view.data('src').length"}},
		Job{Spec: json.RawMessage(bars), Answers: answer, Dark: true, Width: 300, Height: 200, Signals: map[string]any{"size": 60}},
		Job{Spec: json.RawMessage(bars)},
		Job{Spec: json.RawMessage(`{"marks":[{"type":"nonsense"}]}`)},
	)
	if err != nil {
		t.Fatal(err)
	}
	light, dark := pictures[0], pictures[1]
	if len(light.Messages)+len(dark.Messages) > 0 {
		t.Error(light.Messages, dark.Messages)
	}
	if diff := cmp.Diff([]string{"one", "two", "a & b"}, light.Texts()); diff != "" {
		t.Error(diff)
	}
	if string(light.Asked["n"]) != "2" {
		t.Errorf("asked for the number of data: %s", light.Asked["n"])
	}
	for name, c := range map[string]struct {
		p    Picture
		x, y int
		want color.RGBA
	}{
		"in a bar":      {light, 20, 20, color.RGBA{0, 0, 255, 255}},
		"below a bar":   {light, 20, 100, color.RGBA{255, 255, 255, 255}},
		"in a dark bar": {dark, 20, 55, color.RGBA{0, 0, 255, 255}},
		"below it":      {dark, 20, 90, color.RGBA{0x1d, 0x1e, 0x24, 255}},
	} {
		if got := c.p.Image.At(c.x, c.y); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for i, p := range pictures[2:] {
		if len(p.Messages) == 0 {
			t.Errorf("picture %d: no error", i+2)
		}
	}
	if !slices.ContainsFunc(pictures[2].Messages, func(m string) bool { return m != "" }) {
		t.Error("a data set without an answer")
	}
}
