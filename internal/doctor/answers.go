// Package doctor finds what fio2es can say about a run: from its files, or, before the run, from the options of fio.
// Both give [Answers], and a test compares the two.
package doctor

import (
	"slices"
	"time"
)

// Answers says what fio2es can say about a run, and what it cannot.
type Answers struct {
	Of    string // name of a section of fio, a benchmark of CBT, or a run
	Hosts int    // 0 if only the files will show it
	Jobs  int
	From  From          // source of latencies over time
	Every time.Duration // length of windows; 0 without latencies over time
	End   End
	Whole Whole
	Start string  // evidence for the start, as in clock.source of documents
	Error float64 // relative error of percentiles over time, as a share; 0 without them
	Lost  []Loss
}

// From is a source of latencies over time.
type From string

// The sources of latencies over time, the best first. Averages have no percentiles.
const (
	Logs        From = "histogram log"
	Completions From = "completions"
	Reports     From = "periodic reports"
	Averages    From = "averages"
	Nothing     From = "nothing"
)

// hasPercentiles reports whether the source has percentiles over time.
func (f From) hasPercentiles() bool { return f == Logs || f == Completions || f == Reports }

// End says whether the last interval of each job, which fio does not log, is known.
type End string

// The values of End. Without percentiles over time it is empty.
const (
	Complete End = "complete"
	Cut      End = "lost"
	NoEnd    End = ""
)

// Whole says what is known about the latencies of the whole run.
type Whole string

// The values of Whole. FioOwn means fio's own percentiles; they are known only if there is a single job, because
// they cannot be merged.
const (
	Percentiles Whole = "percentiles"
	FioOwn      Whole = "fio's own"
	Rates       Whole = "rates, mean"
	Unknown     Whole = "nothing"
)

// Loss is something that fio2es cannot say, and the changes that would mend it.
type Loss struct {
	What    string // what is missing, and why
	Changes []Change
}

// Change is a line to add, to remove or to replace.
type Change struct {
	Where string // such as "job.fio, [global]", or "command line"
	Old   string // empty: Line is added
	Line  string // empty: Old is removed
}

// lose adds a loss.
func (a *Answers) lose(what string, changes ...Change) { a.Lost = append(a.Lost, Loss{what, changes}) }

// Changes returns the changes for all losses, without repetitions.
func Changes(all []Answers) (list []Change) {
	for _, a := range all {
		for _, l := range a.Lost {
			for _, c := range l.Changes {
				if !slices.Contains(list, c) {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// IsLossy reports whether there is any loss.
func IsLossy(all []Answers) bool {
	return slices.ContainsFunc(all, func(a Answers) bool { return len(a.Lost) > 0 })
}
