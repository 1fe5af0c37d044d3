package term

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// narrow is a terminal of so many columns.
type narrow struct {
	bytes.Buffer
	columns int
}

func (n *narrow) Columns() int { return n.columns }

// A table that is too wide for a terminal first gets shorter texts, then fewer columns, in
// the order that was asked for, and says so. No number is cut.
func TestNarrow(t *testing.T) {
	for columns, want := range map[int]string{
		0:  "",
		63: "",
		50: "(with short texts of NAME: the terminal has 50 columns; \"| cat\" shows all)",
		40: "(without P50, with short texts of NAME: the terminal has 40 columns; \"| cat\" shows all)",
		26: "(without P50, MEAN, with short texts of NAME: the terminal has 26 columns; \"| cat\" shows all)",
	} {
		table := NewTable("NAME", "NONE", ">MEAN", ">P50", ">P99")
		table.Narrow([]string{"NAME", "NONE"}, []string{"NONE", "P50", "MEAN"})
		table.Add("archive:0/id-0123abcd and more text", "", "123.456", "39.3µs", "1,234,567")
		out := &narrow{columns: columns}
		if err := table.Write(out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, line := range lines[:2] {
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
	whole := NewTable("NAME")
	whole.Narrow([]string{"NAME"}, nil)
	whole.Add(strings.Repeat("x", 500))
	var out bytes.Buffer
	if err := whole.Write(&out); err != nil || out.Len() != 506 {
		t.Errorf("to a file: %d bytes, %v", out.Len(), err)
	}
}

func TestShorten(t *testing.T) {
	for width, want := range map[int]string{10: "abcdefghij", 9: "abcd…ghij", 4: "ab…j", 1: "…"} {
		if got := shorten("abcdefghij", width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}
