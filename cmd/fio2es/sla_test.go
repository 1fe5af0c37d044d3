package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/mapping"
)

// linesOf runs a command, and decodes its lines of JSON.
func linesOf[T any](t *testing.T, code int, args ...string) []T {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	var out, errs strings.Builder
	if got := run(t.Context(), append(args, "--format", "json"), strings.NewReader(""), &out, &errs); got != code {
		t.Fatalf("%v: exit code %d, want %d: %s", args, got, code, errs.String())
	}
	var lines []T
	for d := json.NewDecoder(strings.NewReader(out.String())); d.More(); {
		var l T
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// slaMetrics are those that percentiles prints, too.
var slaMetrics = map[string]func(l *percentileLine) *float64{
	"min": func(l *percentileLine) *float64 { return l.Min }, "mean": func(l *percentileLine) *float64 { return l.Mean },
	"p50": func(l *percentileLine) *float64 { return l.P50 }, "p75": func(l *percentileLine) *float64 { return l.P75 },
	"p90": func(l *percentileLine) *float64 { return l.P90 }, "p95": func(l *percentileLine) *float64 { return l.P95 },
	"p99": func(l *percentileLine) *float64 { return l.P99 }, "p99.9": func(l *percentileLine) *float64 { return l.P999 },
	"p99.99": func(l *percentileLine) *float64 { return l.P9999 }, "max": func(l *percentileLine) *float64 { return l.Max },
}

// TestSLANumbers: what is judged is what percentiles and rank print, of the whole and window
// by window, to the digit.
func TestSLANumbers(t *testing.T) {
	for _, path := range []string{
		filepath.Join("..", "..", "testdata", "corpus", "stalls"),
		filepath.Join("..", "..", "testdata", "corpus", "coarseness"),
		filepath.Join("..", "..", "examples", "cbt-archive", "results", "00000000", "id-7c1f03ab"),
	} {
		const direction = "write"
		all := linesOf[percentileLine](t, 0, "percentiles", path)
		all = slices.DeleteFunc(all, func(l percentileLine) bool { return l.Direction != direction })
		windows, whole := all[:len(all)-1], &all[len(all)-1]
		rules := []string{"sla", path, "--direction", direction, "--rule", "iops > 0"}
		for name, of := range slaMetrics {
			limit := *of(&windows[len(windows)/2]) // broken, or nearly, in half of them
			rules = append(rules, "--rule", name+" < 1000s", "--rule", fmt.Sprintf("%s <= %vus in every window", name, limit))
		}
		rules = append(rules, "--rule", "within 100us >= 0%")
		rows := linesOf[slaLine](t, 4, rules...)
		if want := 2*len(slaMetrics) + 2; len(rows) != want {
			t.Errorf("%s: %d verdicts, want %d", path, len(rows), want)
		}
		for _, row := range rows {
			of := slaMetrics[row.Metric]
			switch {
			case row.Metric == "iops":
				if *row.Value != whole.IOPS {
					t.Errorf("%s: %v iops, not %v", path, *row.Value, whole.IOPS)
				}
			case of == nil:
				if rank := linesOf[rankLine](t, 0, "rank", path, "--within", "100us", "--direction", direction)[0]; *row.Value != *rank.Share || row.Requests != rank.Requests {
					t.Errorf("%s: %+v, but %+v", path, row, rank)
				}
			case row.Unit == "us":
				if *row.Value != *of(whole) || *row.Value < *row.Low || *row.Value > *row.High {
					t.Errorf("%s %s: %v, not %v", path, row.Metric, *row.Value, *of(whole))
				}
			default:
				checkSLAWindows(t, row, windows, of)
			}
		}
	}
}

// checkSLAWindows counts windows, as percentiles prints them.
func checkSLAWindows(t *testing.T, row slaLine, windows []percentileLine, of func(*percentileLine) *float64) {
	t.Helper()
	var limit float64
	if _, err := fmt.Sscanf(row.Rule, row.Metric+" <= %fus in every window", &limit); err != nil {
		t.Fatal(err)
	}
	judged, held, first := int64(0), int64(0), int64(-1)
	worst := &windows[0]
	for i := range windows {
		w := &windows[i]
		value := of(w)
		judged += w.EndMS - w.StartMS
		if *value <= limit {
			held += w.EndMS - w.StartMS
		} else if first < 0 {
			first = w.StartMS
		}
		if *value > *of(worst) {
			worst = w
		}
	}
	if *row.JudgedMS != judged || *row.HeldMS != held || *row.Worst != *of(worst) || *row.WorstMS != worst.StartMS || (row.Verdict == "met") != (held == judged) {
		t.Errorf("%s: %+v; held for %d of %d ms, worst %v at %d ms", row.Rule, row, held, judged, *of(worst), worst.StartMS)
	}
	if first >= 0 && *row.FirstMS != first {
		t.Errorf("%s: first broken at %d ms, not %d", row.Rule, *row.FirstMS, first)
	}
}

func TestParseRules(t *testing.T) {
	rules, err := parseRules("--rule", []string{"p99<=10ms", " write.iops >= 5k in every window"})
	if err != nil || len(rules) != 2 || rules[1].String() != "write.iops >= 5k in every window" {
		t.Errorf("%v, %v", rules, err)
	}
	var usage usageError
	_, err = parseRules("sla:", []string{"p99 < 10", "p50 < 1ms", "p50 ~ 1ms"})
	if want := `sla: "p99 < 10", column 9: want ns, us, ms or s, found the end` + "\n" + `sla: "p50 ~ 1ms", column 5: want <, <=, > or >=, found "~"`; !errors.As(err, &usage) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err = parseRules("sla:", nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), "--rule 'p99 <= 10ms'") {
		t.Errorf("no rules: %v", err)
	}
}

// slaDocument is one of a window, whose requests all took as long.
func slaDocument(start time.Time, host string, elapsed, ms, late int64, requests uint64) *mapping.Interval {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(1_000_000, float64(requests))
	at := start.Add(time.Duration(elapsed+late) * time.Millisecond)
	return &mapping.Interval{
		Time: at, Window: mapping.Window{End: at.Add(time.Duration(ms) * time.Millisecond), MS: ms, ElapsedMS: elapsed},
		Run: mapping.RunRef{Start: start}, Host: mapping.HostRef{Name: host}, Fio: mapping.FioRef{Direction: "read"},
		Latency: mapping.NewLatency(h, nil), Requests: mapping.Requests{Completed: int64(requests)},
	}
}

// TestSLOWindows: documents of one window, of several hosts or in several parts, are one.
func TestSLOWindows(t *testing.T) {
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	rules, err := parseRules("--rule", []string{"iops >= 30 in every window", "requests > 0", "p99 < 10ms in every window"})
	if err != nil {
		t.Fatal(err)
	}
	s := newSLOWindows(rules)
	docs := []*mapping.Interval{slaDocument(start, "a", 0, 1000, 0, 10), slaDocument(start, "b", 0, 1000, 4, 20), slaDocument(start, "a", 1000, 1000, 0, 10), slaDocument(start, "b", 1000, 1000, 4, 25)}
	docs[2].Latency.P99 = 20_000 // of one host: not what both come to
	whole := slaDocument(start, "a", 2000, 1000, 0, math.MaxInt32+7)
	parts := whole.Split()
	if len(parts) != 2 {
		t.Fatalf("%d parts", len(parts))
	}
	for _, p := range parts {
		p.Latency.P99 = 9_000 // known of the whole
	}
	rate := &mapping.Interval{
		Time: start.Add(3 * time.Second), Window: mapping.Window{MS: 1000, ElapsedMS: 3000}, Run: mapping.RunRef{Start: start}, Fio: mapping.FioRef{Direction: "read"},
		IOPS: 31, Weighting: "average",
	}
	silent := *rate
	silent.Time, silent.Window.ElapsedMS, silent.IOPS = start.Add(4*time.Second), 4000, 0
	for _, d := range slices.Concat(docs, parts, []*mapping.Interval{rate, &silent}) {
		if err := s.add(d); err != nil {
			t.Fatal(err)
		}
	}
	v := s.evaluator().Verdicts()
	if w := v[0].Windows; v[0].State != slo.Met || w.Judged != 4000 || w.Worst != (slo.Moment{Start: 0, End: 1000, Value: 30}) {
		t.Errorf("iops: %+v", v[0])
	}
	if v[1].Value != 65+math.MaxInt32+7+31 {
		t.Errorf("requests: %+v", v[1])
	}
	if w := v[2].Windows; v[2].State != slo.Met || w.Judged != 3000 || w.Worst.Value != 9e6 || w.Worst.Start != 2000 {
		t.Errorf("p99: %+v", v[2])
	}
}

// TestSLAText: a value that is not the limit does not look like it.
func TestSLAText(t *testing.T) {
	for _, c := range []struct {
		unit             slo.Unit
		value, limit, of float64
		want             string
	}{
		{slo.Nanoseconds, 1.5e7, 1e7, 0, "15.0ms"},
		{slo.Nanoseconds, 1e7, 1e7, 0, "10.0ms"},
		{slo.Nanoseconds, 10_003_007, 1e7, 0, "10003.007µs"},
		{slo.Share, 0.995, 0.999, 1000, "99.5 %"},
		{slo.Share, 0.99896, 0.999, 1000, "99.896 %"},
		{slo.PerSecond, 4999.75, 5000, 0, "4999.75"},
		{slo.PerSecond, 12_400, 5000, 0, "12.4k"},
		{slo.Requests, 999_999, 1e6, 0, "999,999"},
		{slo.Share, math.NaN(), 0.5, 0, "-"},
	} {
		if got := slaText(c.unit, c.value, c.limit, c.of); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestSLADocumented: the settings that docs/numbers.md shows are rules.
func TestSLADocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "numbers.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n# fio2es.yaml\nsla:\n")
	block, _, _ = strings.Cut(block, "```")
	settings := filepath.Join(t.TempDir(), "fio2es.yaml")
	if err := os.WriteFile(settings, []byte("sla:\n"+block), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"--config", settings, "sla", "--format", "csv", filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw")}, nil, &out, &errs)
	if lines := strings.Count(out.String(), "\n"); code != exitMet || lines != 1+7 { // writes have no rule of their own but for one
		t.Errorf("exit code %d, %d lines\n%s\n%s", code, lines, &out, &errs)
	}
}
