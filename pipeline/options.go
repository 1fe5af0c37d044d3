package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// Align is what the windows of all jobs have in common.
type Align string

// The ways to line up jobs that did not start together.
const (
	AlignRun Align = "run" // wall-clock time: jobs that started later come later
	AlignJob Align = "job" // every job counts from its own start
)

// DefaultTolerance is how far a row may lie outside a window and still be put there
// whole, as a share of its length: fio's rows end a few milliseconds late.
const DefaultTolerance = 0.05

// Options say how documents are made. The zero value is usual.
type Options struct {
	Window    time.Duration   // 0: the shortest multiple of the logs' own interval that is a second or more
	Precision align.Precision // windows are joined until they have it; its Longest is ours
	Weighting align.Weighting // in flight by default
	SpreadAll bool            // in-flight weights for short requests, too
	Tolerance float64         // 0: DefaultTolerance; less than 0: none
	Levels    []mapping.Level // empty: cluster and host
	Align     Align           // empty: AlignRun
	Source    Source          // empty: SourceHist

	Archive string            // replaces the archive's name in documents
	Labels  map[string]string // for every run; one of an empty value removes what a store has
	Force   bool              // store what a store has already, and in place of more

	// Start is when a run began whose files do not tell. Offsets are corrections of
	// the hosts' clocks, added to the start of their jobs.
	Start   time.Time
	Offsets map[string]time.Duration

	// Bins is what the user knows of the bins of histogram logs, of a fio that was rebuilt
	// with more groups.
	Bins hist.Hint

	// Alone says that the logs were named one by one: nothing is expected beside them.
	Alone bool

	Workers int // goroutines that parse; 0: one for each CPU
}

// ArchiveOf is the archive of a run as documents name it.
func (o *Options) ArchiveOf(run *cbt.Run) string { return cmp.Or(o.Archive, run.Archive) }

func (o Options) levels() []mapping.Level {
	if len(o.Levels) == 0 {
		return []mapping.Level{mapping.Cluster, mapping.Host}
	}
	levels := slices.Clone(o.Levels)
	slices.Sort(levels)
	return slices.Compact(levels)
}

func (o Options) alignLevels() align.Levels {
	var set align.Levels
	for _, l := range o.levels() {
		set = set.With(align.Level(l - mapping.Cluster))
	}
	return set
}

func (o Options) tolerance() float64 {
	if o.Tolerance == 0 {
		return DefaultTolerance
	}
	return max(o.Tolerance, 0)
}

// settings is a text that differs whenever documents made of the same files would, but for
// labels. The number is that of the way they are made: it changes with the algorithms.
func (o Options) settings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "3 %v %v %v %v %v %v %v %v %v", o.Window, o.Precision, o.Weighting, o.SpreadAll, o.tolerance(),
		o.levels(), o.Align == AlignJob, o.Source == SourceRaw, o.Start.UTC())
	if o.Bins != (hist.Hint{}) {
		fmt.Fprintf(&b, " bins %v", o.Bins)
	}
	for _, k := range slices.Sorted(maps.Keys(o.Offsets)) {
		fmt.Fprintf(&b, " %q+%v", k, o.Offsets[k])
	}
	return b.String()
}
