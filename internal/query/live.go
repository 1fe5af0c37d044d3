package query

import (
	"context"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// LiveVerdicts returns which rules a live run meets now: the verdicts on the run so far, but for rules about every window
// those on its last windows.
func LiveVerdicts(ctx context.Context, store history.Store, run *mapping.Run, now time.Time) ([]mapping.Verdict, error) {
	const late = 10 * time.Second // windows are stored in less time after they end
	all, back := slices.Clone(run.SLA), time.Minute
	rules := make([]slo.Rule, len(all))
	for i, v := range all {
		if r, err := slo.Parse(v.Rule); err == nil && r.InEveryWindow() { // an error: of another version of fio2es
			rules[i], back = r, max(back, 2*r.Lasts())
		}
	}
	live := slo.NewLive(slices.DeleteFunc(slices.Clone(rules), func(r slo.Rule) bool { return r == slo.Rule{} }))
	if len(run.Levels) == 0 {
		return all, nil
	}
	wanted := history.Selection{Runs: []string{run.Run.ID}, Level: slices.Min(run.Levels), From: run.Run.End.Add(-back)}
	for w, err := range window.Rejoin(store.Intervals(ctx, wanted)) {
		if err == nil {
			_, err = live.Add(w, w.End)
		}
		if err != nil {
			return nil, err
		}
	}
	live.Tick(now.Add(-late))
	broken := map[slo.Rule]bool{}
	for _, a := range live.Alerts() {
		broken[a.Rule] = a.Active
	}
	for i, r := range rules {
		if r != (slo.Rule{}) {
			all[i].Holds = !broken[r]
		}
	}
	return all, nil
}
