package fioargs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSpans: fio 3.33 takes as long, and some tenths of a second more to start and end each stage.
func TestSpans(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name, file string
		want       []Span
	}{
		{"side by side", "[a]\nruntime=3\n[b]\nruntime=2\nramp_time=2\n[c]\nruntime=1\nstartdelay=1\n", []Span{{0, 0, 3 * s}, {0, 2 * s, 4 * s}, {0, 1 * s, 2 * s}}},
		{"one after another", "[a]\nstonewall\nruntime=3\nramp_time=1\n[b]\nruntime=1\n[c]\nstonewall\nruntime=2\n[d]\nruntime=1\n",
			[]Span{{0, 1 * s, 4 * s}, {0, 0, 1 * s}, {1, 4 * s, 6 * s}, {1, 4 * s, 5 * s}}},
		{"a delay that has passed", "[a]\nruntime=3\n[b]\nstonewall\nstartdelay=2\nruntime=2\n", []Span{{0, 0, 3 * s}, {1, 3 * s, 5 * s}}},
		{"a delay that has not", "[a]\nruntime=3\n[b]\nstonewall\nstartdelay=5\nruntime=2\n", []Span{{0, 0, 3 * s}, {1, 5 * s, 7 * s}}},
		{"wait_for", "[a]\nruntime=3\n[b]\nruntime=9\n[c]\nwait_for=a\nruntime=1\nramp_time=1\n", []Span{{0, 0, 3 * s}, {0, 0, 9 * s}, {0, 4 * s, 5 * s}}},
		{"global stonewall", "[global]\nstonewall\nruntime=1\n[a]\n[b]\n", []Span{{0, 0, 1 * s}, {1, 1 * s, 2 * s}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Parse([]string{"job.fio"}, func(string) ([]byte, error) { return []byte(tt.file), nil })
			if err != nil {
				t.Fatal(err)
			}
			var runs []time.Duration
			for _, s := range c.Jobs {
				o, _ := s.Get("runtime")
				runs = append(runs, o.Time())
			}
			if diff := cmp.Diff(tt.want, Spans(c.Jobs, runs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
