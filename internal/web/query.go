package web

import (
	"cmp"
	"fmt"
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
	{"p50", "p50", func(t *mapping.Totals) float64 { return t.Latency.P50 }},
	{"p95", "p95", func(t *mapping.Totals) float64 { return t.Latency.P95 }},
	{"p99", "p99", func(t *mapping.Totals) float64 { return t.Latency.P99 }},
	{"p99.9", "p99.9", func(t *mapping.Totals) float64 { return t.Latency.P999 }},
	{"max", "Max", func(t *mapping.Totals) float64 { return t.Latency.Max }},
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
	none := &mapping.Totals{}
	slices.SortStableFunc(runs, func(a, b *mapping.Run) int {
		order := b.Run.Start.Compare(a.Run.Start)
		if q.by.of != nil {
			order = cmp.Compare(q.by.of(cmp.Or(b.All, none)), q.by.of(cmp.Or(a.All, none)))
		}
		if q.lowest {
			order = -order
		}
		return order
	})
}
