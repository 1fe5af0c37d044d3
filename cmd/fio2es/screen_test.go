package main

import "fmt"

const (
	charWidth, charHeight = 7.25, 17.0
	plainColour           = "#d7dae0"
)

func picture(columns, lines int, content string) string {
	w, h := float64(columns)*charWidth+32, float64(lines)*charHeight+32
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", w, h, w, h) +
		`<rect width="100%" height="100%" rx="8" fill="#16191f"/>` + "\n" +
		`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="12" fill="` + plainColour + `">` + "\n" +
		content + "</g>\n</svg>\n"
}
