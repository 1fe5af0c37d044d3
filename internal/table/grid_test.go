package table

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
)

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
