package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fio2es/fio2es/pipeline/internal/alike"
)

// maxProblems is how many problems of a run are listed one by one.
const maxProblems = 100

// Problems collects what is wrong with a run's files while the rest of them is read. It is
// safe for concurrent use. The zero value is empty.
type Problems struct {
	mu      sync.Mutex
	skipped []error
	notes   []error
	total   int
	alike   alike.Counter // of what was skipped
	said    alike.Counter // of notes
}

// skip adds something that is missing in the result.
func (p *Problems) skip(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total++
	if p.alike.Add(err.Error()) && len(p.skipped) < maxProblems {
		p.skipped = append(p.skipped, err)
	}
}

// note adds something that the user should know although nothing is missing.
func (p *Problems) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := fmt.Errorf(format, args...); p.said.Add(err.Error()) && len(p.notes) < maxProblems {
		p.notes = append(p.notes, err)
	}
}

// unordered sorts what is added before end is called. Workers find problems in any order, and
// a run's document must not depend on it.
func (p *Problems) unordered() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	skipped, notes := len(p.skipped), len(p.notes)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, added := range [][]error{p.skipped[skipped:], p.notes[notes:]} {
			slices.SortFunc(added, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		}
	}
}

// Skipped lists what is missing: the first ten of each kind and the first hundred of all one
// by one.
func (p *Problems) Skipped() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.skipped[:len(p.skipped):len(p.skipped)]
	shown := len(list)
	p.alike.More(func(kind string, n int) {
		list = append(list, fmt.Errorf("and %d more like this: %s", n, kind))
		shown += n
	})
	if more := p.total - shown; more > 0 {
		list = append(list, fmt.Errorf("and %d more of the same run", more))
	}
	return list
}

// Notes lists what else the user should know.
func (p *Problems) Notes() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes := p.notes[:len(p.notes):len(p.notes)]
	p.said.More(func(kind string, n int) { notes = append(notes, fmt.Errorf("and %d more like this: %s", n, kind)) })
	return notes
}
