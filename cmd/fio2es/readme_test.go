package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
)

// timing is what differs from one call to the next.
var timing = regexp.MustCompile(` in [0-9.]+s`)

// TestReadme runs every command of README.md's console blocks at the root of the
// module, one after the other, and compares what they print with what README shows. The
// picture is made of the same. -update writes both.
func TestReadme(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", home)
	old, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var made, shown strings.Builder
	inBlock, commands := false, 0
	for line := range strings.Lines(string(old)) {
		switch {
		case line == "```console\n":
			inBlock = true
		case inBlock && line == "```\n":
			inBlock = false
		case inBlock:
			if command, ok := strings.CutPrefix(line, "$ go run ./cmd/fio2es "); ok {
				commands++
				made.WriteString(line)
				out := runAs(t, command)
				made.WriteString(out)
				if commands <= 2 {
					shown.WriteString("$ fio2es " + command + out + "\n")
				}
			}
			continue // what a command printed
		}
		made.WriteString(line)
	}
	if commands < 3 {
		t.Fatalf("%d commands in README.md", commands)
	}
	golden.File(t, "README.md", made.String())
	golden.File(t, filepath.Join("docs", "first-light.svg"), screen(strings.TrimSpace(shown.String())))
}

// runAs runs a command line in this process and gives what it prints.
func runAs(t *testing.T, command string) string {
	t.Helper()
	var args []string
	for _, arg := range strings.Fields(command) {
		matches, err := filepath.Glob(arg)
		if err != nil || len(matches) == 0 {
			matches = []string{arg}
		}
		args = append(args, matches...)
	}
	var out bytes.Buffer
	if code := run(context.Background(), args, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("%s: exit code %d\n%s", command, code, &out)
	}
	return timing.ReplaceAllString(out.String(), " in 0.07s")
}

// screen draws text as a terminal shows it, as SVG.
func screen(text string) string {
	const width, height = 7.25, 17.0 // of a character
	lines := strings.Split(text, "\n")
	columns := 0
	for _, l := range lines {
		columns = max(columns, len([]rune(l)))
	}
	var b strings.Builder
	w, h := float64(columns)*width+32, float64(len(lines))*height+32
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#16191f"/>`+"\n")
	b.WriteString(`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="12" fill="#d7dae0">` + "\n")
	for i, l := range lines {
		if l == "" {
			continue
		}
		var escaped bytes.Buffer
		xml.EscapeText(&escaped, []byte(l))
		style := ""
		switch {
		case strings.HasPrefix(l, "$ "):
			style = ` fill="#7fd1ae" font-weight="bold"`
		case strings.HasPrefix(l, "RUN ") || strings.Contains(l, " REQUESTS "):
			style = ` fill="#8ab4f8"`
		}
		fmt.Fprintf(&b, `<text x="16" y="%.0f" xml:space="preserve" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
			float64(i)*height+28, float64(len([]rune(l)))*width, style, &escaped)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
