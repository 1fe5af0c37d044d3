package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

const (
	charWidth, charHeight = 7.25, 17.0
	plainColour           = "#d7dae0"
)

// picture returns an SVG of a terminal of this size, with its content.
func picture(columns, lines int, content string) string {
	w, h := float64(columns)*charWidth+32, float64(lines)*charHeight+32
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", w, h, w, h) +
		`<rect width="100%" height="100%" rx="8" fill="#16191f"/>` + "\n" +
		`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="12" fill="` + plainColour + `">` + "\n" +
		content + "</g>\n</svg>\n"
}

// screen draws text as a terminal shows it, as SVG.
func screen(text string) string {
	lines := strings.Split(text, "\n")
	columns := 0
	for _, l := range lines {
		columns = max(columns, len([]rune(l)))
	}
	var b strings.Builder
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
			float64(i)*charHeight+28, float64(len([]rune(l)))*charWidth, style, &escaped)
	}
	return picture(columns, len(lines), b.String())
}
