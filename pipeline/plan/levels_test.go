package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/mapping"
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
		said, levels, jobs := &Remarks{}, tt.levels, []*Job(nil)
		if levels == nil {
			levels = all[:2]
		}
		for i := range tt.jobs {
			jobs = append(jobs, &Job{JobKey: JobKey{Host: fmt.Sprint(i % tt.hosts)}})
		}
		p := &planner{&Plan{opt: Options{Levels: levels}, Jobs: jobs}, nil, said}
		err := p.limitLevels()
		got := p.Levels
		if (err != nil) != tt.fails || !slices.Equal(got, tt.want) || len(said.Skipped) != tt.skipped {
			t.Errorf("%d hosts, %d jobs, levels %v: got %v, %v, %v; want %v", tt.hosts, tt.jobs, tt.levels, got, err, said.Skipped, tt.want)
		}
	}
}
