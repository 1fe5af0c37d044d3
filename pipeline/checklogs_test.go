package pipeline

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestTooManyLogs: a run with more logs than can be open at the same time is refused, before any is opened.
func TestTooManyLogs(t *testing.T) {
	others := make([]cbt.Log, mostLogs+1)
	for i := range others {
		others[i].Kind = fiolog.Clat
	}
	for _, output := range []cbt.Output{{Logs: make([]cbt.Log, mostLogs+1)}, {Others: others}} {
		if _, err := makePlan(t.Context(), &cbt.Run{Output: output}, Options{}, false, nil, &problems{}); err == nil {
			t.Errorf("%d histogram logs and %d completion logs are accepted", len(output.Logs), len(output.Others))
		}
	}
}
