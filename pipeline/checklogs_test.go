package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestTooManyLogs: a run with more logs than can be open at the same time is refused, before any is opened.
func TestTooManyLogs(t *testing.T) {
	others := make([]assign.Log, pipeline.MostLogs+1)
	for i := range others {
		others[i].Kind = fiolog.Clat
	}
	for _, run := range []*assign.Run{{Logs: make([]assign.Log, pipeline.MostLogs+1)}, {Others: others}} {
		result, err := Read(t.Context(), run, pipeline.Options{}, func(*window.Window) error { return nil })
		if err != nil || result.Run != nil || !strings.Contains(fmt.Sprint(result.Skipped), "logs of one run, want at most") {
			t.Errorf("%d histogram logs and %d completion logs: %v, %+v", len(run.Logs), len(run.Others), err, result)
		}
	}
}
