package pipeline_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/pipeline"
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
			if _, err := (fiotest.LogSpec{Seconds: c.seconds}).Write(&log); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(t.TempDir(), "x_clat_hist.1.log")
		if err := os.WriteFile(file, []byte(seconds.ReplaceAllString(log.String(), c.interval)), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := pipeline.Open(t.Context(), []string{file}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := MakePlan(t.Context(), a.Runs[0], pipeline.Options{})
		if err != nil || p.Plan.Error != c.want {
			t.Errorf("%s: ± %v, %v; want ± %v", name, p.Plan.Error, err, c.want)
		}
		a.Close()
	}
}

// TestStartByLastRow: without a report, a run began before its log was written by the time of the last row that counts.
func TestStartByLastRow(t *testing.T) {
	written := time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)
	row := func(ms int) string {
		return fmt.Sprintf("%d, 0, 4096%s, 7%s\n", ms, strings.Repeat(", 0", 600), strings.Repeat(", 0", hist.Fio3(0).Len()-601))
	}
	long := ""
	for i := range 60 {
		long += row((i + 1) * 1000)
	}
	for name, c := range map[string]struct {
		text string
		want int64
	}{
		"rows":             {row(1000) + row(2000) + row(3000), 3000},
		"many rows":        {long, 60000},
		"carriage returns": {strings.ReplaceAll(long, "\n", "\r\n"), 60000},
		"cut":              {long[:len(long)-900], 59000},
		"last row damaged": {long[:len(long)-900] + "x" + long[len(long)-900:], 59000},
		"a blank line":     {long + "\n", 60000},
		"a time leaps":     {long + row(9_000_000_000_000), 60000},
	} {
		for _, packed := range []bool{false, true} {
			file, text := filepath.Join(t.TempDir(), "x_clat_hist.1.log"), []byte(c.text)
			if packed {
				file, text = file+".zst", frame(t, text)
			}
			if err := cmp.Or(os.WriteFile(file, text, 0o600), os.Chtimes(file, written, written)); err != nil {
				t.Fatal(err)
			}
			a, err := pipeline.Open(t.Context(), []string{file}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := MakePlan(t.Context(), a.Runs[0], pipeline.Options{})
			if err != nil || written.Sub(p.Plan.Start).Milliseconds() != c.want {
				t.Errorf("%s, packed %v: %v before, %v; want %d ms", name, packed, written.Sub(p.Plan.Start), err, c.want)
			}
			a.Close()
		}
	}
}
