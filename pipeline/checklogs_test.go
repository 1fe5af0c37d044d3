package pipeline

import (
	"testing"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestCheckLogs: a run with more logs than can be open at the same time is refused.
func TestCheckLogs(t *testing.T) {
	for _, tt := range []struct {
		hist, other int
		fails       bool
	}{{0, 0, false}, {mostLogs, mostLogs, false}, {mostLogs + 1, 0, true}, {0, mostLogs + 1, true}} {
		run := &cbt.Run{Output: cbt.Output{Logs: make([]cbt.Log, tt.hist)}}
		for range tt.other {
			run.Others = append(run.Others, cbt.Log{Kind: fiolog.Clat})
		}
		if err := checkLogs(run); (err != nil) != tt.fails {
			t.Errorf("%d histogram logs and %d completion logs: %v", tt.hist, tt.other, err)
		}
	}
}
