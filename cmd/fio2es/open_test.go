package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openLog returns a folder with a log of reads with a row each second: some reads of 72 ms, and others in the last
// bin, which took 17.05 s or more.
func openLog(t *testing.T, seconds, fast, slow int) string {
	t.Helper()
	dir := t.TempDir()
	var log strings.Builder
	for second := range seconds {
		bins := make([]string, 1856)
		for i := range bins {
			bins[i] = "0"
		}
		bins[1348], bins[1855] = fmt.Sprint(fast), fmt.Sprint(slow)
		fmt.Fprintf(&log, "%d, 0, 4096, %s\n", (second+1)*1000, strings.Join(bins, ", "))
	}
	check(t, os.WriteFile(filepath.Join(dir, "stuck_clat_hist.1.log"), []byte(log.String()), 0o644))
	return dir
}

// byCompletion returns a settings file with which requests count in the window in which they completed.
func byCompletion(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.yaml")
	check(t, os.WriteFile(path, []byte("weighting: completion\n"), 0o600))
	return path
}

// TestOpenBin: no command gives a latency in fio's last bin a value that may be wrong.
func TestOpenBin(t *testing.T) {
	t.Parallel()
	dir := openLog(t, 20, 95, 5)
	on := func(code int, command string, args ...string) (stdout, stderr string) {
		return outAndErr(t, code, append([]string{command, dir, "--config", byCompletion(t)}, args...)...)
	}
	out, _ := on(0, "percentiles")
	expect(t, "percentiles", out, "≥17.0s")
	if n := strings.Count(out, "≥17.0s"); n != 21*3 {
		t.Errorf("percentiles: %d marks, want p99, p99.9 and max of 21 lines:\n%s", n, out)
	}
	out, _ = on(0, "percentiles", "--format", "csv", "--total")
	expect(t, "percentiles", out, ",17045651.456,17045651.456,17045651.456,mean_us p99_us p99_9_us p99_99_us max_us,,,,,,,,,,,,,,,\n")
	out, _ = on(0, "percentiles", "--format", "json", "--total")
	expect(t, "percentiles", out, `"open":["mean_us","p99_us","p99_9_us","p99_99_us","max_us"]`)
	out, _ = on(0, "rank", "--within", "10s,20s")
	expect(t, "rank", out, " 10.0s  read     2,000   1,900   95.00 %     1,900    1,900", " 20.0s  read     2,000  ≥1,900  ≥95.00 %     1,900    2,000")
	out, _ = on(0, "rank", "--within", "20s", "--format", "json")
	expect(t, "rank", out, `"open":["served","share"]`)
	out, _ = on(0, "heatmap")
	expect(t, "heatmap", out, "at the top 17.0s or more", " ≥15.8s  ")
	out, _ = on(0, "heatmap", "--format", "svg")
	expect(t, "heatmap", out, ">or more</text>")
	out, _ = on(0, "heatmap", "--format", "csv")
	expect(t, "heatmap", out, ",15848900,17782800,5,true\n", ",95,false\n")
	out, _ = on(0, "report")
	expect(t, "report", out, "≥17.0s<small>or more</small>", "max ≥17.0s", "The top row has requests of 17.0s or more", "read latency, at the top 17.0s or more")
	out, _ = on(0, "export", "--as", "openmetrics")
	expect(t, "export", out, `le="+Inf"} 2000`, `} 1900`)
}

// TestOpenRules: a rule that only an upper bound could decide is neither met nor broken.
func TestOpenRules(t *testing.T) {
	t.Parallel()
	dir := openLog(t, 20, 95, 5)
	for rule, want := range map[string]struct {
		code int
		text string
	}{
		"p99 <= 30s": {3, "unknown"}, "p99 <= 10s": {4, "broken"}, "p50 <= 1s": {0, "met"}, "max <= 3600s": {3, "unknown"},
		"p99 <= 30s in every window": {3, "unknown"}, "p99 <= 10s in 99% of windows": {4, "broken"},
		"within 20s >= 99%": {3, "unknown"}, "within 20s >= 95%": {0, "met"}, "within 10s >= 99%": {4, "broken"},
	} {
		out, _ := outAndErr(t, want.code, "sla", dir, "--config", byCompletion(t), "--rule", rule)
		expect(t, rule, out, want.text)
		if strings.HasPrefix(rule, "p99 <= 10s") {
			expect(t, rule, out, "≥17.0s")
		}
	}
}

// TestOpenComparison: a comparison with a value in the last bin says so. If both values are there, it shows no
// change.
func TestOpenComparison(t *testing.T) {
	t.Parallel()
	stuck, fine := openLog(t, 20, 9500, 500), openLog(t, 20, 10_000, 0)
	out, errs := outAndErr(t, 0, "compare", fine, stuck, "--config", byCompletion(t), "--metrics", "p50,p99")
	expect(t, "compare", out, "72.3ms  ≥17.0s  ≥+", "worse")
	expect(t, "compare", errs, "p99 rests on fio's last bin, which has no upper end: 72.3ms to ≥17.0s, ≥+")
	out, _ = outAndErr(t, 0, "compare", stuck, fine, "--config", byCompletion(t), "--metrics", "p99")
	expect(t, "compare", out, "≥17.0s  72.3ms  ≤-99.6 %", "better")
	out, errs = outAndErr(t, 0, "compare", stuck, openLog(t, 20, 9000, 1000), "--config", byCompletion(t), "--metrics", "p99", "--format", "json")
	expect(t, "compare", out, `"verdict":"unknown"`, `"open":["base_value","other_value"]`)
	expect(t, "compare", errs, "p99 of both lies in fio's last bin, which has no upper end")
	out, errs = outAndErr(t, 3, "compare", stuck, openLog(t, 20, 9000, 1000), "--config", byCompletion(t), "--metrics", "mean", "--fail-if", "mean > 10%")
	expect(t, "compare", out, "  -  unknown")
	expect(t, "compare", errs, "mean of both rests on fio's last bin, which has no upper end", "mean > 10%: not checked: ")
	out, _ = outAndErr(t, 0, "compare", fine, stuck, "--config", byCompletion(t), "--metrics", "mean")
	expect(t, "compare", out, "≥+", "worse")
	_, errs = outAndErr(t, 3, "compare", stuck, openLog(t, 20, 9000, 1000), "--config", byCompletion(t), "--fail-if", "p99 > 10%")
	expect(t, "compare", errs, "p99 > 10%: not checked: ", "read: p99 of both lies in fio's last bin")
	_, errs = outAndErr(t, 4, "compare", fine, stuck, "--config", byCompletion(t), "--fail-if", "p99 > 10%")
	expect(t, "compare", errs, "read p99 from 72.3ms to ≥17.0s, ≥+")
}
