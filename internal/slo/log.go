package slo

import (
	"log/slog"

	"github.com/fio2es/fio2es/mapping"
)

// Log logs broken rules as errors and unknown ones as warnings. It returns whether there are any of each.
func Log(log *slog.Logger, run *mapping.RunInfo, verdicts []Verdict) (broken, unknown bool) {
	for i := range verdicts {
		switch v := &verdicts[i]; v.State {
		case Broken:
			broken = true
			log.Error(v.Message(run))
		case Unknown:
			unknown = true
			log.Warn(v.Message(run))
		}
	}
	return broken, unknown
}
