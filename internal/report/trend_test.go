package report

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

var trendCircle = regexp.MustCompile(`<a href="([^"]*)" tabindex="-1"><circle class="dot (\w+)" cx="([^"]*)" cy="[^"]*" r="4"><title>([^<]*)</title>`)

// TestTrend: there is a dot for each p99, from left to right, with a link and a title. Lines join only runs with the
// same settings.
func TestTrend(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	runOf := func(minute int, name, mode string, read, write float64) *mapping.Run {
		run := &mapping.Run{Run: mapping.RunInfo{Name: name, Start: start.Add(time.Duration(minute) * time.Minute)}, CBT: mapping.CBT{Mode: mode}}
		if read > 0 {
			run.Read = totalsOfHist(histOf(1, read), 1)
		}
		if write > 0 {
			run.Write = totalsOfHist(histOf(1, write), 1)
		}
		return run
	}
	runs := []*mapping.Run{
		runOf(20, "3", "A", 110, 0), runOf(0, "1", "A", 100, 200), runOf(5, "none", "A", 0, 0), runOf(10, "2?<&\"", "B", 90_000, 0), runOf(30, "4", "A", 120, 100),
	}
	link := func(run *mapping.Run) string { return "runs/" + run.Run.Name }
	picture := string(Trend(runs, link))
	checkWellFormed(t, picture)
	var links, titles, places []string
	for _, m := range trendCircle.FindAllStringSubmatch(picture, -1) {
		links, titles, places = append(links, html.UnescapeString(m[1])), append(titles, html.UnescapeString(m[4])), append(places, m[3])
	}
	if want := []string{"runs/1", "runs/1", "runs/2?<&\"", "runs/3", "runs/4", "runs/4"}; !slices.Equal(links, want) {
		t.Errorf("%q", links)
	}
	// eighths of 960, from 76
	if want := []string{"196", "196", "436", "676", "916", "916"}; !slices.Equal(places, want) {
		t.Errorf("%v, want %v", places, want)
	}
	if titles[2] != ":2?<&\" B, 2026-01-31 09:10:00: p99 of reads 89.7ms" || titles[3] != ":3 A, 2026-01-31 09:20:00: p99 of reads 110µs" {
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
	for _, few := range [][]*mapping.Run{nil, runs[:1], runs[1:3]} {
		if got := Trend(few, link); got != "" {
			t.Errorf("%d runs: %s", len(few), got)
		}
	}
}
