package pipeline

import (
	"fmt"
	"sync"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// problems collects what is wrong with a run's files while the rest of them is read. It is safe for concurrent use. The
// zero value is empty.
type problems struct {
	mu             sync.Mutex
	skipped, notes alike.List[error] // ten of each kind
	isPartial      bool              // totals lack something
	ofPlan         *problems         // what was said of the whole execution before; may be nil
}

// skip adds what is missing in the result, also in its totals.
func (p *problems) skip(format string, args ...any) {
	p.lack(format, args...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isPartial = true
}

// lack adds what is missing in windows, and not in totals, because a report has it.
func (p *problems) lack(format string, args ...any) { p.add(&p.skipped, fmt.Errorf(format, args...)) }

// note adds something that the user should know, although nothing is missing.
func (p *problems) note(format string, args ...any) { p.add(&p.notes, fmt.Errorf(format, args...)) }

// take adds remarks.
func (p *problems) take(r *assign.Remarks) {
	for _, err := range r.Skipped {
		p.skip("%w", err)
	}
	for _, err := range r.Lacking {
		p.lack("%w", err)
	}
	for _, err := range r.Notes {
		p.note("%w", err)
	}
}

func (p *problems) add(to *alike.List[error], err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to.Shown = 10
	to.Add(err.Error(), err)
}

// sort orders the messages. Workers find problems in any order, and a run's document must not depend on it.
func (p *problems) sort() {
	p.skipped.Sort()
	p.notes.Sort()
}

// partial reports whether the totals lack something.
func (p *problems) partial() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isPartial || p.ofPlan != nil && p.ofPlan.partial()
}

// all lists what is missing, and what else the user should know.
func (p *problems) all() (skipped, notes []error) {
	if p.ofPlan != nil {
		skipped, notes = p.ofPlan.all()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range []struct {
		from *alike.List[error]
		to   *[]error
	}{{&p.skipped, &skipped}, {&p.notes, &notes}} {
		of.from.Each(func(_ string, err error, more int) { *of.to = append(*of.to, alike.Wrap(err, more)) })
	}
	return skipped, notes
}
