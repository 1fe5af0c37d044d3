package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// slaMetrics are the metrics that percentiles prints, too.
var slaMetrics = map[string]func(l *percentileLine) *float64{
	"min": func(l *percentileLine) *float64 { return l.Min }, "mean": func(l *percentileLine) *float64 { return l.Mean },
	"p50": func(l *percentileLine) *float64 { return l.P50 }, "p75": func(l *percentileLine) *float64 { return l.P75 },
	"p90": func(l *percentileLine) *float64 { return l.P90 }, "p95": func(l *percentileLine) *float64 { return l.P95 },
	"p99": func(l *percentileLine) *float64 { return l.P99 }, "p99.9": func(l *percentileLine) *float64 { return l.P999 },
	"p99.99": func(l *percentileLine) *float64 { return l.P9999 }, "max": func(l *percentileLine) *float64 { return l.Max },
}

// TestSLANumbers: rules are checked with the values that percentiles and rank print, for the whole run and for each
// window, to the digit.
func TestSLANumbers(t *testing.T) {
	t.Parallel()
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
			limit := *of(&windows[len(windows)/2]) // broken in about half of the windows
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

// checkSLAWindows counts windows from the output of percentiles.
func checkSLAWindows(t *testing.T, row slaLine, windows []percentileLine, of func(*percentileLine) *float64) {
	t.Helper()
	var limit float64
	if _, err := fmt.Sscanf(row.Rule, row.Metric+" <= %fus in every window", &limit); err != nil {
		t.Fatal(err)
	}
	judged, met, first := int64(0), int64(0), int64(-1)
	worst := &windows[0]
	for i := range windows {
		w := &windows[i]
		value := of(w)
		judged += w.EndMS - w.StartMS
		if *value <= limit {
			met += w.EndMS - w.StartMS
		} else if first < 0 {
			first = w.StartMS
		}
		if *value > *of(worst) {
			worst = w
		}
	}
	if *row.JudgedMS != judged || *row.HeldMS != met || *row.Worst != *of(worst) || *row.WorstMS != worst.StartMS || (row.Verdict == "met") != (met == judged) {
		t.Errorf("%s: %+v; want met for %d of %d ms, worst %v at %d ms", row.Rule, row, met, judged, *of(worst), worst.StartMS)
	}
	if first >= 0 && *row.FirstMS != first {
		t.Errorf("%s: first broken at %d ms, not %d", row.Rule, *row.FirstMS, first)
	}
}

func TestParseRules(t *testing.T) {
	t.Parallel()
	e := newEnv(nil, io.Discard, io.Discard)
	e.flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	e.flags.StringArray("rule", nil, "")
	e.cfg.SLA = []string{"p99 < 10", "p50 < 1ms", "p50 ~ 1ms"}
	e.cfg.Origins = map[string]string{"sla": "x.yaml"}
	_, err := e.rules()
	const fault = "sla, as x.yaml has it: want rules such as p99 <= 10ms in 99% of windows, which number "
	if want := fault + "1 is not\n" + fault + "3 is not"; !errors.As(err, new(usageError)) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	check(t, e.flags.Set("rule", "x"))
	if _, err := e.rules(); err == nil || !strings.HasPrefix(err.Error(), "--rule ") {
		t.Errorf("%v", err)
	}
	e.cfg.SLA = []string{"p99<=10ms", " write.iops >= 5k in every window"}
	rules, err := e.rules()
	if err != nil || len(rules) != 2 || rules[1].String() != "write.iops >= 5k in every window" {
		t.Errorf("%v, %v", rules, err)
	}
	_, errs := outAndErr(t, exitUsage, "sla", "latest")
	expect(t, "no rules", errs, "--rule 'p99 <= 10ms'")
}

// TestSLADocumented: the settings in docs/compare.md are valid rules.
func TestSLADocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "compare.md"))
	check(t, err)
	_, block, _ := strings.Cut(string(text), "```yaml\n# fio2es.yaml\nsla:\n")
	block, _, _ = strings.Cut(block, "```")
	settings := filepath.Join(t.TempDir(), "fio2es.yaml")
	check(t, os.WriteFile(settings, []byte("sla:\n"+block), 0o600))
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"--config", settings, "sla", "--format", "csv", filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw")}, nil, &out, &errs)
	// writes have only one rule of their own
	if lines := strings.Count(out.String(), "\n"); code != exitMet || lines != 1+9 {
		t.Errorf("exit code %d, %d lines\n%s\n%s", code, lines, &out, &errs)
	}
}
