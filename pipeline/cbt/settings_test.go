package cbt

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFillOptions: options of fio complete what the path does not say.
func TestFillOptions(t *testing.T) {
	options := map[string]string{
		"rw": "randwrite", "bs": "4KiB", "iodepth": "8", "numjobs": "2", "rwmixread": "70", "runtime": "2m", "ramp_time": "5", "time": "1", "size": "9",
	}
	for _, tt := range []struct {
		options    map[string]string
		from, want Load
	}{
		{options, Load{}, Load{Mode: "randwrite", OpSize: 4096, IODepth: 8, NumJobs: 2, RWMixRead: 70, Runtime: 120, Ramp: 5}},
		{
			options, Load{Mode: "read", OpSize: 1, IODepth: 1, NumJobs: 1, RWMixRead: 1, Runtime: 1, Ramp: 1},
			Load{Mode: "read", OpSize: 1, IODepth: 1, NumJobs: 1, RWMixRead: 1, Runtime: 1, Ramp: 1},
		},
		{map[string]string{"rw": "fast", "bs": "4k-8k", "iodepth": "many", "runtime": "x"}, Load{}, Load{}},
	} {
		s := Settings{Load: tt.from}
		s.fillOptions(tt.options)
		if diff := cmp.Diff(tt.want, s.Load); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.options, diff)
		}
	}
}
