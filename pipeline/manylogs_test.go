package pipeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline"
)

// TestManyLogs reads a run of very many small logs. With FIO2ES_TEST_SCALE=1 it has as many as a run may have. Open logs would take more
// memory for their buffers.
func TestManyLogs(t *testing.T) {
	logs, most := memtest.Scale(700, pipeline.MostLogs), int64(memtest.Scale(30<<20, 300<<20))
	var text strings.Builder
	row := strings.Repeat(", 0, 0, 0, 0, 0, 0, 0, 7", 232)
	for i := range 18 {
		fmt.Fprintf(&text, "%d, 0, 4096%s\n", 1000*(i+1), row)
	}
	in := tarred(logs, func(i int) string {
		return fmt.Sprintf("results/00000000/id-7c1f03ab/output.%d_clat_hist.1.log.h%d", i/10, i%10)
	}, func(i int) string {
		return text.String() + fmt.Sprintf("19000, 0, 4096%s, %d\n", strings.Repeat(", 0", 1855), i) // so that none are copies
	})
	windows := 0
	used := memtest.Measure(t, func() {
		a, err := pipeline.Open(context.Background(), []string{"-"}, in, nil)
		if err != nil || len(a.Runs) != 1 || len(a.Runs[0].Logs) != logs {
			t.Fatalf("%v, not one run of %d logs", err, logs)
		}
		defer a.Close()
		var read *pipeline.Stage
		for read, err = range pipeline.Stages(context.Background(), a.Runs[0], pipeline.Options{}, false) {
			if err == nil {
				_, err = read.Read(context.Background(), nil, func(*window.Window) error {
					windows++
					return nil
				})
			}
			if err != nil {
				t.Error(err)
			}
		}
		if n := read.OpenLogs(); n != 0 {
			t.Errorf("%d logs are still open", n)
		}
	})
	t.Logf("%d MB, %v", used.Peak>>20, used.Time)
	if windows == 0 {
		t.Error("no windows")
	}
	if used.Peak > most {
		t.Errorf("it took %d bytes", used.Peak)
	}
}
