package plan

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestIsAnother: whether a file has reports of two runs of fio, one after another (>>).
func TestIsAnother(t *testing.T) {
	report := func(at, elapsed, ran int64, requests uint64) *fiolog.Report {
		j := fiolog.Job{Name: "a", Elapsed: elapsed, Runtime: ran}
		j.Directions[fiolog.Read] = fiolog.DirectionStats{TotalIOs: requests, Runtime: ran}
		return &fiolog.Report{Timestamp: 1_700_000_000_000 + at, Jobs: []fiolog.Job{j}}
	}
	begins := report(1000, 3563, 0, 5) // the machine was started an hour ago
	begins.Jobs[0].Runtime = 3562272
	for name, c := range map[string]struct {
		was *fiolog.Report
		two bool
	}{
		"the report before":              {report(1000, 1, 1000, 100), false},
		"the moment in which it began":   {begins, false},
		"a run of an hour":               {report(1000, 3563, 3562272, 100), true},
		"a run of a second, long before": {report(-90_000, 1, 1000, 100), true},
	} {
		o := &Output{Fio: c.was}
		if isAnother, hasRun := o.IsAnother(report(2000, 2, 1000, 100)); isAnother && hasRun != c.two || c.two && !isAnother {
			t.Errorf("%s: another %v, which has run %v", name, isAnother, hasRun)
		}
	}
}
