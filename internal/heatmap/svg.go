package heatmap

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/unit"
)

// Picture describes what is drawn around a map.
type Picture struct {
	Title, Subtitle string
	From, To        time.Time // the time axis, if it is longer than the map
}

// Where the cells are, and the sizes around them, in pixels.
const (
	top, bottom = 116, 58
	areaHeight  = 480 // approximate height
	heading     = 62  // height of the titles, which a fragment does not have

	levels = 24 // levels of colour: neighbours can just be distinguished
)

// lines are the percentiles that are drawn. They can be distinguished without colours, too.
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

type drawing struct {
	*Map
	*chart.Canvas
	times      chart.TimeAxis
	latencies  *chart.ValueAxis
	bandHeight int
	height     int // height of the cells
	scale      scale
}

// WriteSVG draws the map as a complete SVG file on white: cells, and over them lines of percentiles, computed from
// the merged histograms of the columns. A column without requests is a gap in the lines.
func (m *Map) WriteSVG(w io.Writer, p Picture) error {
	d := m.drawing(p)
	style := chart.Levels(Levels(false))
	for _, l := range lines {
		style += "." + l.name + "{stroke:" + l.colour + "}"
	}
	d.Canvas = chart.NewFile(style)
	d.Text(chart.Left, 30, "title", unit.Shorten(p.Title, 100))
	d.Text(chart.Left, 52, "soft", unit.Shorten(p.Subtitle, 150))
	d.draw()
	return d.WriteFile(w, top+d.height+bottom, "Latency heat map of "+p.Title, p.label())
}

// Fragment draws the map as a part of a page, which must have the titles and the colours. Its classes are soft
// (texts), grid, frame, level0 … (cells), halo, p50, p95 and p99. [Levels] returns colours for the cells.
func (m *Map) Fragment(p Picture) string {
	d := m.drawing(p)
	d.draw()
	return d.SVG(fmt.Sprintf(`viewBox="0 %d %d %d"`, heading, chart.Width, top+d.height+bottom-heading), p.label())
}

func (p *Picture) label() string { return "Latency heat map of " + p.Title + ", " + p.Subtitle }

// Levels returns the colours of cells, from the fewest requests to the most, on a light or a dark background.
func Levels(isDark bool) []string { return chart.Shades(levels, isDark) }

func (m *Map) drawing(p Picture) *drawing {
	d := &drawing{Map: m, Canvas: &chart.Canvas{}, scale: newScale(m.Most, levels), times: chart.TimeAxis{From: m.Start(), Until: m.End()}}
	if p.To.After(p.From) && p.From.Before(d.times.From) {
		d.times.From = p.From
	}
	if p.To.After(d.times.Until) {
		d.times.Until = p.To
	}
	if !d.times.Until.After(d.times.From) {
		d.times.Until = d.times.From.Add(time.Millisecond)
	}
	d.bandHeight = min(max(areaHeight/(m.High-m.Low), 3), 24)
	d.height = d.bandHeight * (m.High - m.Low)
	d.latencies = chart.LogAxis(Bound(m.Low), Bound(m.High), top, float64(d.height))
	return d
}

func (d *drawing) draw() {
	ticks := d.times.Ticks()
	d.Axes(d.latencies, ticks)
	d.Below(ticks, float64(top+d.height), d.times.Name())
	d.Printf(`<text class="soft" text-anchor="middle" transform="translate(18 %d) rotate(-90)">latency</text>`+"\n", top+d.height/2)
	if d.OpenUS > 0 {
		d.Printf(`<g text-anchor="end">`)
		d.Text(chart.Left-9, top-5, "soft", "or more")
		d.Printf("</g>\n")
	}
	d.cells()
	d.percentiles()
	d.legend()
}

// cells draws all cells of a colour as one path, and neighbours in a column as one rectangle.
func (d *drawing) cells() {
	paths := make([]strings.Builder, levels)
	for i := range d.Columns {
		c := &d.Columns[i]
		from, to := d.times.Span(c.Start, c.End)
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
			fmt.Fprintf(&paths[level], "M%s %dh%sv%dh-%sz", chart.Number(from), top+(d.High-band)*d.bandHeight,
				chart.Number(to-from), (band-first)*d.bandHeight, chart.Number(to-from))
		}
	}
	d.Printf(`<g shape-rendering="crispEdges">` + "\n")
	for level := range paths {
		if paths[level].Len() > 0 {
			d.Printf(`<path class="level%d" d="%s"/>`+"\n", level, paths[level].String())
		}
	}
	d.Printf("</g>\n")
}

// levelOf returns the level of n requests in a cell of a column.
func (d *drawing) levelOf(c *Column, n int64) int { return d.scale.level(min(d.shownAs(c, n), d.Most)) }

// percentiles draws the lines. Each has a white line below it, to be visible on any colour.
func (d *drawing) percentiles() {
	for _, l := range lines {
		var path strings.Builder
		for i := range d.Columns {
			c := &d.Columns[i]
			us := c.Requests.Percentile(l.q).Value / 1000
			from, to := d.times.Span(c.Start, c.End)
			join := "V"
			if i == 0 || d.Columns[i-1].Last < c.First {
				join = "M" + chart.Number(from) + " "
			}
			fmt.Fprintf(&path, "%s%sH%s", join, chart.Number(d.latencies.Y(us)), chart.Number(to))
		}
		d.Printf(`<g fill="none" stroke-linejoin="round"><title>%s</title>`, l.name)
		d.Printf(`<path class="halo" stroke-width="3.5" d="%s"/>`, path.String())
		d.Printf(`<path class="%s" stroke-width="1.5" stroke-dasharray="%s" d="%s"/></g>`+"\n", l.name, l.dashes, path.String())
	}
}

// legend explains the colours on the left and the lines on the right, above the cells.
func (d *drawing) legend() {
	const cell, y = 12, 74
	d.Printf(`<g data-legend="">` + "\n")
	d.Text(chart.Left, y+10, "", "requests in a cell")
	at := chart.Left + 112
	d.Printf(`<g shape-rendering="crispEdges">` + "\n")
	for level := range levels {
		d.Printf(`<path class="level%d" d="M%d %dh%dv12h-%dz"/>`+"\n", level, at+level*cell, y, cell, cell)
	}
	d.Printf("</g>\n" + `<g text-anchor="middle" font-size="11">` + "\n")
	for power := int64(1); power <= d.Most; power *= 10 {
		share := 1.0
		if d.Most > 1 {
			share = math.Log(float64(power)) / math.Log(float64(d.Most))
		}
		centre := float64(at) + cell/2 + share*(levels-1)*cell
		d.Printf(`<path class="frame" d="M%s %dv4"/>`+"\n", chart.Number(centre), y+12)
		d.Text(centre, y+27, "", unit.Count(power))
	}
	d.Printf("</g>\n")
	d.Text(float64(at+levels*cell+6), y+10, "soft", "up to "+unit.Count(d.Most))
	at = chart.Left + chart.AreaWidth - 80*len(lines)
	for _, l := range lines {
		if !d.IsFile() {
			d.Key(l.name, l.name)
			continue
		}
		d.Printf(`<path class="%s" stroke-width="2" stroke-dasharray="%s" d="M%d %dh36"/>`+"\n", l.name, l.dashes, at, y+6)
		d.Text(float64(at+42), y+10, "", l.name)
		at += 80
	}
	d.Printf("</g>\n")
}
