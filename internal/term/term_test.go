package term

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
)

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

// narrow is a terminal of ten columns.
type narrow struct{ strings.Builder }

func (*narrow) Columns() int { return 10 }

func TestFillFor(t *testing.T) {
	const text = "one  two three"
	if got := FillFor(&narrow{}, text); got != "one two\nthree" {
		t.Errorf("%q", got)
	}
	if got := FillFor(&narrow{}, "one  two"); got != "one  two" {
		t.Errorf("a text that fits: %q", got)
	}
	if got := FillFor(&strings.Builder{}, text); got != text {
		t.Errorf("without a terminal: %q", got)
	}
}
