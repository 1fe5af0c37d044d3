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
	From, To        time.Time // what the time axis spans, if that is more than the map does
}

// Where the time axis is, in pixels, so that other charts can share it.
const (
	Left         = 76
	AreaWidth    = 960
	PictureWidth = Left + AreaWidth + right
)

// Where the cells are, and how large everything around them. Pixels.
const (
	right, top, bottom = 24, 116, 58
	areaHeight         = 480 // about
	heading            = 62  // of top, for what a fragment leaves to the page

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
	b           bytes.Buffer
	fragment    bool
	from, until time.Time // the time axis
	bandHeight  int
	height      int // of the cells
	scale       scale
}

// WriteSVG draws the map as one SVG file that needs nothing else, on white: cells, and
// over them percentiles of the columns, of their merged histograms. A column without
// requests is a gap, and so it is in the lines.
func (m *Map) WriteSVG(w io.Writer, p Picture) error { return m.write(w, p, false) }

// WriteFragment draws the same as a part of a page, which has the titles and the colours:
// classes are text of the axes' names (soft), grid, frame, the levels of cells (level0 …),
// halo and p50, p95, p99. [Levels] has colours for the cells.
func (m *Map) WriteFragment(w io.Writer, p Picture) error { return m.write(w, p, true) }

func (m *Map) write(w io.Writer, p Picture, fragment bool) error {
	d := &drawing{Map: m, Picture: p, fragment: fragment, scale: newScale(m.Most, levels), from: m.Start(), until: m.End()}
	if p.To.After(p.From) && p.From.Before(d.from) {
		d.from = p.From
	}
	if p.To.After(d.until) {
		d.until = p.To
	}
	if !d.until.After(d.from) {
		d.until = d.from.Add(time.Millisecond)
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

// style is how something is drawn: the attributes or, in a fragment, a class.
func (d *drawing) style(class, attributes string) string {
	if d.fragment {
		return ` class="` + class + `"`
	}
	return " " + attributes
}

func escape(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

// number writes a coordinate to a tenth.
func number(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

func (d *drawing) begin() {
	h, label := top+d.height+bottom, escape("Latency heat map of "+d.Title+", "+d.Subtitle)
	if d.fragment {
		d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 %d %d %d" role="img" aria-label="%s">`+"\n", heading, PictureWidth, h-heading, label)
		return
	}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s"`,
		PictureWidth, h, PictureWidth, h, label)
	d.printf(` font-family="system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12" fill="#222">` + "\n")
	d.printf("<title>%s</title>\n", escape("Latency heat map of "+d.Title))
	d.printf(`<rect width="%d" height="%d" fill="#fff"/>`+"\n", PictureWidth, h)
	d.text(Left, 30, ` font-size="17" font-weight="600"`, shortened(d.Title, 100))
	d.text(Left, 52, ` fill="#555"`, shortened(d.Subtitle, 150))
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
func x(share float64) float64              { return Left + share*AreaWidth }
func (d *drawing) y(share float64) float64 { return top + (1-share)*float64(d.height) }

// axes draws the frame, with a line for each power of ten.
func (d *drawing) axes() {
	low, high := Bound(d.Low), Bound(d.High)
	fine := float64(d.bandHeight*BandsPerDecade) > 75
	d.printf("<g%s>\n", d.style("grid", `stroke="#ddd"`))
	ticks := Latencies(low, high, fine)
	for _, t := range ticks {
		d.printf(`<path d="M%d %sh%d"/>`+"\n", Left-5, number(d.y(t.At)), AreaWidth+5)
	}
	times := d.Clock.Ticks(d.from, d.until, AreaWidth/110)
	for _, t := range times {
		d.printf(`<path d="M%s %dv%d"/>`+"\n", number(x(t.At)), top, d.height+5)
	}
	d.printf(`<path d="M%d %dv%dh%d" fill="none"%s/>`+"\n</g>\n", Left, top, d.height, AreaWidth, d.style("frame", `stroke="#888"`))
	d.printf(`<g text-anchor="end">` + "\n")
	for _, t := range ticks {
		d.text(Left-9, d.y(t.At)+4, "", t.Label)
	}
	if d.OpenUS > 0 {
		d.text(Left-9, top-5, d.style("soft", `fill="#555"`), "or more")
	}
	d.printf("</g>\n" + `<g text-anchor="middle">` + "\n")
	for _, t := range times {
		d.text(x(t.At), float64(top+d.height+20), "", t.Label)
	}
	name := "seconds since the run's start"
	if d.Clock.Known {
		name = "UTC, " + d.from.UTC().Format("2006-01-02")
	}
	d.text(Left+AreaWidth/2, float64(top+d.height+44), d.style("soft", `fill="#555"`), name)
	d.printf(`<text transform="translate(18 %d) rotate(-90)"%s>latency</text>`+"\n</g>\n", top+d.height/2, d.style("soft", `fill="#555"`))
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
			level, first := d.levelOf(c, n), band
			for band < d.High && c.Counts[band] > 0 && d.levelOf(c, c.Counts[band]) == level {
				band++
			}
			fmt.Fprintf(&paths[level], "M%s %dh%sv%dh-%sz", number(from), top+(d.High-band)*d.bandHeight,
				number(to-from), (band-first)*d.bandHeight, number(to-from))
		}
	}
	d.printf(`<g shape-rendering="crispEdges">` + "\n")
	for level := range paths {
		if paths[level].Len() > 0 {
			d.printf(`<path%s d="%s"/>`+"\n", d.level(level), paths[level].String())
		}
	}
	d.printf("</g>\n")
}

// levelOf is the level of so many requests in a cell of a column.
func (d *drawing) levelOf(c *Column, n int64) int { return d.scale.level(min(d.shownAs(c, n), d.Most)) }

// at is from where to where a column is drawn: however short, it can be seen.
func (d *drawing) at(c *Column) (from, to float64) {
	span := float64(d.until.Sub(d.from))
	from = math.Round(10*x(float64(c.Start.Sub(d.from))/span)) / 10
	to = math.Round(10*x(float64(c.End.Sub(d.from))/span)) / 10
	if to < from+1 {
		from = min(from, Left+AreaWidth-1)
		to = from + 1
	}
	return from, to
}

// level is the style of cells of a level.
func (d *drawing) level(level int) string {
	return d.style("level"+strconv.Itoa(level), `fill="`+along(paper, float64(level)/(levels-1)).String()+`"`)
}

// Levels are the colours of cells, from the fewest requests to the most, on white or on a
// dark ground.
func Levels(dark bool) []string {
	list, colours := paper, make([]string, levels)
	if dark {
		list = screen
	}
	for level := range colours {
		colours[level] = along(list, float64(level)/(levels-1)).String()
	}
	return colours
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
		d.printf(`<path%s stroke-width="3.5" d="%s"/>`, d.style("halo", `stroke="#fff" stroke-opacity=".75"`), path.String())
		d.printf(`<path%s stroke-width="1.5" stroke-dasharray="%s" d="%s"/></g>`+"\n", d.style(l.name, `stroke="`+l.colour+`"`), l.dashes, path.String())
	}
}

// legend tells colours on the left and lines on the right, above the cells.
func (d *drawing) legend() {
	const cell, y = 12, 74
	d.text(Left, y+10, "", "requests in a cell")
	at := Left + 112
	d.printf(`<g shape-rendering="crispEdges">` + "\n")
	for level := range levels {
		d.printf(`<path%s d="M%d %dh%dv12h-%dz"/>`+"\n", d.level(level), at+level*cell, y, cell, cell)
	}
	d.printf("</g>\n" + `<g text-anchor="middle" font-size="11">` + "\n")
	for power := int64(1); power <= d.Most; power *= 10 {
		share := 1.0
		if d.Most > 1 {
			share = math.Log(float64(power)) / math.Log(float64(d.Most))
		}
		centre := float64(at) + cell/2 + share*(levels-1)*cell
		d.printf(`<path%s d="M%s %dv4"/>`+"\n", d.style("frame", `stroke="#888"`), number(centre), y+12)
		d.text(centre, y+27, "", unit.Count(power))
	}
	d.printf("</g>\n")
	d.text(float64(at+levels*cell+6), y+10, d.style("soft", `fill="#555"`), "up to "+unit.Count(d.Most))
	at = Left + AreaWidth - 80*len(lines)
	for _, l := range lines {
		d.printf(`<path%s stroke-width="2" stroke-dasharray="%s" d="M%d %dh36"/>`+"\n", d.style(l.name, `stroke="`+l.colour+`"`), l.dashes, at, y+6)
		d.text(float64(at+42), y+10, "", l.name)
		at += 80
	}
}
