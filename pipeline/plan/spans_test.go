package plan

import (
	"strings"
	"testing"
	"time"
)

// TestApart: jobs that did not run together make rates too low, and hosts that began apart may have a wrong clock.
func TestApart(t *testing.T) {
	at := func(host string, start, end int64) *Job { // milliseconds
		return &Job{JobKey: JobKey{Host: host}, moment: moment{Start: time.UnixMilli(start)}, Ran: end - start}
	}
	for _, c := range []struct {
		name   string
		unsure time.Duration
		jobs   []*Job
		want   string
		doubt  bool
	}{
		{"one host", 500, []*Job{at("a", 0, 10000)}, "", false},
		{"together", 500, []*Job{at("a", 0, 10000), at("b", 1000, 9000)}, "", false},
		{"one within another's, then a third", 10000, []*Job{at("a", 0, 20000), at("b", 1000, 2000), at("c", 15000, 20000)}, "", false},
		{"no more apart than is known", 6000, []*Job{at("a", 0, 10000), at("b", 12000, 20000)}, "", false},
		{"one after another", 500, []*Job{at("a", 0, 10000), at("b", 0, 11000), at("c", 90000, 100000)}, `host "c" began 1m19s after`, false},
		{"jobs of one host", 100, []*Job{at("a", 0, 20000), at("a", 5000, 20000)}, "", false},
		{"a little", 100, []*Job{at("b", 0, 20000), at("a", 1500, 20000)}, "", false},
		{"seconds", 100, []*Job{at("b", 0, 20000), at("a", 3000, 20000)}, `host "b" began 3.0 s before host "a": `, true},
		{"the last of several", 100, []*Job{at("b", 0, 20000), at("c", 1000, 20000), at("b", 2000, 20000), at("a", 2500, 20000), at("c", 9000, 20000)}, "FIO2ES_OFFSET=b=2500 (milliseconds)", true},
	} {
		p := &Plan{Jobs: c.jobs, Timing: Timing{moment: moment{Error: c.unsure * time.Millisecond}}}
		got, isDoubt := p.Apart(func(*Job) int64 { return 0 })
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || isDoubt != c.doubt {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
