package matrix

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// sweep has three sizes and four depths; the deepest of 64k is missing, and 4k at 16 ran twice.
func sweep() []*mapping.Run {
	return []*mapping.Run{
		made("bs=4k iodepth=1", 60, 15000), made("bs=4k iodepth=4", 90, 42000), made("bs=4k iodepth=16", 300, 90000), made("bs=4k iodepth=16", 340, 94000), made("bs=4k iodepth=64", 1400, 95000),
		made("bs=64k iodepth=1", 140, 6000), made("bs=64k iodepth=4", 400, 12000), made("bs=64k iodepth=16", 2500, 14000),
		made("bs=1m iodepth=1", 1500, 600), made("bs=1m iodepth=4", 5200, 800), made("bs=1m iodepth=16", 20000, 810), made("bs=1m iodepth=64", 81000, 820),
	}
}

// drawings returns the curve and the heat map of p99 of reads, for pages and as text.
func drawings(t *testing.T, by string, runs []*mapping.Run) (pictures map[string]*Picture, texts map[string]string) {
	t.Helper()
	settings, err := Settings(strings.Split(by, ","))
	if err != nil {
		t.Fatal(err)
	}
	m, metric := New(settings, "read", RunsOf(runs))[0], workload.MustNumbers("p99")[0]
	curve, err := m.Curve(metric)
	if err != nil {
		t.Fatal(err)
	}
	heat, err := m.Heat(metric)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Write(&b, table.Text, true, metric); err != nil {
		t.Fatal(err)
	}
	text, legend := curve.Text(80, 24)
	return map[string]*Picture{"curve": curve.Picture(), "heat": heat},
		map[string]string{"curve": text + strings.Join(append([]string{legend}, curve.Notes()...), "\n") + "\n", "heat": b.String()}
}

// TestText: drawings for a terminal fit into 80 columns, and equal the golden file.
func TestText(t *testing.T) {
	_, texts := drawings(t, "bs,iodepth", sweep())
	for name, text := range texts {
		golden.File(t, filepath.Join("testdata", name+".txt"), text)
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 && strings.HasPrefix(line, " ") {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}

func TestSVG(t *testing.T) {
	pictures, _ := drawings(t, "bs,iodepth", sweep())
	for name, p := range pictures {
		var b bytes.Buffer
		if err := WriteSVG(&b, p); err != nil {
			t.Fatal(err)
		}
		golden.File(t, filepath.Join("testdata", name+".svg"), b.String())
	}
}

// TestPlaces: in the curve, higher latencies are higher and more IOPS are farther right, for each line from dot to dot.
func TestPlaces(t *testing.T) {
	pictures, _ := drawings(t, "bs,iodepth", sweep())
	svg := pictures["curve"].Fragment()
	lines := regexp.MustCompile(`<path class="line run\d" d="(M[^"]*)"><title>bs (\w+)`).FindAllStringSubmatch(svg, -1)
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, want := range []struct {
		name string
		dots int
	}{{"4K", 4}, {"64K", 3}, {"1M", 4}} {
		dots := regexp.MustCompile(`[ML]([0-9.]+) ([0-9.]+)`).FindAllStringSubmatch(lines[i][1], -1)
		if lines[i][2] != want.name || len(dots) != want.dots {
			t.Errorf("line %d is %s with %d dots", i, lines[i][2], len(dots))
		}
		inOrder := slices.IsSortedFunc(dots, func(a, b []string) int {
			if number(t, a[1]) < number(t, b[1]) && number(t, a[2]) > number(t, b[2]) {
				return -1
			}
			return 1
		})
		if !inOrder {
			t.Errorf("%s: %v", want.name, dots)
		}
	}
}

func number(t *testing.T, text string) (x float64) {
	t.Helper()
	if err := xml.Unmarshal([]byte("<x>"+text+"</x>"), &x); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestHostile: values of settings come from archives of others.
func TestHostile(t *testing.T) {
	const evil = "<script>alert(1)</script>\"'&\x1b[2J"
	runs := sweep()
	for _, run := range runs {
		run.Run.Labels = map[string]string{"x": evil, "y": evil + run.Fio.Options["iodepth"]}
	}
	pictures, texts := drawings(t, "label.x,label.y", runs[:1])
	for name, p := range pictures {
		var b bytes.Buffer
		if err := WriteSVG(&b, p, p); err != nil {
			t.Fatal(err)
		}
		in := xml.NewDecoder(&b)
		for {
			token, err := in.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if element, ok := token.(xml.StartElement); ok && element.Name.Local == "script" {
				t.Errorf("%s: a script", name)
			}
		}
		if strings.Contains(texts[name], "\x1b") {
			t.Errorf("%s: %q", name, texts[name])
		}
	}
}

// TestNoDrawing: what cannot be drawn is refused with the reason.
func TestNoDrawing(t *testing.T) {
	many := sweep()
	for i, depth := range strings.Fields("2 3 5 6 7") {
		many = append(many, made("bs=4k iodepth="+depth, float64(i+1), 100))
	}
	noLatency := made("bs=4k", 100, 100)
	noLatency.Read.Latency = mapping.Latency{}
	p99 := workload.MustNumbers("p99")[0]
	curve := func(by []Setting, runs []*mapping.Run, metric facts.Metric) error {
		_, err := New(by, "read", RunsOf(runs))[0].Curve(metric)
		return err
	}
	heat := func(by []Setting, runs []*mapping.Run, metric facts.Metric) error {
		_, err := New(by, "read", RunsOf(runs))[0].Heat(metric)
		return err
	}
	for _, c := range []struct {
		draw   func([]Setting, []*mapping.Run, facts.Metric) error
		by     string
		runs   []*mapping.Run
		metric facts.Metric
		want   string
	}{
		{curve, "iodepth,bs", many, p99, "a curve has a line for each value of iodepth, at most 8, and these are 9: choose runs with a condition, or name bs first"},
		{curve, "bs,iodepth", many, p99, ""},
		{curve, "bs,iodepth", many, facts.IOPS, "a curve has IOPS from left to right"},
		{curve, "bs", []*mapping.Run{noLatency}, p99, "no cell has both p99 and IOPS"},
		{heat, "bs", many, p99, "a heat map is over two settings"},
		{heat, "bs,iodepth", []*mapping.Run{noLatency}, p99, "no cell has p99"},
		{heat, "bs,iodepth", many, facts.IOPS, ""},
	} {
		by, _ := Settings(strings.Split(c.by, ","))
		if err := c.draw(by, c.runs, c.metric); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.by, err, c.want)
		}
	}
}

// TestSettingsOf: the settings of a sweep are found, the load last.
func TestSettingsOf(t *testing.T) {
	follow := sweep()
	for _, run := range follow {
		run.Fio.Options["a_low"] = run.Fio.Options["iodepth"] + "0"
	}
	three := sweep()
	three[3].Fio.Options["ioengine"] = "io_uring"
	four := sweep()
	four[3].Fio.Options["ioengine"], four[5].Fio.Options["fsync"] = "io_uring", "8"
	for _, c := range []struct {
		name, want string
		runs       []*mapping.Run
	}{
		{"two", "bs iodepth", sweep()}, {"one", "iodepth", sweep()[:5]}, {"three", "bs iodepth option.ioengine", three}, {"four", "", four}, {"one that follows from another", "bs iodepth", follow},
		{"two runs are no sweep", "", sweep()[:2]}, {"repeats are no sweep", "", []*mapping.Run{made("bs=4k", 1, 1), made("bs=4k", 2, 1), made("bs=4k", 3, 1)}},
		{"an option", "option.ioengine", []*mapping.Run{made("ioengine=libaio", 1, 1), made("ioengine=sync", 2, 1), made("ioengine=io_uring", 3, 1)}},
	} {
		var names []string
		for _, s := range SettingsOf(RunsOf(c.runs)) {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
