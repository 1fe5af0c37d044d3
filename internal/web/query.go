package web

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/mapping"
)

// pageRuns is how many runs are on a page of the list.
const pageRuns = 100

// column is one of the list that can be sorted by.
type column struct {
	key, name string
	of        func(*mapping.Totals) float64 // nil: when the run started
}

// columns are in the order in which they stand. Keys are those of "runs --sort", and some more.
var columns = []column{
	{"start", "Start (UTC)", nil},
	{"requests", "Requests", func(t *mapping.Totals) float64 { return float64(t.Requests) }},
	{"iops", "IOPS", func(t *mapping.Totals) float64 { return t.IOPS }},
	{"p50", "p50", latency("p50")},
	{"p95", "p95", latency("p95")},
	{"p99", "p99", latency("p99")},
	{"p99.9", "p99.9", latency("p99.9")},
	{"max", "Max", latency("max")},
}

// latency is a percentile or the maximum, of merged histograms or, without any, as fio itself
// computed it of a single job. It is not a number where neither is known.
func latency(name string) func(*mapping.Totals) float64 {
	return func(t *mapping.Totals) float64 {
		us, ok := math.NaN(), false
		switch {
		case t.Latency.Layout != "":
			us, ok = t.Latency.Figure(name)
		case t.Fio != nil:
			us, ok = t.Fio.Figure(name)
		}
		if !ok {
			return math.NaN()
		}
		return us
	}
}

// ofRun is the column's value of all requests of a run or, where that is not known, the
// highest of its directions; 0 where none is known.
func (c *column) ofRun(run *mapping.Run) float64 {
	if run.All != nil {
		if v := c.of(run.All); !math.IsNaN(v) {
			return v
		}
	}
	most := 0.0
	for _, d := range run.ByDirection() {
		if v := c.of(d.Totals); v > most {
			most = v
		}
	}
	return most
}

// query is which runs a list shows, and how.
type query struct {
	text   string
	by     *column
	lowest bool // first
	page   int  // from 1
}

// parseQuery reads the parameters of a list's address.
func parseQuery(v url.Values) (query, error) {
	q := query{text: v.Get("text"), by: &columns[0], page: 1}
	if key := v.Get("sort"); key != "" {
		i := slices.IndexFunc(columns, func(c column) bool { return c.key == key })
		if i < 0 {
			return q, fmt.Errorf("sort=%s: want one of start, requests, iops, p50, p95, p99, p99.9, max", key)
		}
		q.by = &columns[i]
	}
	switch order := v.Get("order"); order {
	case "", "highest":
	case "lowest":
		q.lowest = true
	default:
		return q, fmt.Errorf("order=%s: want highest or lowest", order)
	}
	if text := v.Get("page"); text != "" {
		const most = 1e6
		page, err := strconv.Atoi(text)
		if err != nil || page < 1 || page > most {
			return q, fmt.Errorf("page=%s: want a number from 1", text)
		}
		q.page = page
	}
	return q, nil
}

// address is that of the list which q asks for.
func (q query) address() string {
	v := url.Values{}
	if q.text != "" {
		v.Set("text", q.text)
	}
	if q.by != &columns[0] {
		v.Set("sort", q.by.key)
	}
	if q.lowest {
		v.Set("order", "lowest")
	}
	if q.page > 1 {
		v.Set("page", strconv.Itoa(q.page))
	}
	if len(v) == 0 {
		return "./"
	}
	return "./?" + v.Encode()
}

// at is another page of the same list.
func (q query) at(page int) query { q.page = page; return q }

// sorted is the same list by another column, or the other way round.
func (q query) sorted(by *column) query {
	q.lowest, q.by, q.page = q.by == by && !q.lowest, by, 1
	return q
}

// sort sorts runs, which are the newest first.
func (q query) sort(runs []*mapping.Run) {
	slices.SortStableFunc(runs, func(a, b *mapping.Run) int {
		order := b.Run.Start.Compare(a.Run.Start)
		if q.by.of != nil {
			order = cmp.Compare(q.by.ofRun(b), q.by.ofRun(a))
		}
		if q.lowest {
			order = -order
		}
		return order
	})
}
