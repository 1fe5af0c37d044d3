package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// TestLogsWrittenAgain: two executions of fio in one folder, with the same names of logs. The logs are of the second one,
// and the names of the reports do not matter.
func TestLogsWrittenAgain(t *testing.T) {
	stamp := regexp.MustCompile(`"timestamp(_ms)?" : ([0-9]+)`)
	const earlier = 3600
	older := func(report string) string { // an hour earlier, with a request more
		report = stamp.ReplaceAllStringFunc(report, func(s string) string {
			var at int64
			name, _, _ := strings.Cut(s, " : ")
			fmt.Sscan(s[len(name)+3:], &at)
			by := int64(earlier)
			if strings.Contains(name, "_ms") {
				by *= 1000
			}
			return fmt.Sprintf("%s : %d", name, at-by)
		})
		return strings.Replace(report, `"total_ios" : 10000`, `"total_ios" : 10001`, 1)
	}
	for name, change := range map[string]func(first, second string) (string, string){
		"bins in both":          func(first, second string) (string, string) { return first, second },
		"no bins in the first":  func(first, second string) (string, string) { return withoutBins(first), second },
		"no bins in the second": func(first, second string) (string, string) { return withoutBins(first), withoutBins(second) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyCorpus(t, "two-jobs-rw")
			report := filepath.Join(dir, "out.txt")
			text, err := os.ReadFile(report)
			if err != nil {
				t.Fatal(err)
			}
			first, second := change(older(string(text)), string(text))
			for name, text := range map[string]string{report: first, filepath.Join(dir, "second.json"): second} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, res := readRun(t, dir, "", pipeline.Options{Levels: []mapping.Level{mapping.Cluster}})
			expectErrors(t, "notes", res.Notes[:1], []string{"out.txt: the logs that it names are of another execution of fio, that of " + filepath.Join(dir, "second.json")})
			at := stamp.FindStringSubmatch(string(text))
			var written int64
			fmt.Sscan(at[2], &written)
			if off := time.Unix(written, 0).Sub(res.Run.Run.Start); off < 0 || off > 10*time.Minute {
				t.Errorf("began %v before the second report", off)
			}
		})
	}
}
