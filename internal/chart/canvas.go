package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
)

// Horizontal position of the axes in all charts, in pixels.
const (
	Left      = 76
	AreaWidth = 960
	Width     = Left + AreaWidth + 24
)

// Canvas is an SVG picture. Without Styles it is a part of a page, whose style sheet has the colours of classes.
type Canvas struct {
	// Styles are attributes by class. A picture in its own file needs them, because it has no style sheet.
	Styles map[string]string

	b bytes.Buffer
}

// SVG returns the picture as an element with these attributes. label describes it for people who cannot see it.
// Without a label, screen readers skip the picture.
func (c *Canvas) SVG(attributes, label string) string {
	about := `aria-hidden="true"`
	if label != "" {
		about = `role="img" aria-label="` + Escape(label) + `"`
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" %s %s>%s</svg>`, attributes, about, c.b.String())
}

// Printf writes elements without escaping.
func (c *Canvas) Printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// Style returns the attribute of a class with a space before it, or its Styles. Without a class it is empty.
func (c *Canvas) Style(class string) string {
	switch {
	case class == "":
		return ""
	case c.Styles != nil:
		return " " + c.Styles[class]
	}
	return ` class="` + class + `"`
}

// Text writes a text. class may be empty.
func (c *Canvas) Text(x, y float64, class, text string) {
	c.Printf(`<text%s x="%s" y="%s">%s</text>`+"\n", c.Style(class), Number(x), Number(y), Escape(text))
}

// Path draws a line or an area. A pointer on it shows title.
func (c *Canvas) Path(class, title, d string) {
	if d != "" {
		c.Printf(`<path%s d="%s"><title>%s</title></path>`+"\n", c.Style(class), d, Escape(title))
	}
}

// Key draws an entry of a legend, and returns the x at which the next one can begin.
func (c *Canvas) Key(x, y float64, class, text string) (end float64) {
	c.Printf(`<path%s d="M%s %sh22"/>`, c.Style(class), Number(x), Number(y-4))
	c.Text(x+27, y, "", text)
	return x + KeyWidth(text)
}

// KeyWidth returns an upper estimate of the width of a legend's entry, in pixels.
func KeyWidth(text string) float64 { return 27 + 6.6*float64(len([]rune(text))) + 18 }

// Escape escapes a text for XML.
func Escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // cannot fail: b is a buffer
	return b.String()
}

// Number returns a coordinate as text, rounded to a tenth.
func Number(x float64) string { return strconv.FormatFloat(tenth(x), 'f', -1, 64) }

func tenth(x float64) float64 { return math.Round(x*10) / 10 }
