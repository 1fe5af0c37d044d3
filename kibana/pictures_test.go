package kibana_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// The width of the pictures in docs/images. Kibana's grid has 48 columns, and rows of 20 pixels with 8 pixels
// between them.
const (
	pictureWidth = 1400
	gridRow      = 28
	gridGap      = 8
	titleHeight  = 30
	padding      = 8 // left, right and below in a panel
)

// placed is a Vega panel and its position in a dashboard, in pixels.
type placed struct {
	panel, title        string
	x, y, width, height int
}

// place returns the positions of a dashboard's Vega panels. It leaves out rows without such panels. If rows is not
// 0, it takes only the first rows.
func place(t *testing.T, b *kibana.Bundle, dashboard string, rows int) (list []placed, height int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("objects", "dashboards", dashboard+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var source struct {
		Rows []struct {
			Height int
			Panels []struct {
				Panel string
				Width int
			}
		}
	}
	if err := json.Unmarshal(text, &source); err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	for _, o := range b.Objects {
		titles[strings.TrimPrefix(o.ID, "fio2es-")] = o.Title()
	}
	for _, r := range source.Rows {
		x, drawn := 0, false
		for _, c := range r.Panels {
			if b.Specs[c.Panel] != nil {
				drawn = true
				w, h := c.Width*pictureWidth/48-gridGap, r.Height*gridRow-gridGap
				list = append(list, placed{c.Panel, titles[c.Panel], x, height, w, h})
			}
			x += c.Width * pictureWidth / 48
		}
		if !drawn {
			continue
		}
		height += r.Height * gridRow
		if rows--; rows == 0 {
			break
		}
	}
	return list, height
}

// TestDrawPictures draws the Vega panels of each dashboard as docs/images shows them. With -update it writes the
// files.
func TestDrawPictures(t *testing.T) {
	browser := browser(t)
	b := bundle(t, kibana.Options{})
	type drawing struct {
		name   string
		panels []placed
		height int
	}
	var drawings []drawing
	var jobs []Job
	for _, c := range []struct {
		name, dashboard, kind string
		rows                  int // 0: all; the third row of History would show only two points
	}{
		{"live", "live", kibanatest.Pictured, 0},
		{"run-detail", "run", kibanatest.Pictured, 0},
		{"history", "history", kibanatest.Pictured, 2},
		{"compare", "compare", kibanatest.Full, 0},
	} {
		panels, height := place(t, b, c.dashboard, c.rows)
		drawings = append(drawings, drawing{c.name, panels, height})
		for _, p := range panels {
			j := job(t, b, p.panel, c.kind)
			j.Width, j.Height = p.width-2*padding, p.height-titleHeight-padding
			jobs = append(jobs, j)
		}
	}
	pictures := browser.draw(t, jobs...)
	for _, d := range drawings {
		for i, p := range pictures[:len(d.panels)] {
			if checkTexts(t, d.panels[i].panel, p.Texts()); len(p.Messages) > 0 || marks(p.SVG) == 0 {
				t.Errorf("%s, %s: %d marks, %q", d.name, d.panels[i].panel, marks(p.SVG), p.Messages)
			}
		}
		if golden.Update() {
			screen, err := browser.Screenshot(t.Context(), dashboardPage(d.panels, pictures), pictureWidth, d.height)
			if err != nil {
				t.Fatal(err)
			}
			writePicture(t, filepath.Join("..", "docs", "images", d.name+".png"), screen)
		}
		pictures = pictures[len(d.panels):]
	}
}

// writePicture writes a small file with at most 256 colours.
func writePicture(t *testing.T, file string, screen image.Image) {
	t.Helper()
	small := image.NewPaletted(screen.Bounds(), colours(screen))
	draw.Draw(small, small.Rect, screen, screen.Bounds().Min, draw.Src)
	var text bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&text, small); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// colours returns the 256 most frequent colours of a picture.
func colours(screen image.Image) color.Palette {
	count := map[color.Color]int{}
	for y := range screen.Bounds().Dy() {
		for x := range screen.Bounds().Dx() {
			count[screen.At(x, y)]++
		}
	}
	list := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] })
	return list[:min(len(list), 256)]
}

// pageAddress matches references to gradients and clips, which contain the address of the page.
var pageAddress = regexp.MustCompile(`url\((&quot;|')?file:[^#)]*#`)

// dashboardPage returns a page with each picture at the position of its panel. Pictures are separate images, because
// the ids in them are not unique.
func dashboardPage(panels []placed, pictures []Picture) []byte {
	var page bytes.Buffer
	page.WriteString(`<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #f7f8fc; font-family: Inter, Helvetica, Arial, sans-serif; }
div { position: absolute; background: #fff; box-shadow: 0 1px 4px #0003; }
b { display: block; height: ` + fmt.Sprint(titleHeight-9) + `px; padding: 9px 0 0 9px; font-size: 13px; color: #1a1c21; }
img { margin-left: ` + fmt.Sprint(padding) + `px; }
</style>`)
	for i, p := range panels {
		svg := pageAddress.ReplaceAllString(strings.ReplaceAll(pictures[i].SVG, "&nbsp;", "&#160;"), "url($1#")
		fmt.Fprintf(&page, `<div style="left:%dpx;top:%dpx;width:%dpx;height:%dpx"><b>%s</b><img src="data:image/svg+xml;base64,%s"></div>`,
			p.x+gridGap/2, p.y+gridGap/2, p.width, p.height, html.EscapeString(p.title), base64.StdEncoding.EncodeToString([]byte(svg)))
	}
	return page.Bytes()
}
