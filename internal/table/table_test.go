package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/memtest"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
)

// served is a row.
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

// written returns rows in a format.
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

// counter counts lines and headers.
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
