package pipeline

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestTooManyLogs: a run with more logs than can be open at the same time is refused, before any is opened.
func TestTooManyLogs(t *testing.T) {
	others := make([]assign.Log, mostLogs+1)
	for i := range others {
		others[i].Kind = fiolog.Clat
	}
	for _, run := range []*assign.Run{{Logs: make([]assign.Log, mostLogs+1)}, {Others: others}} {
		if _, err := makePlan(t.Context(), run, Options{}, false, nil, &problems{}); err == nil {
			t.Errorf("%d histogram logs and %d completion logs are accepted", len(run.Logs), len(run.Others))
		}
	}
}
