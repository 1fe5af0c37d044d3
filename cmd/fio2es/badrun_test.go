package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneBadRun: impossible times in one of three runs do not affect the others. The run itself is stored with the
// evidence that is left.
func TestOneBadRun(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join("..", "..", "testdata", "corpus", "two-jobs-rw")
	report, log := string(unzipped(t, filepath.Join(corpus, "out.txt.gz"))), string(unzipped(t, filepath.Join(corpus, "out_clat_hist.1.log.gz")))
	started := func(ms string) string {
		return strings.ReplaceAll(report, `"jobname"`, `"job_start" : `+ms+`, "jobname"`)
	}
	short := func(lines int) string { return strings.Join(strings.SplitAfter(log, "\n")[:lines], "") }
	epoch := &strings.Builder{}
	for i, line := range strings.Split(strings.TrimSpace(log), "\n") {
		_, rest, _ := strings.Cut(line, ",")
		fmt.Fprintf(epoch, "%d,%s\n", 8836000000000+int64(i)*500, rest)
	}
	for name, c := range map[string]struct{ report, log, want string }{
		"job_start in the year 10000":    {started("253402300800000"), log, "job_start 253402300800000 is in the year 10000, which cannot be"},
		"job_start without bounds":       {started("9223372036854775807"), log, "which cannot be"},
		"timestamp_ms in the year 10000": {strings.Replace(report, `"timestamp_ms" : 1795230643200`, `"timestamp_ms" : 253402300800000`, 1), log, "timestamp_ms 253402300800000"},
		"rows in the year 2250":          {"", epoch.String(), "in the year 2250, which cannot be"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for run, text := range map[string][2]string{"a": {started("1795230000000"), short(3)}, "b": {c.report, c.log}, "c": {started("1795240000000"), short(4)}} {
				check(t, os.Mkdir(filepath.Join(dir, run), 0o755))
				check(t, os.WriteFile(filepath.Join(dir, run, "out_clat_hist.1.log"), []byte(text[1]), 0o600))
				if text[0] != "" {
					check(t, os.WriteFile(filepath.Join(dir, run, "out.txt"), []byte(text[0]), 0o600))
				}
			}
			settings := ownHistory(t)
			var out, errs bytes.Buffer
			if code := run(t.Context(), []string{"--config", settings, "ingest", dir}, nil, &out, &errs); code != exitLeftOut {
				t.Errorf("exit code %d\n%s", code, &errs)
			}
			if !strings.Contains(errs.String(), c.want) {
				t.Errorf("%q is not in\n%s", c.want, &errs)
			}
			for _, run := range []string{":a/out ", ":b/out ", ":c/out "} {
				if !strings.Contains(out.String(), run) {
					t.Errorf("run %s is not there\n%s", run, &out)
				}
			}
			if strings.Contains(out.String(), "10000-") {
				t.Errorf("a run in the year 10000\n%s", &out)
			}
		})
	}
}
