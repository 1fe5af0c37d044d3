package web

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/fio2es/fio2es/internal/facts"
)

// pageRuns is how many runs are on a page of the list.
const pageRuns = 100

// listQuery is which runs the list shows, and in which order.
type listQuery struct {
	text   string
	by     *facts.Order
	lowest bool // first
	page   int  // from 1
}

// parseQuery reads the parameters of the list's address.
func parseQuery(v url.Values) (listQuery, error) {
	q := listQuery{text: v.Get("text"), by: &facts.Orders[0], page: 1}
	if key := v.Get("sort"); key != "" {
		order, err := facts.OrderOf(key)
		if err != nil {
			return q, fmt.Errorf("sort=%s: %w", key, err)
		}
		q.by = order
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

// address is the address of the query's list.
func (q listQuery) address() string {
	v := url.Values{}
	if q.text != "" {
		v.Set("text", q.text)
	}
	if q.by != &facts.Orders[0] {
		v.Set("sort", q.by.Name)
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
func (q listQuery) at(page int) listQuery { q.page = page; return q }

// sorted is the same list by another order, or reversed.
func (q listQuery) sorted(by *facts.Order) listQuery {
	q.lowest, q.by, q.page = q.by == by && !q.lowest, by, 1
	return q
}
