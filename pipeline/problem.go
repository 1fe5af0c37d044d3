package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// maxProblems is how many problems of a run are listed one by one.
const maxProblems = 100

// Problems collects what is wrong with a run's files while the rest of them is read. It is
// safe for concurrent use. The zero value is empty.
type Problems struct {
	mu             sync.Mutex
	skipped, notes messages
}

// messages has the first ten messages of each kind, and the first hundred in all. It counts the others.
type messages struct {
	first []error
	total int
	alike alike.Counter
}

func (m *messages) add(err error) {
	m.total++
	if m.alike.Add(err.Error()) && len(m.first) < maxProblems {
		m.first = append(m.first, err)
	}
}

func (m *messages) all() []error {
	list := slices.Clone(m.first)
	shown := len(list)
	m.alike.More(func(kind string, n int) {
		list = append(list, fmt.Errorf("and %d more like this: %s", n, kind))
		shown += n
	})
	if more := m.total - shown; more > 0 {
		list = append(list, fmt.Errorf("and %d more of the same run", more))
	}
	return list
}

// skip adds an error that says what is missing in the result.
func (p *Problems) skip(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skipped.add(err)
}

// note adds a message about something that the user should know, although nothing is missing.
func (p *Problems) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes.add(fmt.Errorf(format, args...))
}

// take adds what a plan has to say.
func (p *Problems) take(said *plan.Remarks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, err := range said.Skipped {
		p.skipped.add(err)
	}
	for _, err := range said.Notes {
		p.notes.add(err)
	}
}

// unordered sorts what is added before end is called. Workers find problems in any order, and
// a run's document must not depend on it.
func (p *Problems) unordered() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	skipped, notes := len(p.skipped.first), len(p.notes.first)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, added := range [][]error{p.skipped.first[skipped:], p.notes.first[notes:]} {
			slices.SortFunc(added, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		}
	}
}

// Skipped lists what is missing.
func (p *Problems) Skipped() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.skipped.all()
}

// Notes lists what else the user should know.
func (p *Problems) Notes() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.notes.all()
}
