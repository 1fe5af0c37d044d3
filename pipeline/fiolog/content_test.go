package fiolog_test

import (
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestContentOf: what the beginning of a file says that it is.
func TestContentOf(t *testing.T) {
	row := func(bins int) string { return "1000, 0, 4096" + strings.Repeat(", 7", bins) + "\n" }
	const report = `{"fio version":"fio-3.33","timestamp_ms":1700000000123,"jobs":[{"jobname":"j","read":{"total_ios":5,"runtime":2000}}]}`
	for text, want := range map[string]fiolog.Content{
		row(1856):                          fiolog.Histograms,
		row(1216):                          fiolog.Histograms,
		row(1856 >> 6):                     fiolog.Histograms,
		row(24 * 64):                       fiolog.Histograms,
		row(64 * 64):                       fiolog.Histograms,
		row(17 * 64 >> 6):                  fiolog.Histograms,
		row(1855):                          fiolog.Unknown,
		row(65 * 64):                       fiolog.Unknown,
		"\xef\xbb\xbf" + row(928):          fiolog.Histograms,
		"\n# a header\n" + row(928):        fiolog.Histograms,
		strings.TrimSuffix(row(928), "\n"): fiolog.Histograms,
		"1, 12345, 0, 4096\n":              fiolog.Completions,
		"1, 12345, 1, 4096, 0, 0\n":        fiolog.Completions,
		"1, 12345, 2, 4096, 0x10, 0\r\n":   fiolog.Completions,
		"1000, 12345, 0, 0\n":              fiolog.Averages,
		"1000, 12345, 0, 0, 0, 0\n":        fiolog.Averages,
		"1000, 12345, 20000, 1, 0, 0\n":    fiolog.Averages, // log_window_value=both
		"1000, 12345, 7, 4096\n":           fiolog.Unknown,
		"1000, 12345, 0\n":                 fiolog.Unknown,
		"1, 2, 0, 4096, 0, 0, 0, 0, 0\n":   fiolog.Unknown,
		"a, b, c, d\n":                     fiolog.Unknown,
		strings.Repeat("\n", 8) + row(928): fiolog.Unknown,
		"":                                 fiolog.Unknown,
		report:                             fiolog.Output,
		report[:40]:                        fiolog.Output,
		"note: x\n" + report:               fiolog.Output,
		`{"jobs": [{"jobname": "j"}]}`:     fiolog.Output,
		`{"version": 1, "jobs": []}`:       fiolog.Unknown,
		"a: (g=0): rw=read, bs=(R) 4096B-": fiolog.Output,
	} {
		if got := fiolog.ContentOf([]byte(text)); got != want {
			t.Errorf("%.40q: %d, want %d", text, got, want)
		}
		if got := fiolog.IsReport([]byte(text)); got != (want == fiolog.Output) {
			t.Errorf("%.40q: report %v", text, got)
		}
	}
}
