package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

type narrowScreen struct{ bytes.Buffer }

func (*narrowScreen) Columns() int { return 80 }

// TestRunsFit: a list of runs with all possible values fits into 80 columns.
func TestRunsFit(t *testing.T) {
	total := mapping.Totals{
		Requests: 172622, IOPS: 99.95, Bandwidth: 819e3, Latency: mapping.Latency{Layout: "fio3/0", P50: 169.2, P99: 22649.9, Max: 5e5},
	}
	run := mapping.Run{
		Run: mapping.RunInfo{
			ID: "fc354782c2635d86757b", Name: "live", Archive: "20261122-202137", Start: at("2026-11-22T20:21:38Z"),
			Note: "fio ended with exit code 128",
		},
		CBT: mapping.CBT{Mode: "randwrite"}, All: &total, Write: &total, Missing: mapping.Lost{Requests: 1856},
	}
	var screen narrowScreen
	check(t, writeRuns(&screen, []*mapping.Run{&run}, nil, table.Text))
	if !strings.Contains(screen.String(), "incomplete") {
		t.Errorf("no state:\n%s", &screen)
	}
	for line := range strings.Lines(screen.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
