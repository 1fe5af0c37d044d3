package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/heatmap"
)

// MaxSections is how many runs have a section of their own: the others are in the summary.
const MaxSections = 24

// Options say what a page is of.
type Options struct {
	Program    string   // and its version, such as "fio2es v1.2.3"
	Directions []string // that were asked for; empty: all
	Part       string   // of the time, as it was asked for, such as "from +90s"; empty: all of it
	Home       string   // address of a list of runs, which the page then links to
}

// Page is a report of one run or several.
type Page struct {
	opt         Options
	begun       int // runs that were begun
	runs        []*Run
	comparisons []*Comparison
}

// New makes an empty page.
func New(o Options) *Page { return &Page{opt: o} }

// Write writes the page, all of it or nothing.
func (p *Page) Write(w io.Writer) error {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p.view()); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// pageView is what the template shows.
type pageView struct {
	Title, Heading string
	Program        string
	Home           string
	Policy         string
	Style          template.CSS
	Script         template.JS
	Summary        []summaryRow // of several runs
	Beyond         int          // runs without a section
	Overlays       []figure
	Undrawn        bool // runs have no curves there
	Comparisons    []*Comparison
	Apart          []*Comparison // of which there is none
	Runs           []*runView
}

func (p *Page) view() *pageView {
	v := &pageView{Program: p.opt.Program, Home: p.opt.Home, Policy: policy, Style: style, Script: template.JS(pageJS)}
	for i, r := range p.runs {
		if r.view == nil {
			continue
		}
		if r.view.Many = len(p.runs) > 1; r.view.Many {
			r.view.Class = runClass(i)
		}
		v.Runs = append(v.Runs, r.view)
	}
	if len(p.runs) == 1 {
		v.Title, v.Heading = p.runs[0].doc.Run.Name, "Latency report of a run"
		return v
	}
	v.Title = fmt.Sprintf("%d runs", len(p.runs))
	v.Heading = "Latency report of " + v.Title
	v.Summary, v.Beyond = p.summary(), len(p.runs)-len(v.Runs)
	v.Overlays, v.Undrawn = p.overlays(), len(p.runs) > maxCurves
	for _, c := range p.comparisons {
		if len(c.Changes) > 0 {
			v.Comparisons = append(v.Comparisons, c)
		} else {
			v.Apart = append(v.Apart, c)
		}
	}
	return v
}

// figure is a chart with what is written below it.
type figure struct {
	Name string
	SVG  template.HTML
}

// newCanvas begins a chart as wide as all are.
func newCanvas(height float64, class, label string) *chart.Canvas {
	return chart.New(fmt.Sprintf(`class="%s" viewBox="0 0 %d %s"`, class, chart.Width, chart.Number(height)), label)
}

// policy lets a browser load nothing, and run no script but ours: whatever a run is named.
var policy = func() string {
	sum := sha256.Sum256([]byte(pageJS))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}()

// Policy is the content security policy that is in each page, for those who send it as a
// header, too.
func Policy() string { return policy }

// Style is the style sheet of pages, for other pages beside them.
func Style() template.CSS { return style }

// style is the style sheet, with the colours of heat maps.
var style = func() template.CSS {
	var light, dark strings.Builder
	of, on := heatmap.Levels(false), heatmap.Levels(true)
	for level := range of {
		fmt.Fprintf(&light, ".level%d{fill:%s}", level, of[level])
		fmt.Fprintf(&dark, ".level%d{fill:%s}", level, on[level])
	}
	return template.CSS(pageCSS + light.String() + "\n@media screen and (prefers-color-scheme:dark){" + dark.String() + "}\n")
}()
