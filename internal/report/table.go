package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Table is a table of a page. It is made of the columns of the same table on a terminal.
type Table struct {
	Class, Caption string
	Headings       []Cell
	Rows           [][]Cell
	Note           string // below it
}

// Cell is a text of a table, with what only pages have: a note below it, a title for the pointer, the length of a bar as a CSS
// percentage, a link, a mark of colour, labels behind it, and a picture in place of the text.
type Cell struct {
	Text, Note, Title, Bar, Class, Link, Mark string
	Labels                                    []Cell
	Picture                                   template.HTML
	Box                                       string // id of the run that a box chooses; Title names the run
	Sort                                      string // of a heading: how the table is sorted by it
	Heading                                   string // of the column
	IsHead                                    bool   // names its row
}

// NewTable returns the table of rows, or nil if there is none. add adds what only pages have; it may be nil.
func NewTable[R any](class, caption string, columns []table.Column[R], rows []R, add func(row R, column string, to *Cell)) *Table {
	if len(rows) == 0 {
		return nil
	}
	v := &Table{Class: class, Caption: caption, Rows: make([][]Cell, len(rows))}
	for i := range columns {
		c := &columns[i]
		if c.Heading == "" {
			continue
		}
		class, isHead := "text", slices.Contains([]string{"direction", "host", "metric"}, c.Name)
		if strings.HasPrefix(c.Heading, ">") {
			class = ""
		}
		v.Headings = append(v.Headings, Cell{Text: c.Title(), Class: class})
		for k, row := range rows {
			one := Cell{Text: c.TextOf(row), Class: class, IsHead: isHead}
			if add != nil {
				add(row, c.Name, &one)
			}
			one.Heading = c.Title()
			v.Rows[k] = append(v.Rows[k], one)
		}
	}
	return v
}

// row is a line of a table of several runs: a direction of one of them, or of a section of it.
type row struct {
	run *run
	*facts.Line
}

// rowsOf returns the lines of runs, each with those of its sections below it.
func rowsOf(runs []*run) (list []row) {
	for _, r := range runs {
		for _, t := range r.Totals {
			list = append(list, row{r, t.Line})
		}
		for _, l := range r.sections() {
			list = append(list, row{r, l})
		}
	}
	return list
}

// rowColumns are the columns of a table of several runs. Stages of one execution have the settings in which they differ.
func rowColumns(isExecution bool) []table.Column[row] {
	column := func(name, heading string, ofRun func(*run) string, ofSection func(*mapping.RunSection) string) table.Column[row] {
		return table.Column[row]{Name: name, Heading: heading, Text: func(r row) string {
			switch {
			case r.Section != nil && ofSection != nil:
				return ofSection(r.Section)
			case r.IsFirst:
				return ofRun(r.run)
			}
			return ""
		}}
	}
	columns := []table.Column[row]{
		column("number", "Run", func(r *run) string { return fmt.Sprint(r.Number) }, nil),
		column("name", "Name", func(r *run) string { return facts.Title(r.Doc) }, func(s *mapping.RunSection) string { return "  " + facts.SectionTitle(s) }),
		column("", unit.Heading("Start"), func(r *run) string { return facts.Started(r.Doc) }, nil),
	}
	names := []string{"direction", "requests", "iops", "bandwidth", "mean", "p50", "p95", "p99", "p99_9", "max"}
	if isExecution {
		columns = []table.Column[row]{
			column("number", "Stage", func(r *run) string { return facts.StageText(r.Doc) }, nil),
			column("name", "Name", func(r *run) string { return facts.StageName(r.Doc) }, func(s *mapping.RunSection) string { return "  " + s.Name }),
			column("settings", "Settings", func(r *run) string { return r.Differs }, func(s *mapping.RunSection) string { return facts.SettingsText(&s.CBT) }),
		}
		names = []string{"direction", "requests", "iops", "bandwidth", "p50", "p99", "p99_9", "max"}
	}
	return append(columns, table.Map(table.Pick(numbers(), names...), func(r row) *facts.Line { return r.Line })...)
}

// setStages numbers the stages of an execution, and sets in which settings they differ.
func setStages(stages []*run) {
	differ := workload.Settings(documents(stages))
	for _, s := range stages {
		s.Number, s.Differs = s.Doc.Run.Stage, differ[s.Doc]
		if len(s.Doc.Sections) > 1 { // their lines have the settings
			s.Differs = ""
		}
	}
}

// Stages returns a table of the stages that screens show. It is empty unless the screens show several stages of one execution.
func Stages(screens []*Screen) []byte {
	var stages []*run
	for _, s := range screens {
		stages = append(stages, s.run)
	}
	if !facts.IsExecution(documents(stages)) {
		return nil
	}
	setStages(stages)
	out := &sheet{columns: screens[0].how.Columns}
	out.lines(facts.ExecutionTitle(stages[0].Doc))
	to, marks := table.NewNarrow(out, table.Text, rowColumns(true), []string{"SETTINGS", "NAME"}, []string{"MAX", "BANDWIDTH", "P50", "REQUESTS", "P99.9"}), facts.Marks{}
	for _, r := range rowsOf(stages) {
		to.Write(r) // a sheet takes all that is written
		marks.Add(&r.Latencies)
	}
	to.End(marks.Notes()...)
	return out.Bytes()
}

func (p *Page) summary(isExecution bool) *Table {
	class := "summary"
	if isExecution {
		class += " stages"
	}
	return NewTable(class, "", rowColumns(isExecution), rowsOf(p.runs), func(r row, column string, to *Cell) {
		switch column {
		case "number":
			if r.IsFirst {
				to.Mark = r.run.Class
			}
			if r.IsFirst && r.run.Section != nil {
				to.Link = fmt.Sprintf("#run-%d", r.run.Number)
			}
		case "settings":
			to.Class += " name"
		case "name":
			if to.Class += " name"; r.Section != nil {
				to.Class += " section"
			}
			if r.IsFirst && !r.Run.Run.Complete {
				to.Note = "incomplete"
			}
		}
	})
}

// Numbers returns the table of the directions of a run. Latencies have their error bounds.
func (r *run) Numbers() *Table {
	v := NewTable("numbers", "", ofLine(table.Hide(numbers(), "p75")), r.Totals, func(t *total, column string, to *Cell) {
		if slices.Contains(facts.LatencyNames, column) {
			*to = t.latencyCell(column)
		}
	})
	if r.Few() {
		v.Note = "† too few requests to predict another run."
	}
	return v
}

// SectionNumbers returns the table of the sections of a run.
func (r *run) SectionNumbers() *Table {
	return NewTable("numbers", "Sections", sectionColumns(), r.sections(), nil)
}

// WorstWindows returns the table of the worst windows of a run.
func (r *run) WorstWindows() *Table {
	v := NewTable("worst", "Worst single windows", worstColumns(), r.Worst, nil)
	if v != nil {
		v.Note = "The lowest IOPS leave out the first and the last window."
	}
	return v
}

// HostTables returns the tables of hosts of a page. Bars are relative to the highest number in a table.
func (r *run) HostTables() (list []*Table) {
	const most = 100 // of a table: the slowest ones
	columns := slices.DeleteFunc(hostColumns(), func(c table.Column[*host]) bool { return c.Name == "direction" })
	for _, direction := range mapping.Directions {
		hosts := slices.DeleteFunc(slices.Clone(r.Hosts), func(h *host) bool { return h.Direction != direction })
		numbers := func(h *host, column string) float64 {
			x, _ := table.Pick(columns, column)[0].Value(h).(float64)
			return x
		}
		v := NewTable("hosts", direction+": the slowest first", columns, hosts[:min(len(hosts), most)], func(h *host, column string, to *Cell) {
			highest := 0.0
			for _, other := range hosts {
				highest = higher(highest, numbers(other, column))
			}
			if x := numbers(h, column); x > 0 {
				to.Class, to.Bar = "bar", fmt.Sprintf("%.1f%%", 100*x/highest)
			}
		})
		if left := len(hosts) - most; left > 0 {
			v.Note = unit.Count(int64(left)) + " faster hosts are not shown."
		}
		if v != nil {
			list = append(list, v)
		}
	}
	return list
}
