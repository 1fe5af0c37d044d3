package facts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// Order is an order of runs: the latest or highest first, texts from A to Z. Unknown values are last.
type Order struct {
	Name   string               // such as "p99.9", or the name of the column
	Column *table.Column[*Line] // nil: by the start of the runs
}

// Orders are the built-in orders of runs. The first is the default.
var Orders = func() []Order {
	list := []Order{{Name: "start"}}
	columns := table.Pick(Numbers, "requests", "iops", "p50", "p95", "p99", "p99_9", "max")
	for i := range columns {
		list = append(list, Order{strings.ReplaceAll(columns[i].Name, "_", "."), &columns[i]})
	}
	return list
}()

// OrderOf returns the order with this name, in which "_" may stand for ".". other is as in [Choose].
func OrderOf(name string, other func(name string) *table.Column[*Line]) (*Order, error) {
	var names []string
	for i := range Orders {
		if Orders[i].Name == strings.ReplaceAll(name, "_", ".") {
			return &Orders[i], nil
		}
		names = append(names, Orders[i].Name)
	}
	for i := range choices {
		c := &choices[i]
		if c.Value == nil || c.Name == "start" {
			continue
		}
		if c.Name == strings.ReplaceAll(name, ".", "_") {
			return &Order{c.Name, c}, nil
		}
		if !slices.Contains(names, strings.ReplaceAll(c.Name, "_", ".")) {
			names = append(names, c.Name)
		}
	}
	if list := columnOf(name, other); len(list) > 0 {
		return &Order{name, &list[len(list)-1]}, nil // the last column is the one for programs, which has the value
	}
	return nil, fmt.Errorf("want one of %s, or a field of --where (fio2es help fields)", strings.Join(names, ", "))
}

// rank is the sort key of a run: the number first, then the text.
type rank struct {
	number float64
	text   string
}

func (a rank) compare(b rank) int {
	if (a.text == "") != (b.text == "") { // unknown values come last
		return cmp.Compare(b.text, a.text)
	}
	return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.text, b.text))
}

// Sort sorts runs by the order or its reverse. Equal runs keep their order.
func (o *Order) Sort(runs []*mapping.Run, isReversed bool) {
	ranks := map[*mapping.Run]rank{}
	if o.Column != nil {
		for _, run := range runs {
			ranks[run] = o.of(run)
		}
	}
	slices.SortStableFunc(runs, func(a, b *mapping.Run) int {
		order := ranks[a].compare(ranks[b])
		if o.Column == nil {
			order = b.Run.Start.Compare(a.Run.Start)
		}
		if isReversed {
			order = -order
		}
		return order
	})
}

// of returns the rank of a run by all its requests. If that number is not known, it is the highest number of its
// directions, or 0.
func (o *Order) of(run *mapping.Run) rank {
	lines := Lines(run)
	if run.All != nil {
		lines = slices.Insert(lines, 0, NewLine(run, true, mapping.DirectionTotals{Totals: run.All}))
	}
	most := rank{}
	for i, l := range lines {
		x := rankOf(o.Column.Value(l))
		if x.text != "" {
			return x
		}
		if x.number > most.number {
			most = x
		}
		if i == 0 && run.All != nil && !math.IsNaN(x.number) {
			return x
		}
	}
	return most
}

// rankOf returns the rank of a value. The number is NaN if it is not known.
func rankOf(value any) rank {
	switch v := value.(type) {
	case string:
		if v == "" {
			return rank{number: math.NaN()}
		}
		return rank{text: v}
	case bool:
		if v {
			return rank{number: 1}
		}
		return rank{}
	case int:
		return rank{number: float64(v)}
	case int64:
		return rank{number: float64(v)}
	case float64:
		return rank{number: v}
	case time.Time:
		return rank{number: float64(v.UnixMilli())}
	}
	return rank{number: math.NaN()}
}
