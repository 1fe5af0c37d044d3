package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/unit"
)

var (
	numbersTable = regexp.MustCompile(`(?s)<table class="numbers">(.*?)</table>`)
	numbersLine  = regexp.MustCompile(`<th scope="row" class="text">(\w+)</th>(.*)</tr>`)
	numbersCell  = regexp.MustCompile(`<td[^>]*>([^<†]*)`)
	readOut      = regexp.MustCompile(`(?s)class="data">(.*?)</script>`)
)

func numbersOf(t *testing.T, page string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for _, line := range numbersLine.FindAllStringSubmatch(numbersTable.FindString(page), -1) {
		for _, c := range numbersCell.FindAllStringSubmatch(line[2], -1) {
			rows[line[1]] = append(rows[line[1]], c[1])
		}
	}
	return rows
}

func latencyText(us *float64) string {
	if us == nil {
		return "-"
	}
	return unit.Latency(*us)
}

// TestReportNumbers: the page has the numbers that percentiles prints, for whole runs and for each window.
func TestReportNumbers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"two-jobs-rw", "stalls", "trim-write-read", "coarseness", "mixed-bs", "status-interval"} {
		path := filepath.Join("..", "..", "testdata", "corpus", name)
		page := outputOf(t, "report", path)
		rows := numbersOf(t, page)
		var data struct {
			Panels []struct {
				Name string  `json:"name"`
				Rows [][]any `json:"rows"`
			} `json:"panels"`
		}
		check(t, json.Unmarshal([]byte(readOut.FindStringSubmatch(page)[1]), &data))
		drawn := map[string][]string{}
		for _, p := range data.Panels {
			for _, row := range p.Rows {
				drawn[p.Name] = append(drawn[p.Name], fmt.Sprint(row[2:]))
			}
		}
		for _, l := range linesOf[percentileLine](t, 0, "percentiles", path) {
			if l.Direction == "all" { // the report shows the directions instead
				continue
			}
			if l.Level == "run" {
				row := rows[l.Direction]
				want := []string{unit.Count(l.Requests), unit.Rate(l.IOPS), latencyText(l.Min), latencyText(l.Mean), latencyText(l.P50), latencyText(l.P90),
					latencyText(l.P95), latencyText(l.P99), latencyText(l.P999), latencyText(l.P9999), latencyText(l.Max)}
				if got := slices.Delete(slices.Clone(row), 2, 3); !slices.Equal(got, want) {
					t.Errorf("%s: %ss: %v, want %v", name, l.Direction, got, want)
				}
				continue
			}
			want := fmt.Sprint([]any{l.Start[11:23] + " – " + l.End[11:23], latencyText(l.P50), latencyText(l.P95), latencyText(l.P99), latencyText(l.P999), latencyText(l.Max), unit.Rate(l.IOPS)})
			if len(drawn[l.Direction]) == 0 || drawn[l.Direction][0] != want {
				t.Fatalf("%s: %ss: %v, want %s", name, l.Direction, drawn[l.Direction], want)
			}
			drawn[l.Direction] = drawn[l.Direction][1:]
		}
		for direction, left := range drawn {
			if len(left) > 0 {
				t.Errorf("%s: %ss: %v is in no window", name, direction, left)
			}
		}
	}
}

// TestReportPart: between two times, the page has the requests that rank counts, and percentiles agree with rank: at
// most 99 of 100 requests are certainly faster than p99, and at least as many may be.
func TestReportPart(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "testdata", "corpus", "stalls")
	bounds := []string{"--from", "+3s", "--to", "+12s"}
	rows := numbersOf(t, outputOf(t, append([]string{"report", path}, bounds...)...))
	for _, l := range rankOf(t, append([]string{path, "--within", "1ms"}, bounds...)...) {
		if l.Direction == "all" {
			continue
		}
		row := rows[l.Direction]
		if row == nil || row[0] != unit.Count(l.Requests) {
			t.Fatalf("%ss: %v, want %d requests", l.Direction, row, l.Requests)
		}
		p99 := strings.ReplaceAll(row[8], "µ", "u")
		at := rankOf(t, append([]string{path, "--within", p99, "--direction", l.Direction}, bounds...)...)[0]
		if float64(at.AtLeast) > 0.99*float64(at.Requests)+1 || float64(at.AtMost) < 0.99*float64(at.Requests)-1 {
			t.Errorf("p99 of %ss is %s, within which are %d to %d of %d", l.Direction, p99, at.AtLeast, at.AtMost, at.Requests)
		}
	}
	if got := numbersOf(t, outputOf(t, "report", path, "--direction", "write")); len(got) != 1 || got["write"] == nil {
		t.Errorf("writes alone: %v", got)
	}
}
