package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/term"
)

func flagLines(flags []*pflag.Flag) string {
	const widest = 26
	var names, texts []string
	width := 0
	for _, f := range flags {
		value, text := flagText(f)
		name := "  --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		names, texts = append(names, strings.TrimRight(name+" "+value, " ")), append(texts, text)
		if n := len(names[len(names)-1]); n <= widest {
			width = max(width, n)
		}
	}
	var b strings.Builder
	for i, name := range names {
		if len(name) > width {
			b.WriteString(name + "\n")
			name = ""
		}
		b.WriteString(entry(fmt.Sprintf("%-*s  ", width, name), texts[i]))
	}
	return b.String()
}

// flagText returns the name of a flag's value, and the text about the flag with its default.
func flagText(f *pflag.Flag) (value, text string) {
	value, text = pflag.UnquoteUsage(f)
	value = strings.ToUpper(value)
	byDefault := strings.Trim(f.DefValue, "[]")
	if slices.Contains([]string{"", "0", "0s", "false"}, byDefault) || strings.Contains(text, "(default") {
		return value, text
	}
	if f.Value.Type() == "duration" && strings.HasSuffix(byDefault, "m0s") {
		byDefault = strings.TrimSuffix(byDefault, "0s")
	}
	return value, text + " (default " + byDefault + ")"
}

// entry returns a text after a name, with further lines below the first.
func entry(name, text string) string {
	indent := utf8.RuneCountInString(name)
	return name + strings.Join(term.Fill(text, helpColumns-indent), "\n"+strings.Repeat(" ", indent)) + "\n"
}

// wrapped fills the paragraphs of a text. Those with a layout stay as they are.
func wrapped(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !hasLayout(p) {
			paragraphs[i] = strings.Join(term.Fill(p, helpColumns), "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// hasLayout reports whether a paragraph has columns or indented lines.
func hasLayout(paragraph string) bool {
	return strings.Contains(" "+paragraph, "  ") || strings.Contains(paragraph, "\n ") || strings.Contains(paragraph, "\t")
}
