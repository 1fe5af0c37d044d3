package matrix

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Curve is a latency against IOPS: a line for each value of the first setting, with a dot for each of the second. With one
// setting it is one line. Dots of different workloads are not joined.
type Curve struct {
	*Matrix
	Metric facts.Metric
	lines  []line
	low    point // the lowest latency and IOPS
	high   point // the highest
}

type line struct {
	name string
	dots []dot
}

type dot struct {
	name          string // value of the second setting
	cell          *Cell
	latency, iops Number
}

type point struct{ latency, iops float64 }

// MostLines is how many lines a curve may have, because more cannot be distinguished.
const MostLines = 8

// Curve returns the curve of a latency. It has no dot for a cell whose numbers are not known.
func (m *Matrix) Curve(metric facts.Metric) (*Curve, error) {
	if metric.Kind != expr.Latency {
		return nil, fmt.Errorf("a curve has IOPS from left to right and a latency upwards, and %s is no latency: want p99 or another one", metric.Text())
	}
	if len(m.By) > 1 && len(m.Rows) > MostLines {
		return nil, fmt.Errorf("a curve has a line for each value of %s, at most %d, and these are %d: choose runs with a condition, or name %s first",
			m.By[0].Name, MostLines, len(m.Rows), m.By[1].Name)
	}
	c := &Curve{Matrix: m, Metric: metric, low: point{math.Inf(1), math.Inf(1)}}
	var last string
	for _, cell := range m.Cells() {
		d, row := dot{cell.Values[0].Text, cell, cell.Number(metric), cell.Number(facts.IOPS)}, ""
		if len(m.By) > 1 {
			d.name, row = cell.Values[1].Text, d.name
		}
		if !(d.latency.N() > 0 && d.iops.N() > 0) {
			continue
		}
		if len(c.lines) == 0 || row != last {
			c.lines, last = append(c.lines, line{name: row}), row
		}
		of := &c.lines[len(c.lines)-1]
		of.dots = append(of.dots, d)
		c.low = point{min(c.low.latency, d.latency.Low), min(c.low.iops, d.iops.N())}
		c.high = point{max(c.high.latency, d.latency.High), max(c.high.iops, d.iops.N())}
	}
	if len(c.lines) == 0 {
		return nil, fmt.Errorf("no cell has both %s and IOPS", metric.Text())
	}
	return c, nil
}

// joins reports whether a line may lead from a dot to the next: the setting between them is a number, such as a depth, and their runs
// differ in nothing that the matrix does not name. So a line is of one workload.
func (c *Curve) joins(a, b dot) bool {
	if c.By[min(len(c.By), 2)-1].Kind == expr.Text {
		return false
	}
	return !slices.ContainsFunc(workload.Varying(likesOf(slices.Concat(a.cell.Runs, b.cell.Runs))), func(v workload.Varied) bool {
		return !slices.ContainsFunc(c.By, func(s Setting) bool { return s.isSame(v.Name) })
	})
}

// lineName returns the name of a line, such as "bs 4K".
func (c *Curve) lineName(l line) string {
	if len(c.By) == 1 {
		return c.Metric.Text() + " of " + mapping.Plural(c.Direction)
	}
	return c.By[0].Name + " " + l.name
}

func (c *Curve) about(d dot) string {
	text := fmt.Sprintf("%s: %s IOPS, %s %s", d.cell.Name(), d.iops.ValueText(), c.Metric.Text(), d.latency.ValueText())
	if d.latency.Runs > 1 {
		text += fmt.Sprintf(" (%d runs, %s to %s)", d.latency.Runs, facts.KindText(c.Metric.Kind, d.latency.Low, false), facts.KindText(c.Metric.Kind, d.latency.High, !d.latency.Median.IsKnown()))
	}
	return text
}

const curveHeight = 420

// Picture returns the curve for files and pages.
func (c *Curve) Picture() *Picture { return &Picture{c.name(), c.Notes(), c.draw} }

func (c *Curve) name() string { return c.Title(c.Metric) + ", against IOPS" }

// Notes explains the marks of dots, and names the other settings in which runs differ.
func (c *Curve) Notes() (notes []string) {
	if _, most := c.repeats(c.Metric); most > 1 {
		notes = append(notes, "A dot is the median of its runs; in SVG a vertical line reaches from the lowest latency of them to the highest.")
	}
	return append(notes, c.doubts(c.Metric)...)
}

// draw draws the curve below top, and returns where it ends.
func (c *Curve) draw(pic *chart.Canvas, top float64) (bottom float64) {
	var colours, names []string
	for i, l := range c.lines {
		colours, names = append(colours, colourOf(i)), append(names, c.lineName(l))
	}
	top = pic.Keys(top, colours, names)
	latencies, rates := chart.LatencyAxis(c.low.latency, c.high.latency, top, curveHeight), chart.NewRates(c.low.iops, c.high.iops)
	across := rates.Ticks(chart.AreaWidth / 60)
	pic.Axes(latencies, across)
	pic.Below(across, top+curveHeight, "IOPS; both axes are logarithmic")
	for i, l := range c.lines {
		var ranges strings.Builder
		var points []chart.Point
		for _, d := range l.dots {
			p := chart.Point{X: rates.X(d.iops.N()), Y: latencies.Y(d.latency.N()), Title: c.about(d), Label: d.name}
			if points = append(points, p); d.latency.Runs > 1 {
				ranges.WriteString("M" + chart.Number(p.X) + " " + chart.Number(latencies.Y(d.latency.Low)) + "V" + chart.Number(latencies.Y(d.latency.High)))
			}
		}
		for from, to := 0, 1; to <= len(points); to++ {
			if to == len(points) || !c.joins(l.dots[to-1], l.dots[to]) {
				if to-from > 1 {
					pic.Line(colours[i], names[i], points[from:to])
				}
				from = to
			}
		}
		if ranges.Len() > 0 {
			pic.Printf(`<path class="line %s" stroke-opacity=".4" d="%s"/>`+"\n", colours[i], ranges.String())
		}
		pic.Dots(colours[i], points)
	}
	return top + curveHeight + chart.BelowHeight
}

func colourOf(line int) string { return fmt.Sprintf("run%d", line+1) }

// Text returns the curve as characters, for a terminal of so many columns and lines, and what explains its marks. A letter
// stands for a line, at each of its dots.
func (c *Curve) Text(columns, lines int) (text, legend string) {
	const (
		left, right = 9, 8 // for the latencies, and for the label of the last dot
		pixels      = 16   // of a line, by which the axis chooses its ticks
	)
	wide, high := max(columns-left-right, 20), max(lines-5, 6)
	latencies, rates := chart.LatencyAxis(c.low.latency, c.high.latency, 0, float64(high-1)*pixels), chart.NewRates(c.low.iops, c.high.iops)
	cells := make([][]rune, high)
	for y := range cells {
		cells[y] = []rune(strings.Repeat(" ", wide+right))
	}
	at := func(d dot) (x, y int) {
		return int(math.Round(rates.At(d.iops.N()) * float64(wide-1))), int(math.Round(latencies.Y(d.latency.N()) / pixels))
	}
	for _, l := range c.lines { // the lines first, because letters and labels are over them
		for k := range l.dots[1:] {
			x, y := at(l.dots[k])
			toX, toY := at(l.dots[k+1])
			steps := max(abs(toX-x), abs(toY-y))
			for i := range steps {
				cells[y+int(math.Round(float64((toY-y)*i)/float64(steps)))][x+int(math.Round(float64((toX-x)*i)/float64(steps)))] = '·'
			}
		}
	}
	isFree := func(y, from, to int) bool { return strings.Trim(string(cells[y][from:to]), " ·") == "" }
	for i, l := range c.lines {
		for _, d := range l.dots {
			x, y := at(d)
			cells[y][x] = rune('A' + i)
		}
	}
	for _, l := range c.lines {
		for _, d := range l.dots {
			x, y := at(d)
			name := []rune(term.Clean(d.name))
			switch after, before := x+1+len(name), x-len(name); {
			case after < len(cells[y]) && isFree(y, x+1, after+1):
				copy(cells[y][x+1:], name)
			case before > 0 && isFree(y, before-1, x):
				copy(cells[y][before:], name)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", term.Clean(c.name()))
	labels := map[int]string{}
	for _, t := range latencies.Ticks {
		labels[int(math.Round((1-t.At)*float64(high-1)))] = t.Label
	}
	for y, row := range cells {
		fmt.Fprintf(&b, "%7s │%s\n", labels[y], strings.TrimRight(string(row), " "))
	}
	ticks, names := []rune(strings.Repeat("─", wide)), []rune(strings.Repeat(" ", wide+right))
	free := 0
	for _, t := range rates.Ticks(wide / 8) {
		x := int(math.Round(t.At * float64(wide-1)))
		if x < free {
			continue
		}
		ticks[x] = '┴'
		free = x + copy(names[x:], []rune(t.Label)) + 1
	}
	fmt.Fprintf(&b, "%7s └%s\n%9s%s\n", "", string(ticks), "", strings.TrimRight(string(names), " "))
	var letters []string
	for i, l := range c.lines {
		letters = append(letters, fmt.Sprintf("%c %s", 'A'+i, c.lineName(l)))
	}
	legend = strings.Join(letters, ", ") + "; numbers are " + c.By[min(len(c.By), 2)-1].Name + "; from left to right IOPS; both axes are logarithmic"
	return b.String(), term.Clean(legend)
}

func abs(x int) int { return max(x, -x) }
