package assign

import (
	"slices"
	"testing"
)

// optionsOf are the options of a job "a". Some of them are those of all jobs.
func optionsOf(own, global map[string]string) JobOptions {
	return JobOptions{JobName: "dir/a", Own: own, Global: global}
}

// TestMayWrite: the prefix of a job's logs is in its options, or else it is the job's name.
func TestMayWrite(t *testing.T) {
	for _, c := range []struct {
		own, global map[string]string
		want        []string
	}{
		{nil, nil, []string{"a"}},
		{map[string]string{"write_hist_log": "/tmp/x"}, nil, []string{"x"}},
		{nil, map[string]string{"write_hist_log": "x"}, []string{"x"}},
		{map[string]string{"write_lat_log": "logs/y"}, nil, []string{"a", "y"}},
		{map[string]string{"write_hist_log": "x"}, map[string]string{"write_lat_log": "y"}, []string{"x"}},
	} {
		o := optionsOf(c.own, c.global)
		for _, prefix := range []string{"a", "dir", "x", "y", ""} {
			if got := o.mayWrite(prefix); got != slices.Contains(c.want, prefix) {
				t.Errorf("%v, %v: %q: %v", c.own, c.global, prefix, got)
			}
		}
	}
}
