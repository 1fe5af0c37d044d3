package term

import (
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"client01.lab_clat.log":          "client01.lab_clat.log",
		"39.3µs ≥17.0s  Größe 試験 🙂":      "39.3µs ≥17.0s  Größe 試験 🙂",
		"a\x1b]0;title\x07b":             `a\x1b]0;title\ab`,
		"a\r\nerror: b\tc\x00\x7f":       `a\r\nerror: b\tc\x00\x7f`,
		"C1 \u009b31m \u0085":            `C1 \u009b31m \u0085`,
		"bare \x9b31m \xff":              `bare \x9b31m \xff`,
		"log.\u202egol.exe \u2066x":      `log.\u202egol.exe \u2066x`,
		"\u200e\u200f\u061c\u200b\ufeff": `\u200e\u200f\u061c\u200b\ufeff`,
		"\u2028\u2029":                   `\u2028\u2029`,
		"\U000e0041 \ufffd":              "\\U000e0041 \ufffd",
		`it is "so" \n`:                  `it is "so" \n`,
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzClean: the result has nothing that a terminal acts on, and clean text is unchanged.
func FuzzClean(f *testing.F) {
	for _, text := range []string{"", "a b", "\x1b[2J", "\u009b", "\x9b", "\u202e", "\xe2\x80", "é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			t.Errorf("%q: %q", text, got)
		}
		if Clean(got) != got {
			t.Errorf("%q: not clean the second time: %q", got, Clean(got))
		}
	})
}

// TestFilter: a character that is divided between two writes arrives complete.
func TestFilter(t *testing.T) {
	const text = "p99\t39.3µs\n\x1b[31mred \u009b \x9b 試🙂\u202e\r\n"
	const want = "p99\t39.3µs\n" + `\x1b[31mred \u009b \x9b 試🙂\u202e\r` + "\n"
	for size := 1; size <= len(text); size++ {
		var out strings.Builder
		f := NewFilter(&out)
		for i := 0; i < len(text); i += size {
			part := text[i:min(i+size, len(text))]
			if n, err := f.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if out.String() != want {
			t.Errorf("by %d: %q, want %q", size, out.String(), want)
		}
	}
}

// TestNothingRaw: a name stays on one line in all kinds of output.
func TestNothingRaw(t *testing.T) {
	const name = "a\x1b]0;x\x07\r\nerror: forged\u009b\u202e"
	var out strings.Builder
	if err := Line(&out, "run %s", name); err != nil {
		t.Fatal(err)
	}
	log := slog.New(NewLogHandler(&out, slog.LevelInfo, nil)).With(name, name)
	log.Warn("read "+name, name, name)
	p := &Progress{w: &out}
	p.Show("run %s", name)
	text := strings.ReplaceAll(out.String(), "\r\x1b[Krun", "run")
	if strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), func(r rune) bool { return !unicode.IsGraphic(r) }) {
		t.Errorf("%q", text)
	}
	if lines := strings.Split(text, "\n"); len(lines) != 3 {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}
