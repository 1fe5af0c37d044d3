package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
)

// pageRuns is how many runs are on a page of the list.
const pageRuns = 100

// listQuery says which runs the list shows, with which columns, and in which order.
type listQuery struct {
	Text    string
	Where   string // condition as the user wrote it
	Columns string // names joined by commas; empty for the usual columns
	By      facts.Order
	Lowest  bool // the lowest value comes first
	Page    int  // from 1
}

// parseQuery parses the parameters of the list's address.
func parseQuery(v url.Values) (listQuery, error) {
	q := listQuery{Text: v.Get("text"), Where: v.Get("where"), Columns: v.Get("columns"), By: facts.Orders[0], Page: 1}
	const mostText = 4000 // characters of columns
	if len(q.Columns) > mostText {
		return q, fmt.Errorf("columns has %d characters: want %d at most", len(q.Columns), mostText)
	}
	if _, _, err := q.columns(); err != nil {
		return q, fmt.Errorf("columns=%s: %w", q.Columns, err)
	}
	if key := v.Get("sort"); key != "" {
		order, err := facts.OrderOf(key, nil)
		if err != nil {
			return q, fmt.Errorf("sort=%s: %w", key, err)
		}
		q.By = *order
	}
	switch order := v.Get("order"); order {
	case "", "highest":
	case "lowest":
		q.Lowest = true
	default:
		return q, fmt.Errorf("order=%s: want highest or lowest", order)
	}
	if text := v.Get("page"); text != "" {
		const most = 1e6
		page, err := strconv.Atoi(text)
		if err != nil || page < 1 || page > most {
			return q, fmt.Errorf("page=%s: want a number from 1", text)
		}
		q.Page = page
	}
	return q, nil
}

// Parameters returns the parameters that a new search keeps.
func (q listQuery) Parameters() url.Values {
	v := url.Values{}
	if q.By != facts.Orders[0] {
		v.Set("sort", q.By.Name)
	}
	if q.Lowest {
		v.Set("order", "lowest")
	}
	return v
}

// Address returns the address of this list.
func (q listQuery) Address() string {
	v := q.Parameters()
	for name, text := range map[string]string{"text": q.Text, "where": q.Where, "columns": q.Columns} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if q.Page > 1 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	if len(v) == 0 {
		return "./"
	}
	return "./?" + v.Encode()
}

// IsSearch reports whether the query may leave out runs.
func (q listQuery) IsSearch() bool { return q.Text != "" || strings.TrimSpace(q.Where) != "" }

// Turn returns the query of the page that is pages further on.
func (q listQuery) Turn(pages int) listQuery { q.Page += pages; return q }

// Sorted returns the query of the same list in another order, or reversed.
func (q listQuery) Sorted(by facts.Order) listQuery {
	q.Lowest, q.By, q.Page = q.By == by && !q.Lowest, by, 1
	return q
}

// Sort says how the list is sorted by an order; empty if it is not.
func (q listQuery) Sort(by facts.Order) string {
	switch {
	case q.By != by:
		return ""
	case q.Lowest:
		return "ascending"
	}
	return "descending"
}
