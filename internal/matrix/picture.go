package matrix

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/unit"
)

// Picture is a curve or a heat map for files and pages.
type Picture struct {
	Title string
	Notes []string                                              // below it
	draw  func(pic *chart.Canvas, top float64) (bottom float64) // returns where it ends
}

// lineColours are those of runs on pages.
var lineColours = [MostLines]string{"#0072b2", "#d55e00", "#009e73", "#b5478e", "#1b1f24", "#b98900", "#3f9fd8", "#7a5bb5"}

// WriteSVG writes pictures below one another as a complete SVG file.
func WriteSVG(w io.Writer, pictures ...*Picture) error {
	style := chart.Levels(heatmap.Levels(false)) + ".line{fill:none;stroke-width:1.6}.dot{stroke:#fff}"
	for i, colour := range lineColours {
		style += fmt.Sprintf(".line.%s{stroke:%s}.dot.%[1]s{fill:%[2]s}", colourOf(i), colour)
	}
	pic, at := chart.NewFile(style), 0.0
	for _, p := range pictures {
		pic.Text(chart.Left, at+30, "title", unit.Shorten(p.Title, 100))
		for i, note := range p.Notes {
			pic.Text(chart.Left, at+52+20*float64(i), "soft", unit.Shorten(note, 150))
		}
		at = p.draw(pic, at+48+20*float64(len(p.Notes))) + 10
	}
	return pic.WriteFile(w, int(at), pictures[0].Title, pictures[0].Title)
}

// Fragment returns a picture as a part of a page, which has the colours of classes and a title.
func (p *Picture) Fragment() string {
	pic := &chart.Canvas{}
	height := p.draw(pic, 0)
	return pic.SVG(fmt.Sprintf(`class="curves" viewBox="0 0 %d %s"`, chart.Width, chart.Number(height)), p.Title)
}

// ends returns the lowest and the highest number of all cells, also of the matrices of other values, or 0 if there is none.
func (m *Matrix) ends(metric facts.Metric) (low, high float64) {
	low = math.Inf(1)
	for _, one := range *m.all {
		for _, c := range one.Cells() {
			if n := c.Number(metric).N(); n > 0 {
				low, high = min(low, n), max(high, n)
			}
		}
	}
	return low, high
}

// level returns the level of a number among n levels of colour on a logarithmic scale; 0 is that of low.
func level(value, low, high float64, n int) int {
	if high == low {
		return 0
	}
	return int(math.Round(math.Log(value/low) / math.Log(high/low) * float64(n-1)))
}

// checkHeat returns why a heat map of a number cannot be drawn.
func (m *Matrix) checkHeat(metric facts.Metric) error {
	if len(m.By) < 2 {
		return errors.New("a heat map is over two settings, such as bs,iodepth")
	}
	if _, high := m.ends(metric); high == 0 {
		return fmt.Errorf("no cell has %s", metric.Text())
	}
	return nil
}

// Heat returns a picture of the matrix whose cells are coloured by a number. The colours are logarithmic.
func (m *Matrix) Heat(metric facts.Metric) (*Picture, error) {
	if err := m.checkHeat(metric); err != nil {
		return nil, err
	}
	const high, mostWide, most = 38, 160, 11 // pixels of a cell, and characters of a value beside the cells
	text := m.texts(metric)
	lowest, highest := m.ends(metric)
	levels := len(heatmap.Levels(false)) * 9 / 20 // not the colours that are too strong for a text over them
	draw := func(pic *chart.Canvas, top float64) (bottom float64) {
		wide := min(chart.AreaWidth/float64(len(m.Columns)), mostWide)
		bottom = top + high*float64(len(m.Rows))
		pic.Printf(`<g text-anchor="middle">` + "\n")
		for i, column := range m.Columns {
			x := chart.Left + wide*float64(i)
			for k, row := range m.Rows {
				c := m.Cell(row, column)
				if c == nil {
					continue
				}
				n, y, style := c.Number(metric), top+high*float64(k), ` fill="none"`
				if n.N() > 0 {
					style = fmt.Sprintf(` class="level%d"`, level(n.N(), lowest, highest, levels))
				}
				pic.Printf(`<rect%s x="%s" y="%s" width="%s" height="%d"><title>%s</title></rect>`+"\n", style, chart.Number(x), chart.Number(y),
					chart.Number(wide-1), high-1, chart.Escape(c.Name()+": "+metric.Text()+" "+text(c)))
				pic.Text(x+wide/2, y+high/2+4, "over", text(c))
			}
			pic.Text(x+wide/2, bottom+18, "", unit.Shorten(column.Text, max(int(wide/7), 1)))
		}
		pic.Text(chart.Left+wide*float64(len(m.Columns))/2, bottom+40, "soft", m.By[1].Name)
		pic.Printf("</g>\n" + `<g text-anchor="end">` + "\n")
		for k, row := range m.Rows {
			pic.Text(chart.Left-8, top+high*float64(k)+high/2+4, "", unit.Shorten(row.Text, most))
		}
		pic.Printf("</g>\n")
		pic.Text(8, bottom+18, "soft", m.By[0].Name)
		return bottom + chart.BelowHeight
	}
	return &Picture{m.Title(metric), m.Notes(metric), draw}, nil
}
