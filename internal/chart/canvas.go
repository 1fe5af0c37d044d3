package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Horizontal position of the axes in all charts, in pixels.
const (
	Left      = 76
	AreaWidth = 960
	Width     = Left + AreaWidth + 24
)

// Canvas is an SVG picture. The style sheet with the colours of its classes is that of its page, or in its own file.
type Canvas struct {
	style string // style sheet of a file; empty: a part of a page
	b     bytes.Buffer
	keys  bytes.Buffer // legend of a part of a page: it is above the picture, where it can have several lines
}

// SVG returns the picture as an element with these attributes. label describes it for people who cannot see it.
// Without a label, screen readers skip the picture.
func (c *Canvas) SVG(attributes, label string) string {
	about := `aria-hidden="true"`
	if label != "" {
		about = `role="img" aria-label="` + Escape(label) + `"`
	}
	picture := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" %s %s>%s</svg>`, attributes, about, c.b.String())
	if c.keys.Len() == 0 {
		return picture
	}
	return `<p class="keys">` + c.keys.String() + "</p>" + picture
}

// NewFile returns the canvas of a picture in its own file, whose style sheet has the classes that all pictures use, and own.
func NewFile(own string) *Canvas {
	return &Canvas{style: `.title{font-size:17px;font-weight:600}.soft{fill:#555}.grid{stroke:#ddd}.frame{fill:none;stroke:#888}` +
		`.halo{stroke:#fff;stroke-opacity:.75}.over{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-opacity:.8}` + own}
}

// IsFile reports whether the picture is in its own file.
func (c *Canvas) IsFile() bool { return c.style != "" }

// Levels returns a style sheet for cells, with colours for the classes level0, level1 …
func Levels(colours []string) string {
	var b strings.Builder
	for level, colour := range colours {
		fmt.Fprintf(&b, ".level%d{fill:%s}", level, colour)
	}
	return b.String()
}

// WriteFile writes the picture as a complete SVG file on white.
func (c *Canvas) WriteFile(w io.Writer, height int, title, label string) error {
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12" fill="#222" role="img" aria-label="%s">`+
		"\n<title>%s</title>\n<style>%s</style>\n<rect width=\"%[1]d\" height=\"%[2]d\" fill=\"#fff\"/>\n%[6]s</svg>\n",
		Width, height, Escape(label), Escape(title), c.style, c.b.String())
	return err
}

// Printf writes elements without escaping.
func (c *Canvas) Printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// Text writes a text. class may be empty.
func (c *Canvas) Text(x, y float64, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	c.Printf(`<text%s x="%s" y="%s">%s</text>`+"\n", class, Number(x), Number(y), Escape(text))
}

// Path draws a line or an area. A pointer on it shows title.
func (c *Canvas) Path(class, title, d string) {
	if d != "" {
		c.Printf(`<path class="%s" d="%s"><title>%s</title></path>`+"\n", class, d, Escape(title))
	}
}

// Point is a point of a line, in pixels. A pointer on its dot shows Title. Label is beside it, and Link is where a click leads;
// both may be empty.
type Point struct {
	X, Y               float64
	Title, Label, Link string
}

// Line draws a line of a colour's class through points.
func (c *Canvas) Line(colour, title string, points []Point) {
	var d []byte
	for i, p := range points {
		join := byte('L')
		if i == 0 {
			join = 'M'
		}
		d = append(append(d, join), Number(p.X)+" "+Number(p.Y)...)
	}
	c.Path("line "+colour, title, string(d))
}

// Dots draws a dot of a colour's class at each point.
func (c *Canvas) Dots(colour string, points []Point) {
	c.Printf(`<g data-dots="">` + "\n")
	for _, p := range points {
		link, end := "", "\n"
		if p.Link != "" {
			link, end = `<a href="`+Escape(p.Link)+`" tabindex="-1">`, "</a>\n"
		}
		c.Printf(`%s<circle class="dot %s" cx="%s" cy="%s" r="3"><title>%s</title></circle>%s`, link, colour, Number(p.X), Number(p.Y), Escape(p.Title), end)
		if p.Label != "" {
			c.Text(p.X+6, p.Y-6, "soft", p.Label)
		}
	}
	c.Printf("</g>\n")
}

// Keys draws the legend of lines of colours' classes, in as many rows as it needs, and returns the y of its end.
func (c *Canvas) Keys(top float64, colours, names []string) (bottom float64) {
	const lineHeight, rest, gap = 20, 18, 10
	if !c.IsFile() {
		for i, name := range names {
			c.Key("line "+colours[i], name)
		}
		return top + gap
	}
	x, y := float64(Left), top+14
	for i, name := range names {
		wide := 27 + 6.6*float64(len([]rune(name))) + 18 // an upper estimate
		if i > 0 && x+wide > Left+AreaWidth {
			x, y = Left, y+lineHeight
		}
		c.Printf(`<path class="line %s" d="M%s %sh22"/>`, colours[i], Number(x), Number(y-4))
		c.Text(x+27, y, "", name)
		x += wide
	}
	return y + rest
}

// Key adds an entry to the legend of a part of a page.
func (c *Canvas) Key(class, text string) {
	fmt.Fprintf(&c.keys, `<span><svg width="22" height="8" aria-hidden="true"><path class="%s" d="M0 4h22"/></svg>%s</span> `, class, Escape(text))
}

// Escape escapes a text for XML.
func Escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // cannot fail: b is a buffer
	return b.String()
}

// Number returns a coordinate as text, rounded to a tenth.
func Number(x float64) string { return strconv.FormatFloat(tenth(x), 'f', -1, 64) }

func tenth(x float64) float64 { return math.Round(x*10) / 10 }

// rgb is a colour, each part 0 … 255.
type rgb [3]float64

// onPaper is a sequential scale for a light background, and gets evenly darker. So it can be read without colour
// vision and from black-and-white prints. onScreen is for a dark background, and gets evenly lighter.
var (
	onPaper  = []rgb{{174, 226, 205}, {91, 190, 184}, {52, 146, 168}, {55, 101, 158}, {62, 59, 120}, {40, 30, 66}, {11, 4, 14}}
	onScreen = []rgb{{44, 48, 88}, {58, 74, 132}, {55, 101, 158}, {52, 146, 168}, {91, 190, 184}, {174, 226, 205}, {240, 251, 243}}
)

// Shades returns n colours for numbers from low to high, on a light or a dark background, in the form "#aee2cd".
func Shades(n int, isDark bool) []string {
	scale, list := onPaper, make([]string, n)
	if isDark {
		scale = onScreen
	}
	for i := range list {
		c := along(scale, float64(i)/float64(n-1))
		list[i] = fmt.Sprintf("#%02x%02x%02x", int(c[0]), int(c[1]), int(c[2]))
	}
	return list
}

// along returns the colour at a share (0 … 1) of a scale.
func along(scale []rgb, share float64) rgb {
	at := share * float64(len(scale)-1)
	i := min(int(at), len(scale)-2)
	var c rgb
	for k := range c {
		c[k] = math.Round(scale[i][k] + (scale[i+1][k]-scale[i][k])*(at-float64(i)))
	}
	return c
}
