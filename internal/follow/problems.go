package follow

import (
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/source"
)

// problems reports files that cannot be read, each once. A file that is being copied may be incomplete for a while,
// so a problem is reported after it has lasted for quiet.
type problems struct {
	log      *slog.Logger
	quiet    time.Duration
	since    map[string]time.Time // when each problem of the last look was first seen
	reported map[string]bool
}

// report reports the problems of a look that have lasted long enough. It returns whether there are any.
func (p *problems) report(found []*source.Problem, now time.Time) (lasting bool) {
	before := p.since
	p.since = map[string]time.Time{}
	for _, problem := range found {
		if errors.Is(problem, fs.ErrNotExist) { // the file was renamed or removed after its folder was listed
			continue
		}
		text := problem.Error()
		since, ok := before[text]
		if !ok {
			since = now
		}
		p.since[text] = since
		if now.Sub(since) >= p.quiet {
			p.once(text)
			lasting = true
		}
	}
	return lasting
}

// reportRest reports the problems that are left at the end. It returns whether there are any.
func (p *problems) reportRest() bool {
	for _, text := range slices.Sorted(maps.Keys(p.since)) {
		p.once(text)
	}
	return len(p.since) > 0
}

func (p *problems) once(text string) {
	if !p.reported[text] {
		p.reported[text] = true
		p.log.Warn(text)
	}
}
