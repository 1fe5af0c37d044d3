package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/compare"
)

// Comparison is how a run differs from the first one, or why that is not told.
type Comparison struct {
	Other      int     // the run's place on the page, from 1; the first is the baseline
	Title      string  // of the run
	Confidence float64 // such as 0.95
	Changes    []Change
	Why        string // there are none, such as "mode read, not write"
}

// Change is how a metric differs, as numbers and as texts.
type Change struct {
	compare.Change
	Direction                string
	BaseText, OtherText      string
	ChangeText, IntervalText string
}

// Compare adds a comparison to the page.
func (p *Page) Compare(c *Comparison) { p.comparisons = append(p.comparisons, c) }

// Percent is how sure the intervals are, for the template.
func (c *Comparison) Percent() string { return share(c.Confidence) }

// A change is drawn on a line from half to twice as much, logarithmically.
const (
	changeWidth  = 160
	changeHeight = 16
	changeMiddle = changeWidth / 2
)

// changeX is the place of a change (0.1 is ten percent more).
func changeX(change float64) float64 {
	return changeMiddle + min(max(math.Log2(1+change), -1), 1)*(changeMiddle-6)
}

// Picture draws the change and its interval beside the line of no change.
func (c *Change) Picture() template.HTML {
	if math.IsNaN(c.Change.Change) {
		return ""
	}
	pic := chart.New(fmt.Sprintf(`class="change %s" viewBox="0 0 %d %d" width="%d" height="%d"`, c.Verdict, changeWidth, changeHeight, changeWidth, changeHeight), "")
	pic.Printf(`<path class="grid" d="M%d 0v%d"/>`, changeMiddle, changeHeight)
	if c.Verdict != compare.Unknown {
		from, to := changeX(c.Low), changeX(c.High)
		pic.Printf(`<path class="range" d="M%s %dH%s"/>`, chart.Number(from), changeHeight/2, chart.Number(max(to, from+1)))
	}
	switch x, y := changeX(c.Change.Change), changeHeight/2; {
	case c.Change.Change > 1:
		pic.Printf(`<path class="beyond" d="M%s %dl7 4 -7 4z"/>`, chart.Number(x-1), y-4)
	case c.Change.Change < -0.5:
		pic.Printf(`<path class="beyond" d="M%s %dl-7 4 7 4z"/>`, chart.Number(x+1), y-4)
	default:
		pic.Printf(`<circle cx="%s" cy="%d" r="3"/>`, chart.Number(x), y)
	}
	return template.HTML(pic.SVG()) // without texts
}
