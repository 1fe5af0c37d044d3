package main

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// answersOfCommand returns the rows of a command in CSV and in JSON.
func answersOfCommand(t *testing.T, settings string, args ...string) (header []string, rows [][]string, objects []map[string]any) {
	t.Helper()
	text := callWith(t, settings, append(args, "--format", "csv")...)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	check(t, err)
	objects = decoded[map[string]any](t, callWith(t, settings, append(args, "--format", "json")...))
	if len(rows) < 2 || len(objects) != len(rows)-1 {
		t.Fatalf("%q: %d rows of CSV with the header, %d of JSON", args, len(rows), len(objects))
	}
	return rows[0], rows[1:], objects
}

// TestColumns: in each table about a run of the history, the column run is its id, names of columns are unique,
// latencies have units, and CSV and JSON have the same names.
func TestColumns(t *testing.T) {
	t.Parallel()
	settings := ownHistory(t)
	callWith(t, settings, "ingest", filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw"))
	const id, other = "26fcef5d7053048db603", "26fcef5d"
	for _, args := range [][]string{
		{"runs"}, {"percentiles", "latest"}, {"rank", "latest", "--within", "1ms"}, {"heatmap", "latest"}, {"compare", other, "latest"},
		{"sla", "latest", "--rule", "p99 <= 1s", "--rule", "p99 <= 1s in every window"},
	} {
		header, rows, objects := answersOfCommand(t, settings, args...)
		for i, name := range header {
			if slices.Index(header, name) != i {
				t.Errorf("%q: column %s is there twice", args, name)
			}
			if bare := strings.TrimLeft(name, "p0123456789_"); name == "mean" || name == "max" || name == "min" || name != bare && bare == "" {
				t.Errorf("%q: column %s has no unit", args, name)
			}
		}
		for i, o := range objects {
			for key := range o {
				if !slices.Contains(header, key) {
					t.Errorf("%q: JSON has %s, CSV has not", args, key)
				}
			}
			run := "run"
			if args[0] == "compare" {
				run = "base_run"
			}
			if cell := rows[i][slices.Index(header, run)]; cell != id || o[run] != id {
				t.Errorf("%q: run is %q in CSV, %v in JSON", args, cell, o[run])
			}
		}
	}
}

// TestRunsSums: values of the whole run, and not of a direction, are there once.
func TestRunsSums(t *testing.T) {
	t.Parallel()
	settings := ownHistory(t)
	callWith(t, settings, "ingest", filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw"))
	header, rows, _ := answersOfCommand(t, settings, "runs")
	for name, want := range map[string]int{"hosts": 1, "jobs": 2, "recovered": 3098, "missing": 0, "requests": 32_000} {
		sum := 0
		for _, row := range rows {
			if cell := row[slices.Index(header, name)]; cell != "" {
				n, err := strconv.Atoi(cell)
				check(t, err)
				sum += n
			}
		}
		if sum != want || len(rows) != 2 {
			t.Errorf("%s: %d in %d rows, want %d in two", name, sum, len(rows), want)
		}
	}
}

// TestMarkdown: a table in Markdown has the same rows and columns as the table for people.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "testdata", "corpus", "stalls")
	for _, args := range [][]string{
		{"percentiles", dir, "--total"}, {"rank", dir, "--within", "1ms"}, {"compare", dir, dir, "--metrics", "p50"}, {"sla", dir, "--rule", "p99 <= 1s"},
	} {
		settings := ownHistory(t)
		plain, marked := callWith(t, settings, args...), callWith(t, settings, append(args, "--format", "markdown")...)
		var rows []string
		for line := range strings.Lines(marked) {
			if cells, isRow := strings.CutPrefix(line, "| "); isRow && !strings.HasPrefix(cells, "--") {
				rows = append(rows, strings.Join(strings.Fields(strings.NewReplacer(" | ", " ", " |", "", `\`, "").Replace(cells)), " "))
			}
		}
		if len(rows) < 3 && args[0] != "compare" {
			t.Errorf("%q:\n%s", args, marked)
		}
		for _, row := range rows {
			found := false
			for line := range strings.Lines(plain) {
				found = found || strings.Join(strings.Fields(line), " ") == row
			}
			if !found {
				t.Errorf("%q: %q is not in\n%s", args, row, plain)
			}
		}
	}
}
