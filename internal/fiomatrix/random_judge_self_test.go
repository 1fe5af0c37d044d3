//go:build linux

package fiomatrix

import (
	"testing"
)

// TestJudge: what is wrong is silent without a word, and each fault is found.
func TestJudge(t *testing.T) {
	row := func(a *said) line { return a.printed[len(a.printed)-1] }
	tests := []struct {
		name   string
		change func(*scene, *said)
		want   string
	}{
		{"right", func(*scene, *said) {}, right},
		{"a warning of nothing", func(_ *scene, a *said) { a.percentiles = answer{exit: 3, stderr: "warning: x"} }, accused},
		{"a request less", func(_ *scene, a *said) { row(a)["requests"] = 3999. }, silent},
		{"a request less, with a note", func(_ *scene, a *said) {
			row(a)["requests"], a.percentiles.stderr = 3999., "note: 1 read request is in fio's total and in no window"
		}, noted},
		{"a request less, with another note", func(_ *scene, a *said) {
			row(a)["requests"], a.percentiles.stderr = 3999., "note: start taken from the files' modification times"
		}, silent},
		{"a request less, with exit code 3", func(_ *scene, a *said) {
			row(a)["requests"], a.percentiles = 3999., answer{exit: 3, stderr: "warning: rows are missing"}
		}, warned},
		{"unknown", func(_ *scene, a *said) { delete(row(a), "requests") }, right},
		{"p99", func(_ *scene, a *said) { row(a)["p99_us"] = 1180. }, silent},
		{"p99 within bounds", func(_ *scene, a *said) {
			delete(row(a), "p99_us")
			row(a)["p99_low_us"], row(a)["p99_high_us"] = 1000., 2000.
		}, right},
		{"p99 not within bounds", func(_ *scene, a *said) {
			delete(row(a), "p99_us")
			row(a)["p99_low_us"], row(a)["p99_high_us"] = 1200., 2000.
		}, silent},
		{"maximum, a bin above fio's", func(_ *scene, a *said) { row(a)["max_us"] = 1104. }, contradicts},
		{"mean", func(_ *scene, a *said) { row(a)["mean_us"] = 700. }, silent},
		{"bytes", func(_ *scene, a *said) { a.runs[0].dirs[0].Bytes = 4096 * 4001 }, silent},
		{"two runs for one", func(_ *scene, a *said) { a.runs = append(a.runs, a.runs[0]) }, silent},
		{"a window has those of the next", func(_ *scene, a *said) { moveRequests(a, -100) }, silent},
		{"a start that is as sure as it says", func(_ *scene, a *said) {
			a.runs[0].clockError = 400
			shiftAll(a, 350)
		}, right},
		{"a start that is less sure than it says", func(_ *scene, a *said) {
			a.runs[0].clockError = 300
			shiftAll(a, 350)
		}, silent},
		{"the end is in no window, and the run says so", func(_ *scene, a *said) {
			a.runs[0].missing = 1000
			withoutLast(a)
		}, right},
		{"the end is in no window", func(_ *scene, a *said) { withoutLast(a) }, silent},
		{"a host has less", func(_ *scene, a *said) {
			a.totals = []map[string]any{{"level": "host", "name": "out", "host": "", "direction": "read", "requests": 3000.}}
		}, silent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, a := steady()
			s.random = random{form: "json+", logs: true}
			a.printed = append(a.printed, map[string]any{
				"level": "run", "name": "out", "direction": "read", "requests": 4000., "min_us": 100., "mean_us": 599.,
				"p50_us": 599., "p75_us": 849., "p90_us": 999., "p95_us": 1049., "p99_us": 1089., "max_us": 1098.,
			})
			tt.change(s, a)
			wrong := s.judge(a)
			if got := outcomeOf(wrong, a.percentiles); got != tt.want {
				t.Errorf("%s, expected %s: %q", got, tt.want, wrong)
			}
		})
	}
}

// withoutLast removes the windows of the last second.
func withoutLast(a *said) {
	var windows []window
	a.printed = a.printed[len(a.windows):]
	for _, w := range a.windows {
		if w.to < a.runs[0].to {
			windows = append(windows, w)
			a.printed = append(a.printed, map[string]any{"requests": float64(w.completed)})
		}
	}
	a.windows = windows
}
