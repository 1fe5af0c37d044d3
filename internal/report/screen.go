package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Layout says how a [Screen] is drawn.
type Layout struct {
	JSON bool // one object on a line, with all there is
	// The size of the terminal. With 0 there is none: then no line is broken, and nothing is left out.
	Columns, Lines int
	Colour         bool
	Name           string // of the run in commands
}

// Screen shows what is known of one run on one screen of a terminal: what a page has, without its drawings.
type Screen struct {
	sums *runSums
	how  Layout
	run  *run // set by Draw, which no longer needs sums
}

// What a screen has, in characters and lines.
const (
	plainColumns = 100 // of a heat map without a terminal
	plainCells   = 8   // lines of its cells
	mostCells    = 16
	leastCells   = 2 // a smaller map shows nothing
	leastHosts   = 4 // rows of hosts
	mostNotes    = 3
	mostText     = 3 // lines of a fact

	highest = 0.999 // percentile
)

// NewScreen returns a screen for a run of which q wants a part.
func NewScreen(q *query.Query, how Layout) *Screen {
	return &Screen{sums: newRunSums(q, max(cmp.Or(how.Columns, plainColumns)-heatmap.MarginWidth, 10)), how: how}
}

// Add adds a window of one of [Levels].
func (s *Screen) Add(w *window.Window) error {
	requests, err := w.Histogram()
	if err == nil {
		s.sums.add(w, requests)
	}
	return err
}

// Draw returns the text of the run, after all its windows are added. It has no control characters but those of colours.
// The error is a [query.RunError] if no request matches.
func (s *Screen) Draw(run *query.Run, doc *mapping.Run) ([]byte, error) {
	one, err := s.sums.end(doc)
	switch {
	case err != nil:
		return nil, err
	case one == nil:
		return nil, run.NoMatch(doc)
	case s.how.JSON:
		return one.object(one.notes(run)), nil
	}
	text := s.text(one, one.notes(run))
	s.run, s.sums = one, nil
	return text, nil
}

// notes says what is not known of the run, or is to be kept in mind.
func (r *run) notes(of *query.Run) (list []string) {
	d := r.Doc
	add := func(texts ...string) {
		for _, text := range texts {
			text = strings.TrimPrefix(text, d.Run.Archive+":"+d.Run.Name+": ")
			if text != "" && !slices.ContainsFunc(list, func(said string) bool { return strings.Contains(said, text) }) {
				list = append(list, text)
			}
		}
	}
	switch n := d.Missing.Requests; {
	case d.Run.Live():
		add("the run is live: its numbers are those so far")
	case n > 0 && !slices.ContainsFunc(d.Warnings, func(text string) bool { return strings.Contains(text, "and in no window") }):
		add(unit.Count(n) + " requests are missing: fio counted them, and they are in no window")
	case n == 0 && !d.Run.Complete:
		add("the run is incomplete")
	}
	add(d.Warnings...)
	add(of.Warnings...)
	add(of.Notes...)
	if len(r.Worst) == 0 {
		if why := of.WhyNoWindows(d); why != "" {
			add(why)
		}
	}
	add(r.HostNote)
	return list
}

func (s *Screen) text(r *run, notes []string) []byte {
	out := &sheet{columns: s.how.Columns}
	out.lines(strings.TrimSpace(facts.ShortID(r.Doc.Run.ID) + " " + facts.Title(r.Doc)))
	about := r.times()
	if length := time.Duration(r.Doc.IntervalMS) * time.Millisecond; !s.sums.sum.Span.IsZero() && length > 0 {
		about = append(about, "windows of "+unit.Short(length))
	}
	out.lines(strings.Join(about, between))
	for _, f := range []fact{
		{"settings", joined(r.settings())}, {"options", joined(r.options())}, {"labels", joined(r.labels())}, {"note", facts.ShortNote(r.Doc)},
		{"part", r.Part},
	} {
		if f.Value != "" {
			out.lines(f.Name + ": " + f.Value)
		}
	}
	out.WriteByte('\n')
	numbers := table.NewNarrow(out, table.Text, screenNumbers(), nil, []string{"BANDWIDTH", "P95"})
	marks, isFew := facts.Marks{}, false
	for _, t := range r.Totals {
		numbers.Write(t) // a sheet takes all that is written
		marks.Add(&t.Latencies)
		isFew = isFew || t.isFew(highest)
	}
	under := marks.Notes()
	if isFew {
		under = append(under, "† too few requests to predict another run")
	}
	numbers.End(under...)
	if sections := r.sections(); len(sections) > 0 {
		out.WriteByte('\n')
		writeTable(out, sectionColumns(), sections)
	}
	if len(r.Worst) > 0 {
		out.WriteByte('\n')
		writeTable(out, worstColumns(), r.Worst)
	}

	foot := &sheet{columns: s.how.Columns}
	for i, text := range notes {
		if s.how.Columns > 0 && i == mostNotes && len(notes) > mostNotes+1 {
			foot.lines(fmt.Sprintf("… and %d more notes (\"| cat\" shows all)", len(notes)-i))
			break
		}
		foot.lines("note: " + text)
	}
	next, more := "next: fio2es percentiles "+s.how.Name, " (or heatmap, report, compare)"
	if r.Doc.NoWindows != "" && r.Doc.Documents.All() == 0 { // nothing over time
		next, more = "next: fio2es compare "+s.how.Name+" …", " (or report)"
	}
	if s.how.Columns == 0 || term.Width(next+more) <= s.how.Columns {
		next += more
	}
	foot.lines(next)

	room := func() int { // lines that are left, before the foot and the next prompt
		if s.how.Lines == 0 {
			return 1 << 20
		}
		return s.how.Lines - out.height() - foot.height() - 2
	}
	if len(r.Hosts) > 0 {
		const around = 3 + leastCells + 3 // header, end and distance of the table, and a map
		out.WriteByte('\n')
		s.hosts(out, r, max(room()-around, leastHosts))
	}
	s.drawMap(out, room()-3)
	out.WriteByte('\n')
	out.Write(foot.Bytes())
	if s.how.Lines > 0 && out.height() >= s.how.Lines { // headings separate the parts, too
		return bytes.ReplaceAll(out.Bytes(), []byte("\n\n"), []byte("\n"))
	}
	return out.Bytes()
}

// hosts writes a table of the slowest hosts of each direction, at most so many rows.
func (s *Screen) hosts(out *sheet, r *run, most int) {
	var rows []*host
	count := map[string]int{}
	for _, t := range r.Totals {
		count[t.Direction] = 0
	}
	for _, h := range r.Hosts {
		if count[h.Direction]++; count[h.Direction] <= most/len(count) {
			rows = append(rows, h)
		}
	}
	var under []string
	if left := len(r.Hosts) - len(rows); left > 0 {
		under = append(under, "… and "+unit.Count(int64(left))+" more (percentiles --total --levels host has all)")
	}
	writeTable(out, hostColumns(), rows, under...)
}

// drawMap draws a heat map of at most so many lines of cells, if any number of lines can show it.
func (s *Screen) drawMap(out *sheet, lines int) {
	m := s.sums.cells.Map()
	if m.Total == 0 || lines < leastCells {
		return
	}
	if s.how.Lines == 0 {
		lines = plainCells
	}
	lines = min(lines, mostCells)
	var b bytes.Buffer
	m.WriteText(&b, heatmap.Text{
		Columns: cmp.Or(s.how.Columns, plainColumns) - heatmap.MarginWidth, Lines: lines, Colour: s.how.Colour, IsSmall: true,
	})
	const around = 2 // lines above and below the cells
	if s.how.Lines == 0 || bytes.Count(b.Bytes(), []byte("\n")) <= lines+around {
		out.WriteByte('\n')
		out.Write(b.Bytes())
	}
}

// times returns when the run was, how long it took, where and with what.
func (r *run) times() []string {
	parts := r.lead()
	if !unit.IsKnown(r.Doc.Run.Start) {
		return append([]string{"date not known"}, parts...)
	}
	if ms := r.Doc.Clock.ErrorMS; ms > 0 {
		parts[0] += plusMinus(ms)
	}
	return parts
}

// plusMinus is how well a start is known: "± 250 ms", or "± 14h" of a local time whose zone is unknown.
func plusMinus(ms int64) string {
	if ms < 10_000 {
		return fmt.Sprintf(" ± %d ms", ms)
	}
	return " ± " + unit.Short((time.Duration(ms) * time.Millisecond).Round(time.Second))
}

func (r *run) settings() (list []fact) {
	for _, c := range facts.SettingColumns() {
		list = append(list, fact{c.Name, c.TextOf(r.Doc)})
	}
	return known(list)
}

// options returns the options of fio that no setting has, without those about logs.
func (r *run) options() (list []fact) {
	for _, name := range slices.Sorted(maps.Keys(r.Doc.Fio.Options)) {
		isSetting := slices.ContainsFunc(facts.Settings(), func(s facts.Setting) bool { return s.Name == name || s.Alias == name })
		if !isSetting && name != "name" && !strings.HasPrefix(name, "write_") && !strings.HasPrefix(name, "log_") {
			list = append(list, fact{name, r.Doc.Fio.Options[name]})
		}
	}
	return list
}

func (r *run) labels() (list []fact) {
	for _, name := range slices.Sorted(maps.Keys(r.Doc.Run.Labels)) {
		list = append(list, fact{name, r.Doc.Run.Labels[name]})
	}
	return list
}

func joined(list []fact) string {
	var parts []string
	for _, f := range list {
		parts = append(parts, f.Name+"="+f.Value)
	}
	return strings.Join(parts, " ")
}

// sections returns the lines of the sections, in the directions that are wanted. Their numbers are of the whole run.
func (r *run) sections() []*facts.Line {
	if r.Part != "" {
		return nil
	}
	return slices.DeleteFunc(facts.SectionLines(r.Doc), func(l *facts.Line) bool {
		return !slices.ContainsFunc(r.Totals, func(t *total) bool { return t.Direction == l.Direction })
	})
}

func sectionColumns() []table.Column[*facts.Line] {
	return slices.Concat([]table.Column[*facts.Line]{
		{Name: "section", Heading: "Section", Value: func(l *facts.Line) any { return l.Section.Name }, Text: func(l *facts.Line) string { return facts.SectionTitle(l.Section) }},
	}, table.Pick(numbers(), "direction", "requests", "iops", "p50", "p99", "p99_9", "max"))
}

// screenNumbers are the columns of the directions. Percentiles of too few requests have a mark. The mean is there where it is all
// that is known, because a terminal has no room for more columns.
func screenNumbers() []table.Column[*total] {
	columns := ofLine(table.Pick(numbers(), "direction", "requests", "iops", "bandwidth", "mean", "p50", "p95", "p99", "p99_9", "max"))
	for i := range columns {
		c := columns[i]
		m, _ := facts.ParseMetric(c.Name)
		switch {
		case m == facts.Mean:
			columns[i].Text = func(t *total) string {
				if !math.IsNaN(t.Latencies.Value("p50")) {
					return ""
				}
				return c.TextOf(t)
			}
		case m.Quantile > 0:
			columns[i].Text = func(t *total) string {
				if t.isFew(m.Quantile) {
					return c.TextOf(t) + "†"
				}
				return c.TextOf(t)
			}
		}
	}
	return columns
}

// object returns the run as JSON. Names and values are those of the tables of all commands.
func (r *run) object(notes []string) []byte {
	d := r.Doc
	isOfDirection := func(c table.Column[*facts.Line]) bool { return facts.HasColumn(numbers(), c.Name) }
	about := append(slices.DeleteFunc(slices.Clone(facts.All()), isOfDirection),
		table.Column[*facts.Line]{Name: "end", Sparse: true, Value: func(*facts.Line) any { return d.Run.End }},
		table.Column[*facts.Line]{Name: "length", Unit: "ms", Value: func(*facts.Line) any { return d.Run.End.Sub(d.Run.Start).Milliseconds() }},
		table.Column[*facts.Line]{Name: "fio", Sparse: true, Value: func(*facts.Line) any { return d.Fio.Version }},
		table.Column[*facts.Line]{Name: "clock", Sparse: true, Value: func(*facts.Line) any { return d.Clock.Source }},
		table.Column[*facts.Line]{Name: "clock_error", Unit: "ms", Value: func(*facts.Line) any {
			if d.Clock.Source == "" {
				return nil
			}
			return d.Clock.ErrorMS
		}})
	var b bytes.Buffer
	line := objects(about, []*facts.Line{facts.NewLine(d, true, mapping.DirectionTotals{Totals: new(mapping.Totals)})})[0]
	b.Write(bytes.TrimSuffix(line, []byte("}")))
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	for _, part := range []struct {
		name  string
		value any
		some  int
	}{
		{"options", d.Fio.Options, len(d.Fio.Options)}, {"labels", d.Run.Labels, len(d.Run.Labels)}, {"by_direction", objects(ofLine(numbers()), r.Totals), 1},
		{"by_section", objects(sectionColumns(), r.sections()), len(r.sections())}, {"by_host", objects(hostColumns(), r.Hosts), len(r.Hosts)}, {"worst", objects(worstColumns(), r.Worst), len(r.Worst)},
		{"part", r.Part, len(r.Part)}, {"notes", notes, len(notes)},
	} {
		if part.some > 0 {
			fmt.Fprintf(&b, ",%q:", part.name)
			to.Encode(part.value) // texts, and numbers that are JSON already
			b.Truncate(b.Len() - 1)
		}
	}
	b.WriteString("}\n")
	return b.Bytes()
}

func objects[R any](columns []table.Column[R], rows []R) (list []json.RawMessage) {
	for _, row := range rows {
		var b bytes.Buffer
		table.New(&b, table.JSON, columns).Write(row)
		list = append(list, bytes.TrimSpace(b.Bytes()))
	}
	return list
}

func writeTable[R any](out *sheet, columns []table.Column[R], rows []R, under ...string) {
	t := table.NewNarrow(out, table.Text, columns, []string{"HOST"}, []string{"SKEW", "P50", "MAX"})
	for _, row := range rows {
		t.Write(row) // a sheet takes all that is written
	}
	t.End(under...)
}

// sheet is a part of a screen of this many columns, or of any number if it is 0.
type sheet struct {
	bytes.Buffer
	columns int
}

// Columns is what tables fit into.
func (s *sheet) Columns() int { return s.columns }

func (s *sheet) height() int { return bytes.Count(s.Bytes(), []byte("\n")) }

// lines writes a text, and breaks it into a few lines.
func (s *sheet) lines(text string) {
	text = term.FillFor(s, term.Clean(text))
	if lines := strings.Split(text, "\n"); len(lines) > mostText {
		text = strings.Join(lines[:mostText], "\n") + " …"
	}
	s.WriteString(text + "\n")
}
