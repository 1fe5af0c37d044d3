package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/compare"
)

// comparison says how a run differs from the first one, or why the two are not compared.
type comparison struct {
	Other   int    // number of the run on the page, from 1; the first run is the base
	Title   string // title of the run
	Changes []compare.Line
	Differ  string // how the settings differ, such as "direct 1, not 0"
	Why     string // why there is no comparison, such as "mode read, not write"
}

// Percent returns the confidence of the intervals for the template.
func (c *comparison) Percent() string { return share(confidence) }

// A change is drawn on a logarithmic line from half as much to twice as much.
const (
	changeWidth  = 160
	changeHeight = 16
	changeMiddle = changeWidth / 2
)

// changeX returns the x of a change on this line; 0.1 is ten percent more.
func changeX(change float64) float64 {
	return changeMiddle + min(max(math.Log2(1+change), -1), 1)*(changeMiddle-6)
}

// drawChange draws a change and its interval, and a mark for no change.
func drawChange(c compare.Change) template.HTML {
	if math.IsNaN(c.Change) {
		return ""
	}
	pic := &chart.Canvas{}
	pic.Printf(`<path class="grid" d="M%d 0v%d"/>`, changeMiddle, changeHeight)
	if c.Verdict != compare.Unknown {
		from, to := changeX(c.Low), changeX(c.High)
		pic.Printf(`<path class="range" d="M%s %dH%s"/>`, chart.Number(from), changeHeight/2, chart.Number(max(to, from+1)))
	}
	switch x, y := changeX(c.Change), changeHeight/2; {
	case c.Change > 1:
		pic.Printf(`<path class="beyond" d="M%s %dl7 4 -7 4z"/>`, chart.Number(x-1), y-4)
	case c.Change < -0.5:
		pic.Printf(`<path class="beyond" d="M%s %dl-7 4 7 4z"/>`, chart.Number(x+1), y-4)
	default:
		pic.Printf(`<circle cx="%s" cy="%d" r="3"/>`, chart.Number(x), y)
	}
	attributes := fmt.Sprintf(`class="change %s" viewBox="0 0 %d %d" width="%d" height="%d"`, c.Verdict, changeWidth, changeHeight, changeWidth, changeHeight)
	return template.HTML(pic.SVG(attributes, "")) // no label, because the numbers are beside it
}
