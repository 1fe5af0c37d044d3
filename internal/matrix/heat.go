package matrix

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
)

// Heat is a matrix of two settings whose cells are coloured by a number. The colours are logarithmic.
type Heat struct {
	*Matrix
	Metric    facts.Metric
	low, high float64
}

// Heat returns the heat map of a number.
func (m *Matrix) Heat(metric facts.Metric) (*Heat, error) {
	if len(m.By) != 2 {
		return nil, errors.New("a heat map is over two settings, such as bs,iodepth")
	}
	h := &Heat{Matrix: m, Metric: metric, low: math.Inf(1)}
	for _, c := range m.Cells() {
		if n := c.Number(metric).N; n > 0 {
			h.low, h.high = min(h.low, n), max(h.high, n)
		}
	}
	if h.high == 0 {
		return nil, fmt.Errorf("no cell has %s", metric.Text())
	}
	return h, nil
}

// level returns the level of a number among n levels of colour; 0 is that of the lowest number.
func (h *Heat) level(value float64, n int) int {
	if h.high == h.low {
		return 0
	}
	return int(math.Round(math.Log(value/h.low) / math.Log(h.high/h.low) * float64(n-1)))
}

// draw draws the map below top, and returns where it ends.
func (h *Heat) draw(pic *chart.Canvas, top float64) (bottom float64) {
	const high, mostWide, most = 38, 160, 11 // pixels of a cell, and characters of a value beside the cells
	text := h.texts(h.Metric)
	levels := len(heatmap.Levels(false)) * 9 / 20 // not the colours that are too strong for a text over them
	wide := min(chart.AreaWidth/float64(len(h.Columns)), mostWide)
	pic.Printf(`<g text-anchor="middle">` + "\n")
	for i, column := range h.Columns {
		x := chart.Left + wide*float64(i)
		for k, row := range h.Rows {
			c := h.Cell(row, column)
			if c == nil {
				continue
			}
			n, y, style := c.Number(h.Metric), top+high*float64(k), ` fill="none"`
			if n.N > 0 {
				style = pic.Style(fmt.Sprintf("level%d", h.level(n.N, levels)))
			}
			pic.Printf(`<rect%s x="%s" y="%s" width="%s" height="%d"><title>%s</title></rect>`+"\n", style, chart.Number(x), chart.Number(y),
				chart.Number(wide-1), high-1, chart.Escape(c.Name()+": "+h.Metric.Text()+" "+text(c)))
			pic.Text(x+wide/2, y+high/2+4, "over", text(c))
		}
		pic.Text(x+wide/2, top+high*float64(len(h.Rows))+18, "", unit.Shorten(column.Text, max(int(wide/7), 1)))
	}
	bottom = top + high*float64(len(h.Rows))
	pic.Text(chart.Left+wide*float64(len(h.Columns))/2, bottom+40, "soft", h.By[1].Name)
	pic.Printf("</g>\n" + `<g text-anchor="end">` + "\n")
	for k, row := range h.Rows {
		pic.Text(chart.Left-8, top+high*float64(k)+high/2+4, "", unit.Shorten(row.Text, most))
	}
	pic.Printf("</g>\n")
	pic.Text(8, bottom+18, "soft", h.By[0].Name)
	return bottom + chart.BelowHeight
}

// Text implements [Drawing], with 256 colours or with shades.
func (h *Heat) Text(columns, _ int, isColoured bool) (_ string, below []string) {
	text := h.Grid(h.Metric).Cell
	left, wide, width := utf8.RuneCountInString(h.By[0].Name), []int(nil), 0
	for _, row := range h.Rows {
		left = max(left, utf8.RuneCountInString(term.Clean(row.Text)))
	}
	for _, column := range h.Columns {
		n := utf8.RuneCountInString(term.Clean(column.Text)) + 2
		for _, row := range h.Rows {
			n = max(n, utf8.RuneCountInString(text(row, column))+4) // a space, and what paint adds
		}
		wide = append(wide, n)
	}
	shown := 0
	for width = left; shown < len(wide) && width+wide[shown] <= max(columns, 40); shown++ {
		width += wide[shown]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", term.Clean(h.name()))
	line := func(first string, cell func(i int) string) {
		parts := []string{pad(term.Clean(first), left)}
		for i := range shown {
			parts = append(parts, cell(i))
		}
		b.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
	}
	line(h.By[0].Name, func(i int) string { return "  " + pad(term.Clean(h.Columns[i].Text), wide[i]-2) })
	for _, row := range h.Rows {
		line(row.Text, func(i int) string {
			cell := pad(text(row, h.Columns[i]), wide[i]-4)
			c := h.Cell(row, h.Columns[i])
			if c == nil || !(c.Number(h.Metric).N > 0) {
				return "    " + cell
			}
			return " " + h.paint(c.Number(h.Metric).N, cell, isColoured)
		})
	}
	legend := fmt.Sprintf("from %s to %s, logarithmic", facts.KindText(h.Metric.Kind, h.low, false), facts.KindText(h.Metric.Kind, h.high, false))
	b.WriteString(h.paint(h.low, "", isColoured) + "… " + h.paint(h.high, "", isColoured) + legend + "\n")
	if shown < len(wide) {
		left := textsOf(h.Columns[shown:])
		below = append(below, fmt.Sprintf("(without %s %s: there are %d columns; --output draws all)", h.By[1].Name, strings.Join(left, ", "), columns))
	}
	return b.String(), below
}

// paint returns a text with the colour or the shade of a number: three characters more than the text.
func (h *Heat) paint(value float64, text string, isColoured bool) string {
	if !isColoured {
		shade := string(heatmap.Shades[h.level(value, len(heatmap.Shades))])
		return shade + shade + " " + text
	}
	level, ink := h.level(value, len(heatmap.Grounds)), 231 // white on the darker half, black on the lighter
	if level >= len(heatmap.Grounds)/2 {
		ink = 16
	}
	return fmt.Sprintf("\x1b[38;5;%d;48;5;%dm %s \x1b[0m ", ink, heatmap.Grounds[level], text)
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
}
