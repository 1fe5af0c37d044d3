package kibana_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

//go:embed testdata/page.html
var page []byte

// Browser draws Vega specifications with recorded answers in a headless browser. It uses the same library and
// colours as Kibana.
type Browser struct {
	Chromium string // path of the program
	Vega     string // folder with vega.min.js, and with vega-interpreter.min.js if it must be used, as in Kibana
}

// Job is a specification to draw.
type Job struct {
	Spec          json.RawMessage
	Answers       map[string]json.RawMessage // answers of Elasticsearch, by name of the data set
	Dark          bool
	Width, Height int            // in pixels; default 1200 x 400
	Signals       map[string]any // signals to set before drawing
	// Before are the answers of a first drawing, after which the panel is refreshed with Answers.
	Before map[string]json.RawMessage
	// JavaScript expressions for Picture.Asked, by name; they may use view, and offset (the y of the drawing in
	// pixels)
	Ask map[string]string
}

// MarksOf returns an expression for Job.Ask: all marks of a type ("rect", "line" and so on), as a list of [Mark].
func MarksOf(typ string) string { return fmt.Sprintf("marksOf(%q)", typ) }

// Mark is a mark of a specification as it is drawn. A line is a mark, and its points are items.
type Mark struct {
	Name  string
	Items []Item
}

// Item is a drawn thing, in pixels of the picture. For a text, X and Y are the upper left corner of its box.
type Item struct {
	X, Y, Width, Height float64
	Fill, Stroke, Text  string
	Opacity             float64
	Defined             bool // for a point of a line: false means a gap
}

// Picture is the result of a Job.
type Picture struct {
	SVG      string
	Messages []string                   // warnings and errors
	Asked    map[string]json.RawMessage // results of Job.Ask, by name
	Calls    [][]any                    // calls of Kibana's functions, with their arguments
	Image    image.Image                // screenshot of the drawing

	Top int // y of the drawing in the screenshot of the page
}

// screenshotHeight is the height in pixels of a page of drawings.
const screenshotHeight = 8000

// timeout limits a page of drawings.
const timeout = 8 * time.Minute // for a browser that hangs; less than the ten minutes of go test

// Draw draws all jobs. Errors in a specification are in the Messages of its picture. A returned error is one of the
// browser.
func (b *Browser) Draw(ctx context.Context, jobs ...Job) ([]Picture, error) {
	var all []Picture
	for len(jobs) > 0 {
		n, width, height := 0, 0, 0
		for n < len(jobs) {
			jobs[n].defaults()
			if n > 0 && height+jobs[n].Height > screenshotHeight {
				break
			}
			width, height = max(width, jobs[n].Width), height+jobs[n].Height
			n++
		}
		pictures, err := b.drawPage(ctx, jobs[:n], width, height)
		if err != nil {
			return nil, fmt.Errorf("draw with %s: %w", b.Chromium, err)
		}
		all, jobs = append(all, pictures...), jobs[n:]
	}
	return all, nil
}

func (j *Job) defaults() {
	if j.Width == 0 {
		j.Width = 1200
	}
	if j.Height == 0 {
		j.Height = 400
	}
}

// MarshalJSON returns a job in the form that page.html reads.
func (j Job) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"spec": j.Spec, "answers": j.Answers, "dark": j.Dark, "width": j.Width, "height": j.Height, "signals": j.Signals, "before": j.Before, "ask": j.Ask,
	})
}

func (b *Browser) drawPage(ctx context.Context, jobs []Job, width, height int) ([]Picture, error) {
	dir, err := os.MkdirTemp("", "fio2es-draw-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := b.prepare(dir, jobs); err != nil {
		return nil, err
	}
	dom, err := b.run(ctx, dir, width, height)
	if err != nil {
		return nil, err
	}
	pictures, err := reports(dom)
	if err != nil {
		return nil, err
	}
	if len(pictures) != len(jobs) {
		return nil, fmt.Errorf("%d pictures of %d", len(pictures), len(jobs))
	}
	screen, err := decodePNG(filepath.Join(dir, "screen.png"))
	if err != nil {
		return nil, err
	}
	for i := range pictures {
		part := image.NewRGBA(image.Rect(0, 0, jobs[i].Width, jobs[i].Height))
		draw.Draw(part, part.Rect, screen, image.Pt(0, pictures[i].Top), draw.Src)
		pictures[i].Image = part
	}
	return pictures, nil
}

// prepare writes all files of the page.
func (b *Browser) prepare(dir string, jobs []Job) error {
	text, err := json.Marshal(jobs)
	if err != nil {
		return fmt.Errorf("encode jobs: %w", err)
	}
	files := map[string][]byte{"page.html": page, "jobs.js": append([]byte("const jobs = "), text...)}
	if files["vega.min.js"], err = os.ReadFile(filepath.Join(b.Vega, "vega.min.js")); err != nil {
		return err
	}
	files["vega-interpreter.min.js"], err = os.ReadFile(filepath.Join(b.Vega, "vega-interpreter.min.js"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// run returns the text of the page after everything is drawn.
func (b *Browser) run(ctx context.Context, dir string, width, height int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.Chromium,
		"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
		"--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1", "--force-color-profile=srgb",
		"--user-data-dir="+filepath.Join(dir, "profile"), fmt.Sprintf("--window-size=%d,%d", width, height),
		"--virtual-time-budget=60000", "--screenshot="+filepath.Join(dir, "screen.png"), "--dump-dom",
		"file://"+filepath.Join(dir, "page.html"))
	cmd.Env = append(os.Environ(), "TZ=UTC", "HOME="+dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 10 * time.Second // otherwise Wait waits for children that keep the pipes open
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, errs.Bytes())
	}
	return out.Bytes(), nil
}

// Screenshot returns a picture of a page.
func (b *Browser) Screenshot(ctx context.Context, page []byte, width, height int) (image.Image, error) {
	dir, err := os.MkdirTemp("", "fio2es-page-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "page.html"), page, 0o600); err != nil {
		return nil, err
	}
	if _, err := b.run(ctx, dir, width, height); err != nil {
		return nil, fmt.Errorf("draw a page with %s: %w", b.Chromium, err)
	}
	return decodePNG(filepath.Join(dir, "screen.png"))
}

var reported = regexp.MustCompile(`(?s)<pre id="reports"[^>]*>([A-Za-z0-9+/=\s]*)</pre>`)

func reports(dom []byte) ([]Picture, error) {
	match := reported.FindSubmatch(dom)
	if match == nil {
		return nil, errors.New("the page did not come to its end; is vega.min.js the one of npm?")
	}
	text, err := base64.StdEncoding.DecodeString(string(match[1]))
	if err != nil {
		return nil, fmt.Errorf("read the results of the page: %w", err)
	}
	var pictures []Picture
	if err := json.Unmarshal(text, &pictures); err != nil {
		return nil, fmt.Errorf("read the results of the page: %w", err)
	}
	return pictures, nil
}

func decodePNG(file string) (image.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	screen, err := png.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("read screenshot: %w", err)
	}
	return screen, nil
}

var (
	textElement = regexp.MustCompile(`<(?:text|tspan)[^>]*>([^<]+)</`)
	pathElement = regexp.MustCompile(`<(?:path|rect|line|circle)\b`)
)

// Texts returns all texts in the picture, in the order of drawing.
func (p *Picture) Texts() []string {
	var list []string
	for _, m := range textElement.FindAllStringSubmatch(p.SVG, -1) {
		list = append(list, html.UnescapeString(m[1]))
	}
	return list
}

// Shapes returns the number of elements other than texts.
func (p *Picture) Shapes() int { return len(pathElement.FindAllString(p.SVG, -1)) }
