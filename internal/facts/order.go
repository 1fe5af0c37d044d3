package facts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// Order is an order of runs: the latest or the highest first.
type Order struct {
	Name   string               // as users give it, such as "p99.9"
	Column *table.Column[*Line] // nil: by the start of the runs
}

// Orders are the orders of runs, the usual one first.
var Orders = func() []Order {
	list := []Order{{Name: "start"}}
	columns := table.Pick(Numbers, "requests", "iops", "p50", "p95", "p99", "p99_9", "max")
	for i := range columns {
		list = append(list, Order{strings.ReplaceAll(columns[i].Name, "_", "."), &columns[i]})
	}
	return list
}()

// OrderOf is the order of a name.
func OrderOf(name string) (*Order, error) {
	var names []string
	for i := range Orders {
		if Orders[i].Name == name {
			return &Orders[i], nil
		}
		names = append(names, Orders[i].Name)
	}
	return nil, fmt.Errorf("want one of %s", strings.Join(names, ", "))
}

// Sort sorts runs, the highest or the lowest first. Equal runs keep their order.
func (o *Order) Sort(runs []*mapping.Run, lowestFirst bool) {
	values := map[*mapping.Run]float64{}
	if o.Column != nil {
		for _, run := range runs {
			values[run] = o.of(run)
		}
	}
	slices.SortStableFunc(runs, func(a, b *mapping.Run) int {
		order := cmp.Compare(values[b], values[a])
		if o.Column == nil {
			order = b.Run.Start.Compare(a.Run.Start)
		}
		if lowestFirst {
			order = -order
		}
		return order
	})
}

// of is the number of all requests of a run. If it is not known, it is the highest number of its directions, or 0.
func (o *Order) of(run *mapping.Run) float64 {
	if run.All != nil {
		if x := o.number(NewLine(run, true, mapping.DirectionTotals{Totals: run.All})); !math.IsNaN(x) {
			return x
		}
	}
	most := 0.0
	for _, l := range Lines(run) {
		if x := o.number(l); x > most {
			most = x
		}
	}
	return most
}

func (o *Order) number(l *Line) float64 {
	if n, isWhole := o.Column.Value(l).(int64); isWhole {
		return float64(n)
	}
	return o.Column.Value(l).(float64)
}
