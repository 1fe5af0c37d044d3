package term

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"testing"
)

func TestTable(t *testing.T) {
	table := NewTable("NAME", ">COUNT", "NONE", ">P50")
	table.Add("a", "1,000", "", "39.3µs")
	table.Add("longer", "2", "", "1.00ms")
	table.Add("b")
	var out bytes.Buffer
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := "NAME    COUNT     P50\na       1,000  39.3µs\nlonger      2  1.00ms\nb\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewLogHandler(&out, slog.LevelInfo, nil)).With("run", "a b")
	log.Debug("not shown")
	log.Info("plain")
	log.Warn("careful", "n", 3)
	log.Error("bad", "err", errors.New("cause"))
	want := "plain run=\"a b\"\nwarning: careful run=\"a b\" n=3\nerror: bad run=\"a b\" err=cause\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

func TestProgressWithoutTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := NewProgress(f)
	p.Show("%d of %d", 1, 2)
	p.Clear()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("wrote %d bytes to what is no terminal (%v)", info.Size(), err)
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{-1: "[    ]", 0: "[    ]", 0.5: "[==  ]", 1: "[====]", 2: "[====]"} {
		if got := Bar(share, 4); got != want {
			t.Errorf("%v: got %q, want %q", share, got, want)
		}
	}
}

// A table that is written in parts has one header, until a column is new; its columns never
// get narrower.
func TestTableInParts(t *testing.T) {
	table := NewTable("NAME", ">COUNT", "HOST")
	var out bytes.Buffer
	for _, part := range [][][]string{{{"a", "1"}, {"b", "22"}}, {{"longer", "1,000,000"}}, {{"c", "3"}}, {{"d", "4", "h"}}} {
		for _, row := range part {
			table.Add(row...)
		}
		if err := table.Write(&out); err != nil {
			t.Fatal(err)
		}
		if table.Rows() != 0 {
			t.Errorf("%d rows are left", table.Rows())
		}
	}
	want := "NAME  COUNT\na         1\nb        22\nlonger  1,000,000\nc               3\nNAME        COUNT  HOST\nd               4  h\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}
