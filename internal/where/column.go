package where

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Column is a column of a list of runs.
type Column = table.Column[*facts.Line]

const direction = "direction"

// Columns returns columns of lists of runs by name, in this order: those of [facts.All], and fields of conditions such
// as label.release. If a column is about a direction, the column of directions is added. Latencies get further columns
// for programs, which say whether a latency is a lower bound or computed by fio.
func Columns(names []string) (list []Column, err error) {
	hasLatency := false
	for _, name := range names {
		found := columnsNamed(name)
		// write.p99 is no column: latencies have their own, by direction and with the mark of a lower bound
		if f := columnField(name); len(found) == 0 || f != nil && f.Kind == expr.Latency && f.Name == found[0].Name && strings.Contains(f.Name, ".") {
			return nil, fmt.Errorf("no column is called %q: want run, name, p99, or another column or field (fio2es help fields)", name)
		}
		for i := range found { // so that all chosen columns are shown
			if c := &found[i]; len(found) == 1 && c.Heading == "" && c.Text == nil {
				c.Heading = c.Name
			}
		}
		wanted := nameOf(&found[0])
		hasLatency = hasLatency || slices.Contains(facts.LatencyNames, wanted)
		if !slices.Contains(names, direction) && !facts.HasColumn(list, direction) && facts.HasColumn(facts.Numbers(), wanted) {
			list = append(list, table.Pick(facts.Columns(), direction)...)
		}
		list = append(list, found...)
	}
	for _, name := range []string{"open", "source"} {
		if hasLatency && !slices.Contains(names, name) {
			list = append(list, table.Pick(facts.Columns(), name)...)
		}
	}
	return list, nil
}

// withoutUnit returns the name of a latency without the unit that it has in CSV: max of max_us.
func withoutUnit(name string) string {
	if plain, ok := strings.CutSuffix(name, "_us"); ok && slices.Contains(facts.LatencyNames, strings.ReplaceAll(plain, ".", "_")) {
		return plain
	}
	return name
}

// columnsNamed returns the columns with a name, in which "." may stand for "_": the one for people and the one for
// programs, or that of a field, or none.
func columnsNamed(name string) []Column {
	with := func(name string) []Column {
		return slices.DeleteFunc(slices.Clone(facts.All()), func(c Column) bool { return nameOf(&c) != name })
	}
	if list := with(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(withoutUnit(name))), ".", "_")); len(list) > 0 {
		return list
	}
	f := columnField(name)
	if f == nil {
		return nil
	}
	if list := with(f.Name); len(list) > 0 { // bs is op_size
		return list
	}
	return []Column{*f.column()}
}

// nameOf returns what people call a column: its name, or the heading if it is only for people.
func nameOf(c *Column) string {
	if c.Name == "" {
		return strings.ToLower(c.Title())
	}
	return c.Name
}

// ColumnNames returns the names that Columns knows, except those of labels, options and configurations.
func ColumnNames() (list []string) {
	add := func(name string) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, c := range facts.All() {
		add(nameOf(&c))
	}
	for _, f := range Fields() {
		if f.ofName == nil && f.Kind != expr.Latency {
			add(f.Name)
		}
	}
	return list
}

// columnField returns the field of a column, or nil. It accepts a name in quotes.
func columnField(name string) *Field {
	p := expr.New(name)
	word, ok := p.Word()
	if f := Lookup(word); ok && p.IsEnd() && f != nil && f.ofName == nil {
		return f
	}
	return nil
}

// column returns a column with the field's values. As in other columns, texts are in each line of a run, and numbers
// only in the first, because adding them up makes sense.
func (f *Field) column() *Column {
	isNumber := f.Kind >= expr.Number
	c := &Column{Name: f.Name, Heading: f.Name, Sparse: true}
	switch {
	case isNumber:
		c.Heading = ">" + f.Name
	case f.Kind == expr.Time:
		c.Heading = unit.Heading(f.Name)
	}
	joined := func(values []any) string {
		var texts []string
		for _, v := range values {
			texts = append(texts, f.Text(v))
		}
		return strings.Join(texts, ", ")
	}
	c.Value = func(l *facts.Line) any {
		values := f.Values(l.Run)
		if len(values) == 0 || isNumber && !l.IsFirst {
			return nil
		}
		if len(values) > 1 {
			return joined(values)
		}
		if bounds, ok := values[0].(Between); ok {
			return bounds.Low
		}
		return values[0]
	}
	c.Text = func(l *facts.Line) string {
		if !l.IsFirst {
			return ""
		}
		return joined(f.Values(l.Run))
	}
	return c
}

// Order is an order of runs: the latest or highest first, texts from A to Z. Unknown values are last.
type Order struct {
	Name   string  // such as "p99.9", or the name of the column
	Column *Column // nil: by the start of the runs
}

// Members returns the members of run documents that decide the order, or nil if all may be needed.
func (o *Order) Members() []string {
	if o.Column == nil {
		return []string{"run"}
	}
	members := append([]string{mapping.AllDirections}, mapping.Directions[:]...) // which lines a run has
	switch {
	case facts.HasColumn(facts.Numbers(), o.Column.Name):
		return members
	case facts.HasColumn(facts.All(), o.Column.Name) || columnField(o.Column.Name).members == nil:
		return nil
	}
	return append(members, columnField(o.Column.Name).members...)
}

// Orders are the built-in orders of runs. The first is the default.
var Orders = sync.OnceValue(func() []Order {
	list := []Order{{Name: "start"}}
	columns := table.Pick(facts.Numbers(), "requests", "iops", "p50", "p95", "p99", "p99_9", "max")
	for i := range columns {
		list = append(list, Order{strings.ReplaceAll(columns[i].Name, "_", "."), &columns[i]})
	}
	return list
})

// ColumnOrder returns the order by a column of [facts.All] that programs have, or nil. In names "_" may stand for ".".
func ColumnOrder(name string) *Order {
	orders, columns := Orders(), facts.All() // pages compare orders by the addresses of their columns
	for i := range orders {
		if orders[i].Name == strings.ReplaceAll(name, "_", ".") {
			return &orders[i]
		}
	}
	for i := range columns {
		if c := &columns[i]; c.Value != nil && c.Name == strings.ReplaceAll(name, ".", "_") {
			return &Order{c.Name, c}
		}
	}
	return nil
}

// OrderOf returns the order by a column or by a field.
func OrderOf(name string) (*Order, error) {
	name = withoutUnit(name)
	if order := ColumnOrder(name); order != nil {
		return order, nil
	}
	f := columnField(name)
	if f == nil {
		return nil, errors.New("want start, requests, p99, or another column or field (fio2es help fields)")
	}
	if order := ColumnOrder(f.Name); order != nil { // bs is op_size
		return order, nil
	}
	return &Order{f.Name, f.column()}, nil
}

// key is what runs are sorted by: the start, or the number, then the text.
type key struct {
	start  time.Time
	number float64
	text   string
}

// keyOf returns the key of a run. The number of all requests of a run counts. If it is not known, the highest number of the run's
// directions counts, or 0.
func (o *Order) keyOf(run *mapping.Run) (k key) {
	if o.Column == nil {
		return key{start: run.Run.Start}
	}
	lines := facts.Lines(run)
	if run.All != nil {
		lines = slices.Insert(lines, 0, facts.NewLine(run, true, mapping.DirectionTotals{Totals: run.All}))
	}
	for i, l := range lines {
		n := math.NaN() // not known
		switch v := o.Column.Value(l).(type) {
		case string:
			if v != "" {
				return key{text: v}
			}
		case bool:
			if n = 0; v {
				n = 1
			}
		case int:
			n = float64(v)
		case int64:
			n = float64(v)
		case float64:
			n = v
		case time.Time:
			n = float64(v.UnixMilli())
		}
		if slices.Contains(facts.LatencyNames, o.Column.Name) && math.IsNaN(n) { // known only between bounds
			n = l.Latencies.Number(o.Column.Name).Low
		}
		if i == 0 && run.All != nil && !math.IsNaN(n) {
			return key{number: n}
		}
		if n > k.number {
			k.number = n
		}
	}
	return k
}

// compare compares keys: unknown texts come last.
func (a key) compare(b key, isReversed bool) int {
	order := cmp.Or(b.start.Compare(a.start), cmp.Compare(b.number, a.number), unit.Compare(a.text, b.text))
	if (a.text == "") != (b.text == "") {
		order = cmp.Compare(b.text, a.text)
	}
	if isReversed {
		return -order
	}
	return order
}

// Sort sorts runs by the order or its reverse. Equal runs keep their order.
func (o *Order) Sort(runs []*mapping.Run, isReversed bool) {
	all := Top{Order: o, IsReversed: isReversed}
	for _, run := range runs {
		all.Add(run)
	}
	copy(runs, all.Runs())
}

// Top keeps the first runs of a list in an order, in place of all of them. Equal runs keep their order, if they have one.
type Top struct {
	Order      *Order
	IsReversed bool
	Most       int  // runs; 0: all
	InAnyOrder bool // the list has no order: then equal runs come as a history lists them, the newest first

	runs []placed
	last atomic.Pointer[placed] // of Most runs
	n    atomic.Int64
}

type placed struct {
	*mapping.Run
	key key
}

// Add adds the next run of the list.
func (t *Top) Add(run *mapping.Run) {
	const few = 1000 // so that short lists are sorted once
	t.n.Add(1)
	if t.runs = append(t.runs, placed{run, t.Order.keyOf(run)}); t.Most > 0 && len(t.runs) >= 2*t.Most+few {
		t.sort()
	}
}

// Wants reports whether the next run of the list, or one after it, may be among the first. Several goroutines may call it; for a run
// that it does not want, Add need not be called. Live runs may get other numbers before they are added.
func (t *Top) Wants(run *mapping.Run) bool {
	last := t.last.Load()
	if last == nil || run.Run.Live() || t.compare(placed{run, t.Order.keyOf(run)}, *last) < 0 {
		return true
	}
	t.n.Add(1)
	return false
}

// Len returns the number of runs in the list so far.
func (t *Top) Len() int { return int(t.n.Load()) }

func (t *Top) compare(a, b placed) int {
	order := a.key.compare(b.key, t.IsReversed)
	if order == 0 && t.InAnyOrder {
		order = cmp.Or(b.Run.Run.Start.Compare(a.Run.Run.Start), cmp.Compare(a.Run.Run.ID, b.Run.Run.ID))
	}
	return order
}

func (t *Top) sort() {
	slices.SortStableFunc(t.runs, t.compare)
	if t.Most > 0 && len(t.runs) >= t.Most {
		clear(t.runs[t.Most:])
		t.runs = t.runs[:t.Most]
		last := t.runs[t.Most-1]
		t.last.Store(&last)
	}
}

// Runs returns the first runs so far, sorted.
func (t *Top) Runs() (list []*mapping.Run) {
	t.sort()
	for _, r := range t.runs {
		list = append(list, r.Run)
	}
	return list
}
