package pipeline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/pipeline/source"
)

// One bad file stops nothing else: what a count costs is charged to its file, which is left out by name.
func TestOneBadFile(t *testing.T) {
	counts := func(n uint64) string {
		return fmt.Sprintf(`{"fio version": "fio-3.36", "timestamp_ms": 1700000000000, "jobs": [{"jobname": "x", "write": {"total_ios": %d, "runtime": 1000}}]}`, n)
	}
	names := []string{"a/out.json", "b/out.json", "c/out.json"}
	for _, tt := range []struct {
		name    string
		bad     string
		isNamed bool
	}{
		{"2^53-1", counts(1<<53 - 1), true},
		{"a wrapped count", counts(1<<64 - 1), true},
		{"as many as a device may serve in a week", counts(1_000_000 * 7 * 86400), false},
		{"jobs without text", tinyJobs(2000), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			texts := []string{fullJob(0), tt.bad, fullJob(0)}
			runs, err := readAll(t.Context(), tarred(len(names), func(i int) string { return names[i] }, func(i int) string { return texts[i] }))
			isNamed := errors.Is(err, source.ErrTooMuch) && strings.Contains(err.Error(), "b/out.json: too much for its size")
			if isNamed != tt.isNamed || runs != map[bool]int{true: 2, false: 3}[tt.isNamed] {
				t.Errorf("%d runs, %v", runs, err)
			}
		})
	}
}
