package table

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// narrow is a terminal with few columns.
type narrow struct {
	bytes.Buffer
	columns int
}

func (n *narrow) Columns() int { return n.columns }

// TestNarrow: a table that is too wide for a terminal first gets shorter texts, then fewer columns, in the given
// order, and a note says so. No number is cut.
func TestNarrow(t *testing.T) {
	for columns, want := range map[int]string{
		0:  "",
		63: "",
		50: "(with short texts of NAME: the terminal has 50\ncolumns; \"| cat\" shows all)",
		40: "(without P50, with short texts of NAME:\nthe terminal has 40 columns; \"| cat\"\nshows all)",
		26: "(without P50, MEAN, with\nshort texts of NAME: the\nterminal has 26 columns;\n\"| cat\" shows all)",
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
		if !strings.Contains(lines[1], "1,234,567") || strings.Contains(want, "NAME") == strings.Contains(lines[1], "abcd and") {
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

// coloured is a terminal with colours.
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
