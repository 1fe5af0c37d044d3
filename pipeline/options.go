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
	"github.com/fio2es/fio2es/pipeline/assign"
)

// Align says how windows are aligned for jobs that did not start together.
type Align string

// The ways to align jobs.
const (
	AlignRun Align = "run" // wall-clock time: jobs that started later come later
	AlignJob Align = "job" // each job counts from its own start
)

// defaultTolerance is how far a row may extend beyond a window and still count as a whole there, as a share of its
// length. fio's rows end a few milliseconds late.
const defaultTolerance = 0.05

// Options set how documents are made. The zero value has the defaults.
type Options struct {
	Window    time.Duration   // 0: the shortest multiple of the logs' interval that is at least a second, or five intervals where several fios began apart
	Precision align.Precision // windows are joined until they are this precise; Longest is ignored
	Weighting align.Weighting // in flight by default
	SpreadAll bool            // in-flight weights for short requests, too
	Tolerance float64         // share of a row; 0: 0.05, more for short rows; negative: none
	Levels    []mapping.Level // empty: cluster, host and section
	Align     Align           // empty: AlignRun
	Source    Source          // empty: SourceHist

	Program string            // version of the reading program, for run documents
	Archive string            // replaces the archive's name in documents
	Labels  map[string]string // for every run; an empty value removes the label from the store
	Force   bool              // also store runs that the store has, and replace runs that have more files

	// Start is the start of a run whose files do not show it. Offsets are corrections of the clocks of hosts: they are
	// added to the start of the jobs.
	Start   time.Time
	Offsets map[string]time.Duration

	// Bins is what the user says about the bins of histogram logs, because fio was rebuilt with more groups. Its unit is
	// that of other logs, too.
	Bins hist.Hint

	// Coarseness is the least coarseness of the bins of windows and totals, as fio's log_hist_coarseness. All numbers of
	// documents come from these bins.
	Coarseness int

	// Confidence is that of the intervals of percentiles in documents of windows, such as 0.95; 0: without them.
	Confidence float64

	// Alone means that the logs were named one by one, and no other files are expected.
	Alone bool

	Workers int // goroutines that parse; 0: one for each CPU
}

// ArchiveOf returns the archive of a run for documents.
func (o *Options) ArchiveOf(run *assign.Run) string { return cmp.Or(o.Archive, run.Archive) }

// LabelsOver returns the labels that a run gets from an ingest which found these labels of an earlier one. A label without a
// value removes that label.
func (o *Options) LabelsOver(earlier map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, earlier)
	maps.Copy(all, o.Labels)
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	if len(all) == 0 {
		return nil
	}
	return all
}

func (o *Options) levels() []mapping.Level {
	if len(o.Levels) == 0 {
		return []mapping.Level{mapping.Cluster, mapping.Host, mapping.Section}
	}
	levels := slices.Clone(o.Levels)
	slices.Sort(levels)
	return slices.Compact(levels)
}

// tolerance returns the share of its length by which a row may extend beyond a window.
func (o *Options) tolerance() float64 {
	if o.Tolerance == 0 {
		return defaultTolerance
	}
	return max(o.Tolerance, 0)
}

// Fingerprint returns a text of all options that can change documents, names, labels or ids of runs of the same files.
func (o *Options) Fingerprint() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s archive %q alone %v", o.settings(), o.Archive, o.Alone)
	for _, k := range slices.Sorted(maps.Keys(o.Labels)) {
		fmt.Fprintf(&b, " %q=%q", k, o.Labels[k])
	}
	return b.String()
}

// settings returns a text of all options, except labels, that change the documents of the same files. The number in it
// is the version of the algorithms.
func (o *Options) settings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "4 %v %v %v %v %v %v %v %v %v", o.Window, o.Precision, o.Weighting, o.SpreadAll, o.tolerance(),
		o.levels(), o.Align == AlignJob, o.Source == SourceRaw, o.Start.UTC())
	if o.Bins != (hist.Hint{}) {
		fmt.Fprintf(&b, " bins %v", o.Bins)
	}
	if o.Confidence > 0 {
		fmt.Fprintf(&b, " confidence %v", o.Confidence)
	}
	if o.Coarseness > 0 {
		fmt.Fprintf(&b, " coarseness %d", o.Coarseness)
	}
	for _, k := range slices.Sorted(maps.Keys(o.Offsets)) {
		fmt.Fprintf(&b, " %q+%v", k, o.Offsets[k])
	}
	return b.String()
}

// Source selects the kind of logs that windows are made of, if a run has several.
type Source string

// The sources. The zero value is SourceHist.
const (
	SourceHist Source = "hist" // histogram logs, else completions, else periodic reports
	SourceRaw  Source = "raw"  // logs of all completions
)
