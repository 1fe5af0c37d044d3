package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fio2es/fio2es/internal/alike"
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
	alike alike.Counter // of what was left out
	said  alike.Counter // of notes
}

// lose notes something that was left out.
func (p *Problems) skip(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total++
	if p.alike.Add(err.Error()) && len(p.lost) < maxProblems {
		p.lost = append(p.lost, err)
	}
}

// note notes something that the user should know, though nothing was left out.
func (p *Problems) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := fmt.Errorf(format, args...); p.said.Add(err.Error()) && len(p.notes) < maxProblems {
		p.notes = append(p.notes, err)
	}
}

// unordered sorts what is noted until the function that it returns is called: workers come
// upon it in any order, and a run's document must not depend on that.
func (p *Problems) unordered() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost, notes := len(p.lost), len(p.notes)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, list := range [][]error{p.lost[lost:], p.notes[notes:]} {
			slices.SortFunc(list, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		}
	}
}

// Lost is what was left out, the first ten of each kind and the first hundred of all one by
// one.
func (p *Problems) Skipped() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := p.lost[:len(p.lost):len(p.lost)]
	shown := len(lost)
	p.alike.More(func(kind string, n int) {
		lost = append(lost, fmt.Errorf("and %d more like this: %s", n, kind))
		shown += n
	})
	if more := p.total - shown; more > 0 {
		lost = append(lost, fmt.Errorf("and %d more of the same run", more))
	}
	return lost
}

// Notes is what else there is to know.
func (p *Problems) Notes() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes := p.notes[:len(p.notes):len(p.notes)]
	p.said.More(func(kind string, n int) { notes = append(notes, fmt.Errorf("and %d more like this: %s", n, kind)) })
	return notes
}
