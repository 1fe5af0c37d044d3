package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html/template"
	"math"
	"strconv"

	"github.com/fio2es/fio2es/internal/heatmap"
)

// Charts are as wide as heat maps are, with the axis of time at the same place.
const (
	left      = heatmap.Left
	areaWidth = heatmap.AreaWidth
	width     = heatmap.PictureWidth
)

// figure is a chart with what is written below it.
type figure struct {
	Name string
	SVG  template.HTML
}

// canvas is an SVG picture that is a part of the page, which has the colours of classes.
type canvas struct{ b bytes.Buffer }

// newCanvas begins a picture. The label tells those who cannot see it what is in it.
func newCanvas(height float64, class, label string) *canvas {
	c := &canvas{}
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %d %s" role="img" aria-label="%s">`+"\n", class, width, number(height), escape(label))
	return c
}

// end ends the picture.
func (c *canvas) end() template.HTML {
	c.printf("</svg>")
	return template.HTML(c.b.String()) // all texts in it were escaped
}

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// text writes a text, of a class or of none.
func (c *canvas) text(x, y float64, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	c.printf(`<text%s x="%s" y="%s">%s</text>`+"\n", class, number(x), number(y), escape(text))
}

// path draws a line, or what is filled, with a title for those who point at it.
func (c *canvas) path(class, title, d string) {
	if d != "" {
		c.printf(`<path class="%s" d="%s"><title>%s</title></path>`+"\n", class, d, escape(title))
	}
}

// key is an entry of a legend, which ends where the next one can begin.
func (c *canvas) key(x, y float64, class, text string) (end float64) {
	c.printf(`<path class="%s" d="M%s %sh22"/>`, class, number(x), number(y-4))
	c.text(x+27, y, "", text)
	return x + 27 + textWidth(text) + 18
}

// textWidth is about how wide a text is, rather too much.
func textWidth(text string) float64 { return 6.6 * float64(len([]rune(text))) }

func escape(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

// number writes a coordinate to a tenth.
func number(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
