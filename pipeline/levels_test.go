package pipeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// TestLimitLevels: a level with too many documents in a window is left out, and reported.
func TestLimitLevels(t *testing.T) {
	all := []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}
	for _, tt := range []struct {
		hosts, jobs  int
		levels, want []mapping.Level
		skipped      int
		fails        bool
	}{
		{256, 5000, all, all, 0, false},
		{257, 1001, all, []mapping.Level{mapping.Cluster, mapping.Job}, 1, false},
		{257, 5001, all, []mapping.Level{mapping.Cluster}, 2, false},
		{10, 5001, nil, []mapping.Level{mapping.Cluster, mapping.Host}, 0, false},
		{257, 1001, []mapping.Level{mapping.Host}, nil, 1, true},
	} {
		problems, opt, jobs := &Problems{}, Options{Levels: tt.levels}, []*job(nil)
		for i := range tt.jobs {
			jobs = append(jobs, &job{jobKey: jobKey{host: fmt.Sprint(i % tt.hosts)}})
		}
		got, err := limitLevels(jobs, opt.plan(&cbt.Run{}, false), problems)
		if (err != nil) != tt.fails || !slices.Equal(got, tt.want) || len(problems.Skipped()) != tt.skipped {
			t.Errorf("%d hosts, %d jobs, levels %v: got %v, %v, %v; want %v", tt.hosts, tt.jobs, tt.levels, got, err, problems.Skipped(), tt.want)
		}
	}
}

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
