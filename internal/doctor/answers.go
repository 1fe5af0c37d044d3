// Package doctor finds what fio2es can say of a run: from its files, or, before it runs, from the options of fio. Both
// give [Answers], and a test compares them.
package doctor

import (
	"slices"
	"time"
)

// Answers is what fio2es can say of a run, and what it cannot.
type Answers struct {
	Of    string // a section of fio, a benchmark of CBT, or a run
	Hosts int    // 0 where only the files will show it
	Jobs  int
	From  From          // what latencies over time come from
	Every time.Duration // the length of windows; 0 without any
	End   End
	Whole Whole
	Start string  // the evidence for the start, as in clock.source of documents
	Error float64 // of percentiles, a share; 0 without any
	Lost  []Loss
}

// From is the source of latencies over time.
type From string

// The sources of latencies over time, the best first. Averages have no percentiles.
const (
	Logs        From = "histogram log"
	Completions From = "completions"
	Reports     From = "periodic reports"
	Averages    From = "averages"
	Nothing     From = "nothing"
)

// hasPercentiles reports whether there are percentiles over time.
func (f From) hasPercentiles() bool { return f == Logs || f == Completions || f == Reports }

// End says whether the last interval of each job, which fio does not log, is known.
type End string

// The values of End. It is empty without percentiles over time.
const (
	Complete End = "complete"
	Cut      End = "lost"
	NoEnd    End = ""
)

// Whole is what is known of the latencies of the whole run.
type Whole string

// What is known of a whole run. FioOwn are fio's own percentiles, of one job only, because they cannot be merged.
const (
	Percentiles Whole = "percentiles"
	FioOwn      Whole = "fio's own"
	Rates       Whole = "rates, mean"
	Unknown     Whole = "nothing"
)

// Loss is something that fio2es will not be able to say, with the remedy.
type Loss struct {
	What    string // what is lost, and why
	Changes []Change
}

// Change is a line to add, to remove or to change.
type Change struct {
	Where string // such as "job.fio, [global]", or "command line"
	Old   string // empty: Line is added
	Line  string // empty: Old is removed
}

// lose adds a loss.
func (a *Answers) lose(what string, changes ...Change) { a.Lost = append(a.Lost, Loss{what, changes}) }

// Changes returns the changes of all losses, each once.
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

// IsLossy reports whether anything is lost.
func IsLossy(all []Answers) bool {
	return slices.ContainsFunc(all, func(a Answers) bool { return len(a.Lost) > 0 })
}
