package matrix

import (
	"fmt"
	"io"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/unit"
)

// Drawing is a [Curve] or a [Heat].
type Drawing interface {
	// Text returns the drawing as characters, for a terminal of so many columns and lines, and what explains its marks.
	Text(columns, lines int, isColoured bool) (text string, below []string)

	Notes() []string                                      // below the drawing
	draw(pic *chart.Canvas, top float64) (bottom float64) // returns where it ends
	name() string
}

func (c *Curve) name() string { return c.Title(c.Metric) + ", against IOPS" }
func (h *Heat) name() string  { return h.Title(h.Metric) }

// Notes implements [Drawing].
func (h *Heat) Notes() []string { return h.Matrix.Notes(h.Metric) }

// Notes implements [Drawing].
func (c *Curve) Notes() (notes []string) {
	if _, most := c.repeats(c.Metric); most > 1 {
		notes = append(notes, "A dot is the median of its runs; in SVG a vertical line reaches from the lowest latency of them to the highest.")
	}
	return append(notes, c.doubts(c.Metric)...)
}

// lineColours are those of runs on pages.
var lineColours = [MostLines]string{"#0072b2", "#d55e00", "#009e73", "#b5478e", "#1b1f24", "#b98900", "#3f9fd8", "#7a5bb5"}

// WriteSVG writes a drawing as a complete SVG file on white.
func WriteSVG(w io.Writer, d Drawing) error {
	pic := &chart.Canvas{Styles: map[string]string{
		"title": `font-size="17" font-weight="600"`, "soft": `fill="#555"`, "grid": `stroke="#ddd"`, "frame": `fill="none" stroke="#888"`,
		"over": `paint-order="stroke" stroke="#fff" stroke-width="3" stroke-opacity=".8"`,
	}}
	for i, colour := range lineColours {
		pic.Styles[classOf(i)] = `fill="none" stroke="` + colour + `" stroke-width="1.6"`
		pic.Styles[dotClassOf(i)] = `stroke="#fff" fill="` + colour + `"`
	}
	for level, colour := range heatmap.Levels(false) {
		pic.Styles[fmt.Sprintf("level%d", level)] = `fill="` + colour + `"`
	}
	notes := d.Notes()
	top := 48 + 20*float64(len(notes))
	height := int(d.draw(&chart.Canvas{}, top)) + 10
	pic.Printf("\n<title>%s</title>\n"+`<rect width="%d" height="%d" fill="#fff"/>`+"\n", chart.Escape(d.name()), chart.Width, height)
	pic.Text(chart.Left, 30, "title", unit.Shorten(d.name(), 100))
	for i, note := range notes {
		pic.Text(chart.Left, 52+20*float64(i), "soft", unit.Shorten(note, 150))
	}
	d.draw(pic, top)
	attributes := fmt.Sprintf(`width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12" fill="#222"`,
		chart.Width, height, chart.Width, height)
	_, err := io.WriteString(w, pic.SVG(attributes, d.name())+"\n")
	return err
}

// Fragment returns a drawing as a part of a page, which has the colours of classes and a title.
func Fragment(d Drawing) string {
	pic := &chart.Canvas{}
	height := d.draw(pic, 0)
	return pic.SVG(fmt.Sprintf(`class="curves" viewBox="0 0 %d %s"`, chart.Width, chart.Number(height)), d.name())
}
