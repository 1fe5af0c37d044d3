package main

import (
	"encoding/csv"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// requestsOfCSV adds up counts by direction, and for all directions.
func requestsOfCSV(t *testing.T, text string) map[string]int64 {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	check(t, err)
	direction, count := slices.Index(rows[0], "direction"), slices.Index(rows[0], "count")
	sums := map[string]int64{}
	for _, row := range rows[1:] {
		n, err := strconv.ParseInt(row[count], 10, 64)
		check(t, err)
		sums[row[direction]] += n
		sums["all"] += n
	}
	return sums
}

// TestExportRequests: in each format and at each level, the exported requests add up to the number that rank reports
// for the same question.
func TestExportRequests(t *testing.T) {
	t.Parallel()
	archive := filepath.Join("..", "..", "examples", "cbt-archive", "results", "00000001")
	corpus := func(name string) string { return filepath.Join("..", "..", "testdata", "corpus", name) }
	for _, args := range [][]string{
		{corpus("stalls")},
		{corpus("coarseness"), "--direction", "write"},
		{corpus("trim-write-read"), "--config", byCompletion(t)},
		{corpus("two-jobs-rw"), "--from", "+2s", "--to", "+7s"},
		{corpus("two-jobs-rw"), "--interval", "auto"},
		{archive},
		{archive, "--host", "hostA,hostB", "--from", "+3s"},
		{archive, "--job", "0.1"},
	} {
		want := map[string]int64{}
		for _, l := range rankOf(t, append(slices.Clone(args), "--within", "1ms")...) {
			want[l.Direction], want["all"] = l.Requests, max(want["all"], l.Requests)
		}
		export := func(more ...string) string {
			return outputOf(t, slices.Concat([]string{"export"}, args, more)...)
		}
		if got := requestsOfCSV(t, export("--as", "csv")); !maps.Equal(got, want) {
			t.Errorf("%v: CSV: %v, want %v", args, got, want)
		}
		part := slices.Contains(args, "--from") // the windows of each level are rounded separately
		if got := requestsOfCSV(t, export("--as", "csv", "--levels", "job")); !part && !maps.Equal(got, want) {
			t.Errorf("%v: CSV of jobs: %v, want %v", args, got, want)
		}
		got := map[string]int64{}
		windows := decoded[struct {
			Direction string
			Count     []int64
		}](t, export("--as", "json"))
		for _, l := range windows {
			for _, n := range l.Count {
				got[l.Direction] += n
				got["all"] += n
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%v: JSON: %v, want %v", args, got, want)
		}
		if lines := strings.Count(export("--as", "hdrlog"), "Tag="); lines != len(windows) {
			t.Errorf("%v: %d lines of a log, %d windows", args, lines, len(windows))
		}
		for _, how := range [][]string{nil, {"--windows"}} {
			if got := lastCounts(t, export(append(how, "--as", "openmetrics")...)); !maps.Equal(got, want) {
				t.Errorf("%v: OpenMetrics %v: %v, want %v", args, how, got, want)
			}
		}
	}
}

var countLine = regexp.MustCompile(`(?m)^fio_latency_seconds_count\{(.*direction="(\w+)".*)\} (\d+) `)

// lastCounts adds up the last count of each series.
func lastCounts(t *testing.T, text string) map[string]int64 {
	t.Helper()
	last, directions := map[string]int64{}, map[string]string{}
	for _, m := range countLine.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseInt(m[3], 10, 64)
		if err != nil || n < last[m[1]] {
			t.Fatalf("%s after %d: %v", m[0], last[m[1]], err)
		}
		last[m[1]], directions[m[1]] = n, m[2]
	}
	sums := map[string]int64{}
	for series, n := range last {
		sums[directions[series]] += n
		sums["all"] += n
	}
	return sums
}

// TestExportBuckets: each bucket has the number of requests that rank reports for its bound, exactly.
func TestExportBuckets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stalls", "coarseness"} {
		path := filepath.Join("..", "..", "testdata", "corpus", name)
		bucket := regexp.MustCompile(`_bucket\{.*direction="write",le="([^"+]*)"\} (\d+) `)
		var within []string
		want := map[string]string{}
		for _, m := range bucket.FindAllStringSubmatch(outputOf(t, "export", path, "--as", "openmetrics"), -1) {
			seconds, err := strconv.ParseFloat(m[1], 64)
			check(t, err)
			d := time.Duration(seconds*1e9 + 0.5).String()
			within, want[d] = append(within, d), m[2]
		}
		lines := rankOf(t, path, "--direction", "write", "--within", strings.Join(within, ","))
		if len(lines) != len(want) || len(lines) < 15 {
			t.Fatalf("%d buckets, %d ranks", len(want), len(lines))
		}
		for i, l := range lines {
			if got := strconv.FormatInt(l.Served, 10); got != want[within[i]] || l.AtLeast != l.Served || l.AtMost != l.Served {
				t.Errorf("%s: within %s %s, but rank has %d (%d … %d)", name, within[i], want[within[i]], l.Served, l.AtLeast, l.AtMost)
			}
		}
	}
}
