package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
)

// Where the axis from left to right is in all charts.
const (
	Left      = 76
	AreaWidth = 960
	Width     = Left + AreaWidth + 24
)

// Canvas is an SVG picture. The zero value is an empty part of a page, whose style sheet has the colours of classes.
type Canvas struct {
	// Styles are attributes by class. A picture that is a file needs them, because it has no style sheet.
	Styles map[string]string

	b bytes.Buffer
}

// SVG is the picture as an element with these attributes. The label describes it to those who cannot see it; without
// one the picture is hidden from them.
func (c *Canvas) SVG(attributes, label string) string {
	about := `aria-hidden="true"`
	if label != "" {
		about = `role="img" aria-label="` + Escape(label) + `"`
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" %s %s>%s</svg>`, attributes, about, c.b.String())
}

// Printf writes elements as they are.
func (c *Canvas) Printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// Style is the attribute of a class, with a space in front, or what stands for it in a file. Without a class it is
// empty.
func (c *Canvas) Style(class string) string {
	switch {
	case class == "":
		return ""
	case c.Styles != nil:
		return " " + c.Styles[class]
	}
	return ` class="` + class + `"`
}

// Text writes a text, of a class or of none.
func (c *Canvas) Text(x, y float64, class, text string) {
	c.Printf(`<text%s x="%s" y="%s">%s</text>`+"\n", c.Style(class), Number(x), Number(y), Escape(text))
}

// Path draws a line, or an area, with a title for those who point at it.
func (c *Canvas) Path(class, title, d string) {
	if d != "" {
		c.Printf(`<path%s d="%s"><title>%s</title></path>`+"\n", c.Style(class), d, Escape(title))
	}
}

// Key draws an entry of a legend, and says where the next one can begin.
func (c *Canvas) Key(x, y float64, class, text string) (end float64) {
	c.Printf(`<path%s d="M%s %sh22"/>`, c.Style(class), Number(x), Number(y-4))
	c.Text(x+27, y, "", text)
	return x + KeyWidth(text)
}

// KeyWidth is about how wide an entry of a legend is, rather too much.
func KeyWidth(text string) float64 { return 27 + 6.6*float64(len([]rune(text))) + 18 }

// Escape is a text as XML has it.
func Escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

// Number writes a coordinate to a tenth.
func Number(x float64) string { return strconv.FormatFloat(tenth(x), 'f', -1, 64) }

func tenth(x float64) float64 { return math.Round(x*10) / 10 }
