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
	for _, output := range []assign.Output{{Logs: make([]assign.Log, mostLogs+1)}, {Others: others}} {
		if _, err := makePlan(t.Context(), &assign.Run{Output: output}, Options{}, false, nil, &problems{}); err == nil {
			t.Errorf("%d histogram logs and %d completion logs are accepted", len(output.Logs), len(output.Others))
		}
	}
}
