package report

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var trendDot = regexp.MustCompile(`<a href="([^"]*)" tabindex="-1"><circle class="dot (\w+)" cx="([^"]*)" cy="[^"]*" r="4"><title>([^<]*)</title>`)

// TestTrend: there is a dot for each p99, from left to right, with a link and what it is; and
// lines join runs of the same kind alone.
func TestTrend(t *testing.T) {
	point := func(direction string, us float64) TrendPoint { return TrendPoint{Direction: direction, US: us} }
	runs := []TrendRun{
		{"one", "09:00", "runs/1", "A", []TrendPoint{point("read", 100), point("write", 200)}},
		{"two", "09:10", "runs/2?<&\"", "B", []TrendPoint{point("read", 90_000)}},
		{"three <b>", "09:20", "runs/3", "A", []TrendPoint{point("read", 110)}},
		{"four", "09:30", "runs/4", "A", []TrendPoint{point("read", 120), point("write", 100)}},
	}
	picture := string(Trend(runs))
	checkWellFormed(t, picture)
	var links, titles, places []string
	for _, m := range trendDot.FindAllStringSubmatch(picture, -1) {
		links, titles, places = append(links, html.UnescapeString(m[1])), append(titles, html.UnescapeString(m[4])), append(places, m[3])
	}
	if want := []string{"runs/1", "runs/1", "runs/2?<&\"", "runs/3", "runs/4", "runs/4"}; !slices.Equal(links, want) {
		t.Errorf("%q", links)
	}
	if want := []string{"196", "196", "436", "676", "916", "916"}; !slices.Equal(places, want) { // eighths of 960 from 76
		t.Errorf("%v, want %v", places, want)
	}
	if titles[2] != "two, 09:10: p99 of reads 90.0ms" || titles[3] != "three <b>, 09:20: p99 of reads 110µs" {
		t.Errorf("%q", titles)
	}
	for class, want := range map[string]int{"read": 2, "write": 1} { // 1 – 3 – 4, and 1 – 4
		d := regexp.MustCompile(`<path class="line joined ` + class + `" d="([^"]*)"`).FindStringSubmatch(picture)
		if d == nil || strings.Count(d[1], "L") != want {
			t.Errorf("%ss: %v, want %d lines", class, d, want)
		}
	}
	if strings.Contains(picture, "trims") {
		t.Error("trims, of which there are none")
	}
	for _, few := range [][]TrendRun{nil, runs[:1], {{Title: "a"}, {Title: "b"}}} {
		if got := Trend(few); got != "" {
			t.Errorf("%d runs: %s", len(few), got)
		}
	}
}
