package pipeline

import (
	"errors"
	"fmt"
	"testing"
)

// TestUnordered: what workers come upon is sorted, and nothing else.
func TestUnordered(t *testing.T) {
	var p Problems
	p.lose(errors.New("planned: z"))
	p.lose(errors.New("planned: a"))
	end := p.unordered()
	p.lose(errors.New("job 2"))
	p.note("job 3")
	p.lose(errors.New("job 1"))
	p.note("job 2")
	end()
	p.lose(errors.New("all: b"))
	p.lose(errors.New("all: a"))
	if got, want := fmt.Sprint(p.Lost(), p.Notes()), "[planned: z planned: a job 1 job 2 all: b all: a] [job 2 job 3]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
