package pipeline

import (
	"fmt"
	"testing"
)

// TestUnordered: what workers come upon is sorted, and nothing else.
func TestUnordered(t *testing.T) {
	p := problems{ofPlan: &problems{}}
	p.ofPlan.skip("planned: z")
	p.ofPlan.skip("planned: a")
	p.skip("job 2")
	p.note("job 3")
	p.skip("job 1")
	p.note("job 2")
	p.sort()
	p.skip("all: b")
	p.skip("all: a")
	if got, want := fmt.Sprint(p.all()), "[planned: z planned: a job 1 job 2 all: b all: a] [job 2 job 3]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
