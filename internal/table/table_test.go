package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/memtest"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
)

type served struct {
	run   string
	at    time.Time
	count int64
	p99   float64
	open  []string
	whole bool
}

var columns = []Column[*served]{
	{Name: "run", Value: func(s *served) any { return s.run }, Sparse: true},
	{Heading: "AT", Text: func(s *served) string { return s.at.Format("15:04") }},
	{Name: "start", Value: func(s *served) any { return s.at }, Sparse: true},
	{Name: "requests", Heading: ">REQUESTS", Value: func(s *served) any { return s.count }},
	{Name: "p99", Unit: "us", Heading: ">P99", Value: func(s *served) any { return s.p99 }, Text: func(s *served) string { return fmt.Sprintf("%.0fµs", s.p99) }},
	{Name: "open", Value: func(s *served) any { return s.open }, Sparse: true},
	{Name: "whole", Value: func(s *served) any { return s.whole }, Sparse: true},
}

var rows = []*served{
	{"=1|2", time.Date(2026, 1, 31, 9, 12, 0, 5e6, time.UTC), 1200, 17.25, []string{"p99", "max"}, true},
	{"", time.Time{}, 0, math.NaN(), nil, false},
}

func written(t testing.TB, format, title string, rows []*served, notes ...string) string {
	t.Helper()
	var out strings.Builder
	w := New(&out, format, columns)
	w.Begin(title)
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(notes...); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		Text: `a <b>
AT     REQUESTS    P99
09:12      1200   17µs
00:00         0  NaNµs
* a note
`,
		CSV: `run,start,requests,p99_us,open,whole
'=1|2,2026-01-31T09:12:00.005Z,1200,17.25,p99 max,true
,,0,,,false
`,
		JSON: `{"run":"=1|2","start":"2026-01-31T09:12:00.005Z","requests":1200,"p99_us":17.25,"open":["p99","max"],"whole":true}
{"requests":0,"p99_us":null}
`,
		Markdown: `**a \<b\>**

| AT | REQUESTS | P99 |
| --- | --: | --: |
| 09:12 | 1200 | 17µs |
| 00:00 | 0 | NaNµs |

\* a note
`,
	} {
		if got := written(t, format, "a <b>", rows, "* a note"); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", format, got, want)
		}
	}
	if len(Formats) != 4 {
		t.Errorf("%q", Formats)
	}
}

// TestTables: tables for people are separated by an empty line, and each is as wide as it needs to be. A table
// without rows has only its title.
func TestTables(t *testing.T) {
	for format, want := range map[string]string{
		Text:     "one\nAT     REQUESTS   P99\n09:12      1200  17µs\n\ntwo\n\n",
		Markdown: "**one**\n\n| AT | REQUESTS | P99 |\n| --- | --: | --: |\n| 09:12 | 1200 | 17µs |\n\n**two**\n\n",
		JSON:     "{\"run\":\"=1|2\",\"start\":\"2026-01-31T09:12:00.005Z\",\"requests\":1200,\"p99_us\":17.25,\"open\":[\"p99\",\"max\"],\"whole\":true}\n",
	} {
		var out strings.Builder
		w := New(&out, format, columns)
		w.Begin("one")
		for _, err := range []error{w.Write(rows[0]), w.End()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		w.Begin("two")
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%s:\n%q\nwant\n%q", format, out.String(), want)
		}
	}
}

// TestMarkdownLists: several lines above or below a table become a list, with single spaces between words.
func TestMarkdownLists(t *testing.T) {
	var out strings.Builder
	w := New(&out, Markdown, columns)
	w.Begin("base   a_b", "other  c")
	for _, err := range []error{w.Write(rows[0]), w.End("one", "two")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const want = "- base a\\_b\n- other c\n\n| AT | REQUESTS | P99 |\n| --- | --: | --: |\n| 09:12 | 1200 | 17µs |\n\n- one\n- two\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestSame: CSV and JSON have the same values under the same names.
func TestSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := &served{
			run: rapid.String().Draw(t, "run"), count: rapid.Int64Range(-1<<52, 1<<52).Draw(t, "count"), p99: rapid.Float64().Draw(t, "p99"),
			open: rapid.SliceOfN(rapid.StringMatching("[a-z]+"), 0, 3).Draw(t, "open"), whole: rapid.Bool().Draw(t, "whole"),
		}
		// remove what readers of CSV do not preserve
		row.run = "r" + strings.ToValidUTF8(strings.ReplaceAll(row.run, "\r", ""), "")
		var lines, objects bytes.Buffer
		for to, format := range map[*bytes.Buffer]string{&lines: CSV, &objects: JSON} {
			w := New(to, format, columns)
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
			if err := w.End(); err != nil {
				t.Fatal(err)
			}
		}
		records, err := csv.NewReader(&lines).ReadAll()
		if err != nil || len(records) != 2 {
			t.Fatalf("%q, %v", records, err)
		}
		in := json.NewDecoder(&objects)
		in.UseNumber()
		object := map[string]any{}
		if err := in.Decode(&object); err != nil {
			t.Fatal(err)
		}
		for i, name := range records[0] {
			got := ""
			switch v := object[name].(type) {
			case nil:
			case []any:
				got = strings.Trim(fmt.Sprint(v), "[]")
			case json.Number:
				f, err := v.Float64()
				if err != nil {
					t.Fatal(err)
				}
				got = cell(f)
			default:
				got = fmt.Sprint(v)
			}
			if want := records[1][i]; got != want && !(got == "" && want == "false") {
				t.Errorf("%s is %q in CSV, %q in JSON", name, want, got)
			}
		}
	})
}

// FuzzMarkdown: no text adds a cell, a line or a link to a table.
func FuzzMarkdown(f *testing.F) {
	f.Add("a|b\n| c [x](http://y) <b> `z` \\")
	f.Fuzz(func(t *testing.T, text string) {
		m := newGrid(true, []string{"A", "B"}, nil, nil)
		m.add([]string{text, "end"})
		var out strings.Builder
		if err := m.write(&out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		want := 3
		if text == "" {
			want = 2
		}
		bare := strings.NewReplacer(`\\`, "", `\|`, "", `\<`, "", `\[`, "", "\\`", "").Replace(lines[2])
		if len(lines) != 4 || strings.Count(bare, "|") != want || strings.ContainsAny(bare, "<[`") {
			t.Errorf("%q", out.String())
		}
	})
}

// TestLong: a table of a day of 100 ms windows needs as much memory as one of an hour, and has one header.
func TestLong(t *testing.T) {
	for _, format := range Formats {
		out := &counter{}
		used := memtest.Measure(t, func() {
			w := New(out, format, columns)
			for range 100_000 {
				if err := w.Write(rows[0]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.End(); err != nil {
				t.Fatal(err)
			}
		})
		if extra := out.lines - 100_000; extra > 2 || extra < 0 || out.headers > 1 && format != JSON || used.Peak > 32<<20 {
			t.Errorf("%s: %d lines, %d headers, %d bytes", format, out.lines, out.headers, used.Peak)
		}
	}
}

type counter struct{ lines, headers int }

func (c *counter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	c.headers += bytes.Count(bytes.ToLower(p), []byte("requests"))
	return len(p), nil
}

// TestBadValue: a value of an unsupported type is a mistake in the program, so it panics.
func TestBadValue(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a complex number was written")
		}
	}()
	cell(1i)
}

func TestSafeCell(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", " ": " ", "client01": "client01", "p99 <= 10ms": "p99 <= 10ms", "a=b": "a=b", "'x": "'x",
		"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0", "+1+1": "'+1+1", "-2+3": "'-2+3", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1",
		" =1": "' =1", "\uff1d1": "'\uff1d1", "-": "'-", "-Inf": "'-Inf", "-0x1p4": "'-0x1p4",
		"-250": "-250", "+5": "+5", "-1.5e-3": "-1.5e-3", "12": "12",
	} {
		if got := safeCell(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}

// TestNothingRaw: a name with any characters stays one cell on one line.
func TestNothingRaw(t *testing.T) {
	const name = "a\x1b]0;x\x07\r\nerror: forged\u009b\u202e"
	table := newGrid(false, []string{"NAME", ">N"}, nil, nil)
	table.add([]string{name, "1"})
	table.add([]string{"b", "2"})
	var out strings.Builder
	if err := table.write(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 4 || strings.ContainsFunc(lines[1], func(r rune) bool { return !unicode.IsGraphic(r) }) || len([]rune(lines[1])) != len(lines[2]) {
		t.Errorf("%q", lines)
	}
}

// TestGrid: a table that is written in parts has one header, unless there is a new column. Its columns never get
// narrower. Empty columns are left out.
func TestGrid(t *testing.T) {
	for _, c := range []struct {
		isMarkdown bool
		want       string
	}{
		{false, "NAME  COUNT\na         1\nb        22\nlonger  1,000,000\nc               3\nNAME        COUNT  HOST\nd               4  h\n"},
		{true, "| NAME | COUNT |\n| --- | --: |\n| a | 1 |\n| b | 22 |\n| longer | 1,000,000 |\n| c | 3 |\n\n| NAME | COUNT | HOST |\n| --- | --: | --- |\n| d | 4 | h |\n"},
	} {
		table := newGrid(c.isMarkdown, []string{"NAME", ">COUNT", "NONE", "HOST"}, nil, nil)
		var out bytes.Buffer
		for _, part := range [][][]string{
			{{"a", "1", "", ""}, {"b", "22", "", ""}}, {{"longer", "1,000,000", "", ""}}, {{"c", "3", "", ""}}, {{"d", "4", "", "h"}},
		} {
			for _, row := range part {
				table.add(row)
			}
			if err := table.write(&out); err != nil {
				t.Fatal(err)
			}
			if len(table.rows) != 0 {
				t.Errorf("%d rows are left", len(table.rows))
			}
		}
		if out.String() != c.want {
			t.Errorf("got\n%swant\n%s", &out, c.want)
		}
	}
}

// narrow is a terminal with few columns.
type narrow struct {
	bytes.Buffer
	columns int
}

func (n *narrow) Columns() int { return n.columns }

// TestToTheMinute: texts that keep their end are cut first, then times lose their seconds, then columns are left out.
func TestToTheMinute(t *testing.T) {
	for columns, want := range map[int]string{
		57: "2026-01-31 09:12:07  …e:0/id-0123abcd randread 4K  39.3µs",
		48: "2026-01-31 09:12  …-0123abcd randread 4K  39.3µs",
		43: "2026-01-31 09:12  …/id-0123abcd randread 4K",
	} {
		table := newGrid(false, []string{"START", "NAME", ">P50"}, []string{"<NAME", ":Start"}, []string{"P50"})
		table.add([]string{"2026-01-31 09:12:07", "archive:0/id-0123abcd randread 4K", "39.3µs"})
		out := &narrow{columns: columns}
		if err := table.write(out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(out.String(), "\n")[1]; got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}

// TestNarrow: a table that is too wide for a terminal first gets shorter texts, then fewer columns, in the given
// order, and a note says so. No number is cut.
func TestNarrow(t *testing.T) {
	for columns, want := range map[int]string{
		0:  "",
		63: "",
		50: "",
		40: "(no room for P50; \"| cat\" shows all)",
		26: "(no room for P50, MEAN; \"|\ncat\" shows all)",
	} {
		table := newGrid(false, []string{"NAME", "NONE", ">MEAN", ">P50", ">P99"}, []string{"NAME", "NONE", "ABSENT"}, []string{"ABSENT", "NONE", "P50", "MEAN"})
		table.add([]string{"archive:0/id-0123abcd and more text", "", "123.456", "39.3µs", "1,234,567"})
		out := &narrow{columns: columns}
		if err := table.write(out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); columns > 0 && n > columns {
				t.Errorf("%d columns: %d characters: %s", columns, n, line)
			}
		}
		if note := strings.Join(lines[2:], "\n"); note != want {
			t.Errorf("%d columns: %q, want %q", columns, note, want)
		}
		if !strings.Contains(lines[1], "1,234,567") || (columns == 0 || columns == 63) != strings.Contains(lines[1], "abcd and") {
			t.Errorf("%d columns:\n%s", columns, out)
		}
	}
	toFile := newGrid(false, []string{"NAME"}, []string{"NAME"}, nil)
	toFile.add([]string{strings.Repeat("x", 500)})
	var out bytes.Buffer
	if err := toFile.write(&out); err != nil || out.Len() != 506 {
		t.Errorf("to a file: %d bytes, %v", out.Len(), err)
	}
}

type coloured struct{ narrow }

func (c *coloured) Unfiltered() io.Writer { return &c.Buffer }

// TestVerdicts: on a terminal with colours, verdicts are coloured, also if they are cut, and no other cells are.
// Escapes in names stay visible.
func TestVerdicts(t *testing.T) {
	rows := [][]string{
		{"worse", "worse", "1"}, {"broken \x1b[2J", "broken by far and wide", "22"}, {"c", "better", "3"}, {"d", "no change > 2 %", "4"}, {"e", "unknown", "5"},
	}
	plain := "NAME              VERDICT          N\nworse             worse            1\n" +
		"broken \\x1b[2J    broken …nd wide  22\nc                 better           3\nd                 no change > 2 %  4\ne                 unknown          5\n"
	t.Setenv("NO_COLOR", "")
	for _, hasColour := range []bool{false, true} {
		table := newGrid(false, []string{"NAME", "VERDICT", "N"}, []string{"VERDICT"}, nil)
		for _, row := range rows {
			table.add(slices.Clone(row))
		}
		table.width[0], table.width[1] = 16, 15
		t.Setenv("TERM", map[bool]string{true: "xterm", false: "dumb"}[hasColour])
		out := &coloured{}
		if err := table.write(out); err != nil {
			t.Fatal(err)
		}
		want := plain
		if hasColour {
			want = strings.NewReplacer("  worse ", "  \x1b[31mworse\x1b[0m ", "broken …nd wide", "\x1b[31mbroken …nd wide\x1b[0m",
				"better", "\x1b[32mbetter\x1b[0m", "unknown", "\x1b[33munknown\x1b[0m").Replace(plain)
		}
		if out.String() != want {
			t.Errorf("colour %v:\n%q\nwant\n%q", hasColour, out, want)
		}
	}
}

// TestVerdictsOfNumbers: a verdict behind a number is coloured with it. The names of rows are not.
func TestVerdictsOfNumbers(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	table := newGrid(false, []string{"NAME", ">4", ">16"}, nil, nil)
	table.add([]string{"9 % worse", "+12.3 % worse", "-1.0 % same"})
	table.add([]string{"better", "only base", "-40.6 % better"})
	out := &coloured{}
	if err := table.write(out); err != nil {
		t.Fatal(err)
	}
	want := "NAME                   4              16\n" +
		"9 % worse  \x1b[31m+12.3 % worse\x1b[0m     -1.0 % same\n" +
		"better         only base  \x1b[32m-40.6 % better\x1b[0m\n"
	if out.String() != want {
		t.Errorf("%q\nwant\n%q", out, want)
	}
}
