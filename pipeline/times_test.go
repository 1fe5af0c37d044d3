package pipeline

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// TestErrorOfModificationTimes: without a report, a job may have run for up to an interval after its last row.
func TestErrorOfModificationTimes(t *testing.T) {
	seconds := regexp.MustCompile(`(?m)^(\d+)(\d{3}),`)
	for name, c := range map[string]struct {
		seconds  int
		interval string // of rows, in place of a second
		want     time.Duration
	}{
		"rows of 1 s":  {21, "${1}${2},", plan.ErrorOfCoarse},
		"rows of 10 s": {4, "${1}0${2},", 10 * time.Second},
		"one row":      {2, "${1}0${2},", 10028 * time.Millisecond},
		"no row":       {0, "", time.Minute},
	} {
		var log strings.Builder
		if c.seconds > 0 {
			if _, err := (fiotest.LogSpec{Seconds: c.seconds}).WriteTo(&log); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(t.TempDir(), "x_clat_hist.1.log")
		if err := os.WriteFile(file, []byte(seconds.ReplaceAllString(log.String(), c.interval)), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := Open(t.Context(), []string{file}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := MakePlan(t.Context(), a.Runs[0], Options{})
		if err != nil || p.Plan.Error != c.want {
			t.Errorf("%s: ± %v, %v; want ± %v", name, p.Plan.Error, err, c.want)
		}
		a.Close()
	}
}
