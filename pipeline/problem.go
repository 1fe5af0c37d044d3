package pipeline

import (
	"fmt"
	"sync"
)

// maxProblems is how many problems of a run are told one by one.
const maxProblems = 100

// Problems collects what was wrong with a run's files while the rest of them went in.
// It is safe for concurrent use; the zero value is empty.
type Problems struct {
	mu    sync.Mutex
	lost  []error
	notes []error
	total int
}

// lose notes something that was left out.
func (p *Problems) lose(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total++
	if len(p.lost) < maxProblems {
		p.lost = append(p.lost, err)
	}
}

// note notes something that the user should know, though nothing was left out.
func (p *Problems) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notes) < maxProblems {
		p.notes = append(p.notes, fmt.Errorf(format, args...))
	}
}

// Lost is what was left out, the first hundred of it one by one.
func (p *Problems) Lost() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := p.lost[:len(p.lost):len(p.lost)]
	if more := p.total - len(lost); more > 0 {
		lost = append(lost, fmt.Errorf("and %d more of the same run", more))
	}
	return lost
}

// Notes is what else there is to know.
func (p *Problems) Notes() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.notes[:len(p.notes):len(p.notes)]
}
