package pipeline

import (
	"errors"
	"fmt"
	"testing"
)

// TestUnordered: what workers come upon is sorted, and nothing else.
func TestUnordered(t *testing.T) {
	var p Problems
	p.skip(errors.New("planned: z"))
	p.skip(errors.New("planned: a"))
	end := p.unordered()
	p.skip(errors.New("job 2"))
	p.note("job 3")
	p.skip(errors.New("job 1"))
	p.note("job 2")
	end()
	p.skip(errors.New("all: b"))
	p.skip(errors.New("all: a"))
	if got, want := fmt.Sprint(p.Skipped(), p.Notes()), "[planned: z planned: a job 1 job 2 all: b all: a] [job 2 job 3]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
