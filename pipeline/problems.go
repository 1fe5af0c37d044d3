package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fio2es/fio2es/internal/alike"
)

// maxProblems is how many problems of a run are listed one by one.
const maxProblems = 100

// problems collects what is wrong with a run's files while the rest of them is read. It is safe for concurrent use. The
// zero value is empty.
type problems struct {
	mu             sync.Mutex
	skipped, notes problemList
	ofPlan         *problems // what was said of the whole execution before; may be nil
}

// problemList has the first ten messages of each kind, and the first hundred in all. It counts the others.
type problemList struct {
	first []error
	total int
	alike alike.Counter
}

// skip adds what is missing in the result.
func (p *problems) skip(format string, args ...any) { p.add(&p.skipped, fmt.Errorf(format, args...)) }

// note adds something that the user should know, although nothing is missing.
func (p *problems) note(format string, args ...any) { p.add(&p.notes, fmt.Errorf(format, args...)) }

func (p *problems) add(to *problemList, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to.total++
	if to.alike.Add(err.Error()) && len(to.first) < maxProblems {
		to.first = append(to.first, err)
	}
}

// sort orders the messages. Workers find problems in any order, and a run's document must not depend on it.
func (p *problems) sort() {
	for _, list := range [][]error{p.skipped.first, p.notes.first} {
		slices.SortFunc(list, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	}
}

// all lists what is missing, and what else the user should know.
func (p *problems) all() (skipped, notes []error) {
	if p.ofPlan != nil {
		skipped, notes = p.ofPlan.all()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lists := [2][]error{}
	for i, of := range []*problemList{&p.skipped, &p.notes} {
		list := slices.Clone(of.first)
		shown := len(list)
		of.alike.More(func(kind string, n int) {
			list = append(list, fmt.Errorf("and %d more like this: %s", n, kind))
			shown += n
		})
		if more := of.total - shown; more > 0 {
			list = append(list, fmt.Errorf("and %d more of the same run", more))
		}
		lists[i] = list
	}
	return append(skipped, lists[0]...), append(notes, lists[1]...)
}
