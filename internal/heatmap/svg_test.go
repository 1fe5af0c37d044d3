package heatmap

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/chart"
)

func svgOf(t *testing.T, m *Map, p Picture) string {
	t.Helper()
	var b strings.Builder
	if err := m.WriteSVG(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func textsOf(t *testing.T, svg string) (texts, root []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts, root
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if x.Name.Local == "style" {
				if err := d.Skip(); err != nil {
					t.Fatal(err)
				}
			}
			for _, a := range x.Attr {
				if x.Name.Local == "svg" {
					root = append(root, a.Name.Local+"="+a.Value)
				}
			}
		case xml.CharData:
			if s := strings.TrimSpace(string(x)); s != "" {
				texts = append(texts, s)
			}
		}
	}
}

func TestSVGTexts(t *testing.T) {
	svg := svgOf(t, small(), Picture{Title: `a<b & "c"`, Subtitle: "1,139 requests"})
	texts, root := textsOf(t, svg)
	all := "|" + strings.Join(texts, "|") + "|"
	for _, want := range []string{
		`|Latency heat map of a<b & "c"|a<b & "c"|1,139 requests|`, "|50µs|100µs|200µs|500µs|", "|03:13:03|03:13:04|",
		"|UTC, 2026-11-21|", "|latency|", "|p50|p95|p99|requests in a cell|1|10|100|1,000|up to 1,000|p50|p95|p99|",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	attributes := "|" + strings.Join(root, "|") + "|"
	for _, want := range []string{"|role=img|", `|aria-label=Latency heat map of a<b & "c", 1,139 requests|`} {
		if !strings.Contains(attributes, want) {
			t.Errorf("no %s in %s", want, attributes)
		}
	}
	unknown, _ := textsOf(t, svgOf(t, undated(0), Picture{}))
	if all := strings.Join(unknown, "|"); !strings.Contains(all, "|0s|1s|2s|3s|4s|5s|seconds since the run's start|") {
		t.Errorf("times since the start: %s", all)
	}
}

var (
	cellPath = regexp.MustCompile(`<path class="(level[0-9]+)" d="([^"]*h-[^"]*)"/>`)
	cell     = regexp.MustCompile(`M([0-9.]+) ([0-9]+)h([0-9.]+)v([0-9]+)h-([0-9.]+)z`)
	line     = regexp.MustCompile(`<title>(p[0-9]+)</title><path [^>]* d="([^"]*)"/>`)
)

// TestSVGCells: the cells cover exactly the expected area inside the frame.
func TestSVGCells(t *testing.T) {
	m := small() // 5 cells of a second each, of 5 s, and one band high
	svg := svgOf(t, m, Picture{})
	style, svg, _ := strings.Cut(svg[:strings.Index(svg, "requests in a cell")], "</style>")
	height := min(max(areaHeight/(m.High-m.Low), 3), 24)
	area, colours := 0.0, 0
	for _, path := range cellPath.FindAllStringSubmatch(svg, -1) {
		colours++
		if strings.Count(style, "."+path[1]+"{fill:#") != 1 {
			t.Errorf("%s has no colour: %s", path[1], style)
		}
		for _, c := range cell.FindAllStringSubmatch(path[2], -1) {
			var x, y, w, h float64
			fmt.Sscan(strings.Join(c[1:5], " "), &x, &y, &w, &h)
			if x < chart.Left || x+w > chart.Left+chart.AreaWidth || y < top || y+h > float64(top+height*(m.High-m.Low)) {
				t.Errorf("%s is not in the frame", c[0])
			}
			area += w * h
		}
	}
	if got := area / float64(height) / (chart.AreaWidth / 5); math.Abs(got-5) > 1e-9 || colours != 5 {
		t.Errorf("%v cells in %d colours, want 5 in 5", got, colours)
	}
}

// TestSVGShortColumn: a short column in a long run is visible, and inside the frame.
func TestSVGShortColumn(t *testing.T) {
	m := mapOf(10, windowAt(0, 0, 1000, 50, 1), windowAt(1_000_000, 1_000_000, 1_000_004, 50, 1))
	cells := cell.FindAllStringSubmatch(cellPath.FindStringSubmatch(svgOf(t, m, Picture{}))[2], -1)
	if len(cells) != 2 || cells[1][1] != strconv.Itoa(chart.Left+chart.AreaWidth-1) || cells[1][3] != "1" {
		t.Errorf("%q", cells)
	}
}

// TestSVGLines: lines break at gaps, and are at the percentiles.
func TestSVGLines(t *testing.T) {
	m := mapOf(10, windowAt(0, 0, 1000, 10, 400), windowAt(0, 0, 1000, 30, 530), windowAt(0, 0, 1000, 100, 30), windowAt(0, 0, 1000, 300, 25),
		windowAt(0, 0, 1000, 1000, 15), windowAt(2000, 2000, 3000, 10, 10))
	found := line.FindAllStringSubmatch(svgOf(t, m, Picture{}), -1)
	if len(found) != 3 {
		t.Fatalf("%d lines", len(found))
	}
	for i, l := range found {
		if strings.Count(l[2], "M") != 2 {
			t.Errorf("%s is not in two parts: %s", l[1], l[2])
		}
		var x, y float64
		fmt.Sscanf(l[2], "M%f %f", &x, &y)
		us := m.Columns[0].Requests.Percentile([]float64{0.5, 0.95, 0.99}[i]).Value / 1000
		height := float64(min(max(areaHeight/(m.High-m.Low), 3), 24) * (m.High - m.Low))
		drawn := Bound(m.Low) * math.Pow(Bound(m.High)/Bound(m.Low), (top+height-y)/height)
		if math.Abs(drawn/us-1) > 0.01 {
			t.Errorf("%s is drawn at %v µs, want %v", l[1], drawn, us)
		}
	}
	m = mapOf(10, windowAt(0, 0, 1000, 10, 1), windowAt(1000, 1000, 2000, 10, 1), windowAt(3000, 3000, 4000, 10, 1))
	if got := strings.Count(line.FindStringSubmatch(svgOf(t, m, Picture{}))[2], "M"); got != 2 {
		t.Errorf("%d parts with a column beside another, want 2", got)
	}
}

// TestFragment: a fragment draws the same as a file, without colours and titles.
func TestFragment(t *testing.T) {
	p := Picture{Title: `a<b & "c"`, Subtitle: "1,139 requests"}
	fragment, whole := small().Fragment(p), svgOf(t, small(), p)
	keys, fragment, _ := strings.Cut(fragment, "</p>") // the legend is above the picture
	if strings.Count(keys, "</svg>p") != 3 {
		t.Errorf("legend %s", keys)
	}
	texts, root := textsOf(t, fragment)
	if all := "|" + strings.Join(texts, "|") + "|"; !strings.Contains(all, "|UTC, 2026-11-21|") || strings.Contains(all, "1,139 requests") {
		t.Errorf("texts %s", all)
	}
	if all := strings.Join(root, "|"); !strings.Contains(all, `aria-label=Latency heat map of a<b & "c", 1,139 requests`) {
		t.Errorf("attributes %s", all)
	}
	if strings.Contains(fragment, `="#`) || strings.Contains(fragment, "<rect") {
		t.Errorf("it sets colours: %s", fragment)
	}
	paths := regexp.MustCompile(` d="[^"]*"`)
	whole = regexp.MustCompile(` d="M\d+ \d+h36"`).ReplaceAllString(whole, "") // the lines of its legend
	if got, want := paths.FindAllString(fragment, -1), paths.FindAllString(whole, -1); strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("%d paths, other than the %d of the picture", len(got), len(want))
	}
	for _, class := range []string{"soft", "grid", "frame", "level0", "level23", "halo", "p50", "p95", "p99"} {
		if !strings.Contains(fragment, `class="`+class+`"`) {
			t.Errorf("no class %s", class)
		}
	}
}

// TestSVGAxis: the axis spans the given time if that is longer than the map.
func TestSVGAxis(t *testing.T) {
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		from, to time.Time
		want     float64 // x of the first cell
	}{
		{time.Time{}, time.Time{}, chart.Left}, {at(-5), at(5), chart.Left + chart.AreaWidth/2}, {at(0), at(10), chart.Left}, {at(2), at(3), chart.Left},
	} {
		svg, first := svgOf(t, small(), Picture{From: c.from, To: c.to}), math.Inf(1)
		for _, one := range cell.FindAllStringSubmatch(svg[:strings.Index(svg, "requests in a cell")], -1) {
			x, _ := strconv.ParseFloat(one[1], 64)
			first = min(first, x)
		}
		if first != c.want {
			t.Errorf("%v … %v: the first cell is at %v, want %v", c.from, c.to, first, c.want)
		}
	}
}

// TestSVGIsSmall: the size of a map with the default number of columns, and with more different cells than real
// devices have.
func TestSVGIsSmall(t *testing.T) {
	random, b := rand.New(rand.NewPCG(1, 2)), NewBuilder(240)
	for i := range int64(240) {
		for band := 10.0; band < 1e6; band *= 1.122 {
			if random.IntN(2) == 0 {
				w := windowAt(i*1000, i*1000, i*1000+1000, band, 1+random.IntN(100_000))
				b.Add(&w.Window, w.requests)
			}
		}
	}
	if n := len(svgOf(t, b.Map(), Picture{})); n > 300_000 {
		t.Errorf("%d bytes", n)
	}
}

// TestSVGOfAMoment: a map without length is drawn, too.
func TestSVGOfAMoment(t *testing.T) {
	svg := svgOf(t, mapOf(10, windowAt(0, 0, 0, 50, 1)), Picture{})
	if textsOf(t, svg); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error("a number is none")
	}
}
