package heatmap

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
)

// Picture says what is written around a map.
type Picture struct {
	Title, Subtitle string
	Clock           Clock
}

// Where the cells are, and how large everything around them. Pixels.
const (
	left, right, top, bottom = 76, 24, 116, 58
	areaWidth                = 960
	areaHeight               = 480 // about
	pictureWidth             = left + areaWidth + right

	levels = 24 // of colour: neighbours can just be told apart
)

// lines are the percentiles that are drawn: told apart without colours, too.
var lines = []struct {
	name   string
	q      float64
	colour string
	dashes string
}{
	{"p50", 0.50, "#d55e00", "none"},
	{"p95", 0.95, "#d4287f", "7 3"},
	{"p99", 0.99, "#7a1fa2", "2 3"},
}

// drawing is a map drawn as SVG.
type drawing struct {
	*Map
	Picture
	b          bytes.Buffer
	until      time.Time // where the axis ends: after its begin
	bandHeight int
	height     int // of the cells
	scale      scale
}

// WriteSVG draws the map as one SVG file that needs nothing else, on white: cells, and
// over them percentiles of the columns, of their merged histograms. A column without
// requests is a gap, and so it is in the lines.
func (m *Map) WriteSVG(w io.Writer, p Picture) error {
	d := &drawing{Map: m, Picture: p, scale: newScale(m.Most, levels), until: m.End()}
	if !d.until.After(m.Start()) {
		d.until = m.Start().Add(time.Millisecond)
	}
	d.bandHeight = min(max(areaHeight/(m.High-m.Low), 3), 24)
	d.height = d.bandHeight * (m.High - m.Low)
	d.begin()
	d.axes()
	d.cells()
	d.percentiles()
	d.legend()
	d.printf("</svg>\n")
	_, err := d.b.WriteTo(w)
	return err
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.b, format, args...) }

// text writes a text; attributes are those of its element.
func (d *drawing) text(x, y float64, attributes, text string) {
	d.printf(`<text x="%s" y="%s"%s>%s</text>`+"\n", number(x), number(y), attributes, escape(text))
}

func escape(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

// number writes a coordinate to a tenth.
func number(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

func (d *drawing) begin() {
	h := top + d.height + bottom
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s"`,
		pictureWidth, h, pictureWidth, h, escape("Latency heat map of "+d.Title+", "+d.Subtitle))
	d.printf(` font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12" fill="#222">` + "\n")
	d.printf("<title>%s</title>\n", escape("Latency heat map of "+d.Title))
	d.printf(`<rect width="%d" height="%d" fill="#fff"/>`+"\n", pictureWidth, h)
	d.text(left, 30, ` font-size="17" font-weight="600"`, shortened(d.Title, 100))
	d.text(left, 52, ` fill="#555"`, shortened(d.Subtitle, 150))
}

// shortened leaves out the middle of what is longer than so many characters.
func shortened(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most/2]) + "…" + string(r[len(r)-most/2+1:])
}

// x is where a share of the time is, y where a share of the latencies.
func x(share float64) float64              { return left + share*areaWidth }
func (d *drawing) y(share float64) float64 { return top + (1-share)*float64(d.height) }

// axes draws the frame, with a line for each power of ten.
func (d *drawing) axes() {
	low, high := Bound(d.Low), Bound(d.High)
	fine := float64(d.bandHeight*BandsPerDecade) > 75
	d.printf(`<g stroke="#ddd">` + "\n")
	ticks := latencies(low, high, fine)
	for _, t := range ticks {
		d.printf(`<path d="M%d %sh%d"/>`+"\n", left-5, number(d.y(t.at)), areaWidth+5)
	}
	times := d.Clock.times(d.Start(), d.until, areaWidth/110)
	for _, t := range times {
		d.printf(`<path d="M%s %dv%d"/>`+"\n", number(x(t.at)), top, d.height+5)
	}
	d.printf(`<path d="M%d %dv%dh%d" fill="none" stroke="#888"/>`+"\n</g>\n", left, top, d.height, areaWidth)
	d.printf(`<g text-anchor="end">` + "\n")
	for _, t := range ticks {
		d.text(left-9, d.y(t.at)+4, "", t.label)
	}
	d.printf("</g>\n" + `<g text-anchor="middle">` + "\n")
	for _, t := range times {
		d.text(x(t.at), float64(top+d.height+20), "", t.label)
	}
	name := "seconds since the run's start"
	if d.Clock.Known {
		name = "UTC, " + d.Start().UTC().Format("2006-01-02")
	}
	d.text(left+areaWidth/2, float64(top+d.height+44), ` fill="#555"`, name)
	d.printf(`<text transform="translate(18 %d) rotate(-90)" fill="#555">latency</text>`+"\n</g>\n", top+d.height/2)
}

// cells draws all cells of a colour as one path: neighbours in a column as one.
func (d *drawing) cells() {
	paths := make([]strings.Builder, levels)
	for i := range d.Columns {
		c := &d.Columns[i]
		from, to := d.at(c)
		for band := d.Low; band < d.High; {
			n := c.Counts[band]
			if n == 0 {
				band++
				continue
			}
			level, first := d.scale.level(n), band
			for band < d.High && c.Counts[band] > 0 && d.scale.level(c.Counts[band]) == level {
				band++
			}
			fmt.Fprintf(&paths[level], "M%s %dh%sv%dh-%sz", number(from), top+(d.High-band)*d.bandHeight,
				number(to-from), (band-first)*d.bandHeight, number(to-from))
		}
	}
	d.printf(`<g shape-rendering="crispEdges">` + "\n")
	for level := range paths {
		if paths[level].Len() > 0 {
			d.printf(`<path fill="%s" d="%s"/>`+"\n", colour(level), paths[level].String())
		}
	}
	d.printf("</g>\n")
}

// at is from where to where a column is drawn: however short, it can be seen.
func (d *drawing) at(c *Column) (from, to float64) {
	span := float64(d.until.Sub(d.Start()))
	from = math.Round(10*x(float64(c.Start.Sub(d.Start()))/span)) / 10
	to = math.Round(10*x(float64(c.End.Sub(d.Start()))/span)) / 10
	if to < from+1 {
		from = min(from, left+areaWidth-1)
		to = from + 1
	}
	return from, to
}

func colour(level int) string {
	c := along(paper, float64(level)/(levels-1))
	return fmt.Sprintf("#%02x%02x%02x", int(c[0]), int(c[1]), int(c[2]))
}

// percentiles draws the lines, each on white, to be seen on any colour.
func (d *drawing) percentiles() {
	for _, l := range lines {
		var path strings.Builder
		for i := range d.Columns {
			c := &d.Columns[i]
			us := c.Requests.Percentile(l.q).Value / 1000
			share := math.Log10(max(us, Bound(0))/Bound(d.Low)) / math.Log10(Bound(d.High)/Bound(d.Low))
			from, to := d.at(c)
			join := "V"
			if i == 0 || d.Columns[i-1].Last < c.First {
				join = "M" + number(from) + " "
			}
			fmt.Fprintf(&path, "%s%sH%s", join, number(d.y(min(max(share, 0), 1))), number(to))
		}
		d.printf(`<g fill="none" stroke-linejoin="round"><title>%s</title>`, l.name)
		d.printf(`<path stroke="#fff" stroke-opacity=".75" stroke-width="3.5" d="%s"/>`, path.String())
		d.printf(`<path stroke="%s" stroke-width="1.5" stroke-dasharray="%s" d="%s"/></g>`+"\n", l.colour, l.dashes, path.String())
	}
}

// legend tells colours on the left and lines on the right, above the cells.
func (d *drawing) legend() {
	const cell, y = 12, 74
	d.text(left, y+10, "", "requests in a cell")
	at := left + 112
	d.printf(`<g shape-rendering="crispEdges">` + "\n")
	for level := range levels {
		d.printf(`<path fill="%s" d="M%d %dh%dv12h-%dz"/>`+"\n", colour(level), at+level*cell, y, cell, cell)
	}
	d.printf("</g>\n" + `<g text-anchor="middle" font-size="11">` + "\n")
	for power := int64(1); power <= d.Most; power *= 10 {
		share := 1.0
		if d.Most > 1 {
			share = math.Log(float64(power)) / math.Log(float64(d.Most))
		}
		centre := float64(at) + cell/2 + share*(levels-1)*cell
		d.printf(`<path stroke="#888" d="M%s %dv4"/>`+"\n", number(centre), y+12)
		d.text(centre, y+27, "", unit.Count(power))
	}
	d.printf("</g>\n")
	d.text(float64(at+levels*cell+6), y+10, ` fill="#555"`, "up to "+unit.Count(d.Most))
	at = left + areaWidth - 80*len(lines)
	for _, l := range lines {
		d.printf(`<path stroke="%s" stroke-width="2" stroke-dasharray="%s" d="M%d %dh36"/>`+"\n", l.colour, l.dashes, at, y+6)
		d.text(float64(at+42), y+10, "", l.name)
		at += 80
	}
}
