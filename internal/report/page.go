// Package report shows what is known of runs. One HTML page has numbers with their error bounds, charts over time, heat maps,
// distributions, hosts, comparisons, and how the data was made. The page needs no network and no other program. A
// [Screen] shows one run on a terminal, with the same numbers.
//
// A [Page] adds runs one by one. It keeps only what the charts need of their windows. Numbers are those of run
// documents, or of merged histograms. The same runs give the same page, byte for byte. Texts in documents are not
// trusted: html/template or internal/chart escapes them.
//
// Latencies are in microseconds, as in documents. Positions in charts are in pixels.
package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"sync"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// MaxSections is how many stages of an execution have a section. All are in the summary.
const MaxSections = 24

// Options describes a page.
type Options struct {
	Program string      // program and version, such as "fio2es v1.2.3"
	Query   query.Query // selects windows by time and direction
	Rules   []slo.Rule  // by which runs in files are checked on a page of a night; those of a history were when they were stored
	Home    string      // address of the list of runs; the page has links to it and its other pages if it is not empty
	Live    bool        // a server may have more of a run later: see [Live]
	Pair    bool        // two runs are compared, also if they are stages of one execution, or of different workloads
	// Baseline is with what many tests are compared, for servers. The page itself gets it with [Page.Compare].
	Baseline string
	Stages   []Link // of a stage of an execution: links to the whole execution and to the stages before and after
}

// Link is a link to another page. IsHere marks the page itself.
type Link struct {
	Text, Address string
	IsHere        bool
}

// Nav returns the links that all pages of a server have, from a page with this title. home is the address of the list of
// runs; without it there are none. The condition where stays from page to page.
func Nav(home, title, where string) (list []Link) {
	if home == "" {
		return nil
	}
	if where != "" {
		where = "?" + url.Values{"where": {where}}.Encode()
	}
	for _, l := range []Link{{"Runs", where, false}, {"Archives", "archives" + where, false}, {"Workloads", "workloads" + where, false}, {"Matrix", "matrix" + where, false}, {"Compare", "compare", false}} {
		list = append(list, Link{l.Text, home + l.Address, l.Text == title})
	}
	return list
}

// Page is a report about one run, about two that are compared, about the stages of an execution, or about nights: many tests, in one
// archive or several.
type Page struct {
	opt    Options
	runs   []*run
	nights []*nightView // the newest first
	pair   *comparison  // of two runs
	empty  []error
}

// New returns an empty page.
func New(o Options) *Page { return &Page{opt: o} }

// Runs returns how many runs are on the page.
func (p *Page) Runs() int { return len(p.runs) }

// Empty returns the errors of the runs without matching requests.
func (p *Page) Empty() error { return errors.Join(p.empty...) }

// IsOfNights reports whether the page is about many tests: it has more than two runs, or two of different workloads, and these are
// not the stages of one execution.
func (p *Page) IsOfNights() bool {
	docs := documents(p.runs)
	isPair := len(docs) == 2 && (p.opt.Pair || workload.Key(docs[0]) == workload.Key(docs[1]))
	return len(docs) > 1 && !isPair && (p.opt.Pair || !facts.IsExecution(docs))
}

// Write writes the whole page, or nothing if it fails.
func (p *Page) Write(w io.Writer) error {
	v := pageView{Options: p.opt, Runs: p.runs}
	switch {
	case len(p.runs) == 1:
	case p.IsOfNights():
		if p.nights == nil {
			if err := p.Compare(context.Background(), Against{}); err != nil {
				return err
			}
		}
		v.Runs, v.Nights = nil, p.nights
	default:
		for i, r := range p.runs[:min(len(p.runs), maxCurves)] {
			r.Class = fmt.Sprintf("run%d", i+1)
		}
		v.Many, v.Beyond = true, max(len(p.runs)-MaxSections, 0)
		if v.IsExecution = !p.opt.Pair && facts.IsExecution(documents(p.runs)); v.IsExecution {
			setStages(p.runs)
			v.Lead, v.Views = executionLead(p.runs), p.matrices()
		} else {
			if p.pair == nil {
				p.pair = comparePair(p.runs[0], p.runs[1])
			}
			v.Comparison = p.pair
		}
		v.Views, v.Summary = append(v.Views, overlays(p.runs)...), p.summary(v.IsExecution)
	}
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, v); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

var (
	//go:embed page.html
	pageHTML string
	// PartsHTML has the templates "nav" of [Nav], "table" of a [Table], and "drawings" of a [View].
	//go:embed parts.html
	PartsHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

func documents(runs []*run) (docs []*mapping.Run) {
	for _, r := range runs {
		docs = append(docs, r.Doc)
	}
	return docs
}

// pageTemplate is parsed at first use, because otherwise all commands would start slower.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"style": Style, "live": Live, "reload": func() template.HTML { return reload }, "script": Script,
		"execution": facts.ExecutionTitle, "count": unit.Count, "nav": Nav, "path": url.PathEscape,
	}).Parse(pageHTML + PartsHTML))
})

// pageView is the data of the template.
type pageView struct {
	Options
	Runs        []*run       // those with a section
	Nights      []*nightView // else what many tests measured
	Many        bool         // there are several runs
	IsExecution bool         // they are stages of one execution
	Lead        string       // when the execution was
	Summary     *Table       // all runs
	Views       []View
	Comparison  *comparison // of two runs
	Beyond      int         // number of stages without a section
}

// View has drawings of one thing.
type View struct {
	Title    string
	Drawings []Figure
	Notes    []string
}

// Figure is a drawing.
type Figure struct {
	SVG   template.HTML
	Class string
	Data  chartData
}

// ofCurves explains drawings of curves.
const ofCurves = "The latency that a share of the requests did not exceed. Each further nine has the same width."

// picture returns a chart of the usual width.
func picture(c *chart.Canvas, class string, height float64, label string) template.HTML {
	attributes := fmt.Sprintf(`class="%s" viewBox="0 0 %d %s"`, class, chart.Width, chart.Number(height))
	return template.HTML(c.SVG(attributes, label)) // safe, because the canvas escapes texts
}

// Policy returns the content security policy of the page, for servers that send it as a header. A browser may load
// nothing, and run only the page's script, even if names of runs contain markup. The page of a live run may also
// connect to its server.
func (o Options) Policy() string {
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src " + ScriptPolicy()
	if o.Live {
		policy += " " + LivePolicy()
	}
	return policy + "; base-uri 'none'; form-action 'none'"
}

// Script returns the script of all pages, and ScriptPolicy its source expression for script-src.
func Script() template.JS  { return template.JS(pageJS) }
func ScriptPolicy() string { return HashOf(pageJS) }

// HashOf returns the source expression of a script or a style sheet for a policy.
func HashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Style returns the style sheet, with the colours of heat maps.
var Style = sync.OnceValue(func() template.CSS {
	light, dark := chart.Levels(heatmap.Levels(false)), chart.Levels(heatmap.Levels(true))
	return template.CSS(pageCSS + light + "\n@media screen and (prefers-color-scheme:dark){" + dark + "}\n")
})

//go:embed live.js
var liveJS string

// reload is for browsers without scripts.
const reload = `<noscript><meta http-equiv="refresh" content="10"></noscript>`

// Live returns the script of a page with live runs, which must be the last element of its body. The script loads the
// page again every two seconds and replaces what differs. It stops when the loaded page no longer has this script.
func Live() template.HTML { return template.HTML(`<script id="live">` + liveJS + `</script>`) }

// LivePolicy returns the source expression of this script for script-src in a content security policy.
func LivePolicy() string { return HashOf(liveJS) + "; connect-src 'self'" }

// maxCurves is how many runs are drawn in one chart: the number of colours.
const maxCurves = 8

// overlays returns a chart of the distributions of all runs for each direction that at least two of them have.
func overlays(runs []*run) (list []View) {
	for _, direction := range append(mapping.Directions[:], mapping.AllDirections) {
		var curves []*curve
		for _, r := range runs[:min(len(runs), maxCurves)] {
			for _, c := range r.curves {
				if c.name == direction {
					one := *c
					one.name, one.short, one.class = fmt.Sprintf("%d %s", r.Number, facts.Title(r.Doc)), fmt.Sprint("run ", r.Number), r.Class
					curves = append(curves, &one)
				}
			}
		}
		if len(curves) > 1 {
			label := fmt.Sprintf("Latency of %s by percentile, of %d runs", mapping.Plural(direction), len(curves))
			note := ofCurves
			if len(runs) > maxCurves {
				note += fmt.Sprintf(" The first %d runs are drawn.", maxCurves)
			}
			list = append(list, View{"Distribution of " + direction + " latencies", []Figure{drawCurves(curves, label)}, []string{note}})
		}
	}
	return list
}
