package kibana_test

import (
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// heatCell is a cell that must be drawn: the requests of a band in a bucket of time.
type heatCell struct {
	place    int     // of its map
	begin    float64 // time of the first document in the bucket, in milliseconds
	from, to float64 // in microseconds; to is 0 for the last band
	count    float64
}

// heatCells returns the pairs of time and band with requests in a recorded answer.
func heatCells(t *testing.T, place int, answer json.RawMessage) []heatCell {
	t.Helper()
	var list []heatCell
	var a any
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatal(err)
	}
	visit(a, func(node map[string]any) {
		first, ok := node["begin"].(map[string]any)
		if !ok {
			return
		}
		begin := first["value"].(float64)
		for _, v := range node {
			bands, _ := v.(map[string]any)
			buckets, _ := bands["buckets"].([]any)
			for _, b := range buckets {
				band := b.(map[string]any)
				from, _ := band["from"].(float64)
				to, _ := band["to"].(float64)
				if count := band["doc_count"].(float64); count > 0 {
					list = append(list, heatCell{place, begin, from, to, count})
				}
			}
		}
	})
	return list
}

// TestDrawHeatMap checks the heat maps of two runs of the example archive, one as reads, one as writes: every cell is drawn once, in the
// map of its direction at the place of its time and band, in the colour of its count.
func TestDrawHeatMap(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	answers := job(t, b, "heatmap", kibanatest.Full).Answers
	var cells []heatCell
	for _, third := range []string{"low", "middle", "high"} {
		answers["read-"+third] = job(t, b, "heatmap", kibanatest.Pictured).Answers["write-"+third]
		cells = append(append(cells, heatCells(t, 0, answers["read-"+third])...), heatCells(t, 1, answers["write-"+third])...)
	}
	if len(cells) < 100 {
		t.Fatalf("the recorded answer has %d cells", len(cells))
	}
	slices.SortFunc(cells, func(a, b heatCell) int { return int(a.count - b.count) })
	most := cells[len(cells)-1]
	var jobs []Job
	for _, dark := range []bool{false, true} {
		j := job(t, b, "heatmap", kibanatest.Full)
		j.Answers, j.Dark, j.Height = answers, dark, 1000
		j.Ask = map[string]string{
			"rects":  MarksOf("rect"),
			"x":      fmt.Sprintf("offset[0] + view.scale('x')(%v)", most.begin),
			"top":    fmt.Sprintf("offset[1] + %d * (view.signal('mapHeight') + view.signal('between')) + view.scale('y')(%v)", most.place, most.to),
			"bottom": fmt.Sprintf("offset[1] + %d * (view.signal('mapHeight') + view.signal('between')) + view.scale('y')(%v)", most.place, most.from),
			"colour": fmt.Sprintf("view.scale('color')(%v)", most.count),
		}
		jobs = append(jobs, j)
	}
	pictures := browser.draw(t, jobs...)
	for i, p := range pictures {
		t.Run(map[bool]string{false: "light", true: "dark"}[jobs[i].Dark], func(t *testing.T) {
			if len(p.Messages) > 0 {
				t.Fatal(p.Messages)
			}
			items := itemsOf(t, p, "rects", "cell")
			if len(items) != len(cells) {
				t.Errorf("%d cells are drawn of %d", len(items), len(cells))
			}
			checkMost(t, &p, items)
			checkColours(t, items, cells)
			for _, label := range []string{"10 µs", "100 µs", "1 ms", "10 ms"} {
				if !slices.Contains(p.Texts(), label) {
					t.Errorf("no label %q; there are %q", label, p.Texts())
				}
			}
		})
	}
}

// itemsOf returns the items of the marks with this name.
func itemsOf(t *testing.T, p Picture, ask, name string) []Item {
	t.Helper()
	var marks []Mark
	asked(t, p, ask, &marks)
	var items []Item
	for _, m := range marks {
		if m.Name == name {
			items = append(items, m.Items...)
		}
	}
	return items
}

func asked(t *testing.T, p Picture, name string, into any) {
	t.Helper()
	if err := json.Unmarshal(p.Asked[name], into); err != nil {
		t.Fatalf("%s: %v: %s", name, err, p.Asked[name])
	}
}

// checkMost checks the cell with the most requests: its position, its colour and its pixel.
func checkMost(t *testing.T, p *Picture, items []Item) {
	t.Helper()
	var x, top, bottom float64
	var colour string
	asked(t, *p, "x", &x)
	asked(t, *p, "top", &top)
	asked(t, *p, "bottom", &bottom)
	asked(t, *p, "colour", &colour)
	at := slices.IndexFunc(items, func(i Item) bool {
		return math.Abs(i.X-x) < 1.5 && math.Abs(i.Y-top) < 1.5 && math.Abs(i.Y+i.Height-bottom) < 1.5
	})
	if at < 0 {
		t.Fatalf("no cell at x %v, y %v to %v", x, top, bottom)
	}
	cell := items[at]
	if rgb(t, cell.Fill) != rgb(t, colour) {
		t.Errorf("the cell with most requests is %s, the scale says %s", cell.Fill, colour)
	}
	if pixel := p.Image.At(int(cell.X+cell.Width/2), int(cell.Y+cell.Height/2)); !near(pixel, rgb(t, colour)) {
		t.Errorf("the pixel in it is %v, want %s", pixel, colour)
	}
}

// checkColours: equal counts have equal colours, and the lightness only rises or only falls, so that the map can be
// read without distinguishing hues.
func checkColours(t *testing.T, items []Item, cells []heatCell) {
	t.Helper()
	colours := map[string]bool{}
	for _, i := range items {
		colours[i.Fill] = true
	}
	counts := map[float64]bool{}
	for _, c := range cells {
		counts[c.count] = true
	}
	if len(colours) < min(len(counts), 20) || len(colours) > len(counts) {
		t.Errorf("%d colours for %d counts", len(colours), len(counts))
	}
	var lightness []float64
	for text := range colours {
		c := rgb(t, text)
		lightness = append(lightness, 0.2126*float64(c.R)+0.7152*float64(c.G)+0.0722*float64(c.B))
	}
	slices.Sort(lightness)
	if last := len(lightness) - 1; last < 0 || lightness[last]-lightness[0] < 90 {
		t.Errorf("lightness is %.0f to %.0f of 255", lightness[0], lightness[last])
	}
}

// rgb parses "#rrggbb" and "rgb(r, g, b)".
func rgb(t *testing.T, text string) color.RGBA {
	t.Helper()
	c := color.RGBA{A: 255}
	if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B); err == nil {
		return c
	}
	if _, err := fmt.Sscanf(strings.ReplaceAll(text, " ", ""), "rgb(%d,%d,%d)", &c.R, &c.G, &c.B); err != nil {
		t.Fatalf("colour %q: %v", text, err)
	}
	return c
}

// near reports whether two colours are equal except for rounding.
func near(a color.Color, b color.RGBA) bool {
	r, g, bl, _ := a.RGBA()
	distance := func(a uint32, b uint8) float64 { return math.Abs(float64(a>>8) - float64(b)) }
	return distance(r, b.R) <= 2 && distance(g, b.G) <= 2 && distance(bl, b.B) <= 2
}
