package fiolog_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// zeroes are the counts of a row without requests.
var zeroes = strings.Repeat(", 0", hist.Fio3(0).Len()) + "\n"

// lastOf writes a text in parts of n bytes.
func lastOf(t *testing.T, text string, n int) *fiolog.Record {
	t.Helper()
	var last fiolog.LastTime
	if _, err := io.CopyBuffer(struct{ io.Writer }{&last}, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	return last.Row(hist.Hint{})
}

func TestLastTime(t *testing.T) {
	row := func(ms int64) string { return fmt.Sprintf("%d, 0, 4096", ms) + zeroes }
	for name, c := range map[string]struct {
		text string
		want int64 // -1: only a Reader knows
	}{
		"empty":                {"", -1},
		"one row":              {row(1000), 1000},
		"rows":                 {row(1000) + row(2000) + row(3000), 3000},
		"equal times":          {row(1000) + row(1000), 1000},
		"carriage returns":     {strings.ReplaceAll(row(1000)+row(2000), "\n", "\r\n"), 2000},
		"absolute":             {row(1700000000000) + row(1700000001000), 1700000001000},
		"cut":                  {row(1000) + row(2000)[:900], -1},
		"without an end":       {row(1000) + strings.TrimSuffix(row(2000), "\n"), -1},
		"last row damaged":     {row(1000) + strings.Replace(row(2000), " 0,", " x,", 1), -1},
		"last row short":       {row(1000) + "2000, 0, 4096, 0, 0\n", -1},
		"another row damaged":  {strings.Replace(row(1000), " 0,", " x,", 1) + row(2000), 2000},
		"time damaged":         {row(1000) + "x" + row(2000) + row(3000), -1},
		"time falls":           {row(1000) + row(3000) + row(2000), -1},
		"another job":          {row(1000) + row(2000) + row(1000) + row(2000), -1},
		"time leaps":           {row(1000) + row(9000000) + row(3000), -1},
		"blank line":           {row(1000) + "\n", -1},
		"impossible":           {row(1000000000000000), -1},
		"line without an end":  {strings.Repeat("1, ", 100_000), -1},
		"line longer than any": {row(1000) + strings.Repeat("1, ", 100_000) + "\n" + row(2000), -1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 7, 4096, 1 << 20} {
				got := int64(-1)
				if rec := lastOf(t, c.text, n); rec != nil {
					got = rec.Time
				}
				if got != c.want {
					t.Errorf("in parts of %d: %d, want %d", n, got, c.want)
				}
			}
		})
	}
}

// TestLastTimeOfReader: when the last row is known, a Reader of the whole log finds no later one, and no second job.
func TestLastTimeOfReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		at := int64(rapid.SampledFrom([]int{0, 1000, 1700000000000}).Draw(t, "start"))
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			at = max(at+rapid.SampledFrom([]int64{0, 1, 1000, 1000, 1000, -500, -3000, 4000_000, 400 * 24 * 3600_000}).Draw(t, "step"), 0)
			line := fmt.Sprintf("%d, %d, 4096", at, rapid.IntRange(0, 2).Draw(t, "direction")) + zeroes
			switch rapid.IntRange(0, 12).Draw(t, "fault") {
			case 0:
				line = line[:rapid.IntRange(0, 40).Draw(t, "cut")]
			case 1:
				line = "\n"
			case 2:
				line = line[:40] + "x" + line[41:]
			}
			text.WriteString(line)
		}
		var last fiolog.LastTime
		for rest := text.String(); rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 9000)).Draw(t, "part")
			_, _ = last.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		got := last.Row(hist.Hint{})
		if got == nil {
			return
		}
		want, r := int64(0), fiolog.NewReader(strings.NewReader(text.String()), "x_clat_hist.1.log", fiolog.ClatHist)
		for {
			rec, err := r.Next()
			if errors.As(err, new(*fiolog.SyntaxError)) {
				continue
			}
			if err != nil || rec.NewJob {
				if !errors.Is(err, io.EOF) {
					t.Fatalf("ends with %v, %+v", err, rec)
				}
				break
			}
			want = max(want, rec.Time)
		}
		if got.Time != want {
			t.Errorf("last time %d, a reader finds %d", got.Time, want)
		}
	})
}
