package fioargs

import (
	"fmt"
	"time"
)

// Rows says how often fio writes a row into its histogram logs, and how coarse the bins of rows are.
type Rows struct {
	Every      time.Duration
	Coarseness int
}

// BytesOfRow is what fio keeps in memory of each row of a direction until the job ends, at any coarseness.
const BytesOfRow = 14_900

// mostRows is how many rows fit into 256 MB, which a fio may take for them.
const mostRows = 256_000_000 / BytesOfRow

// RowsOf returns the rows for the jobs of a command on each of several hosts, by its options alone, so that all hosts choose alike:
// those of [RowsFor], or each second if a runtime is unknown.
func RowsOf(jobs []*Section) Rows {
	seconds := 0.0
	for _, s := range jobs {
		_, directions := ParseMode(s.Value("rw"))
		runtime := s.Time("runtime")
		if runtime == 0 {
			return Rows{Every: time.Second}
		}
		seconds += runtime.Seconds() * float64(s.Jobs()*len(directions))
	}
	return RowsFor(seconds)
}

// RowsFor returns the shortest rows with which fio keeps at most [mostRows] in memory, but no longer ones than a second. seconds is the time that all jobs run, summed up,
// and for each direction. Windows of several hosts cut the rows of those that began later, so the shorter rows are, the less is an
// estimate. Bins are coarser then, because files would be large otherwise, and the totals come from reports. fio2es-fio does the same,
// and makes rows longer than a second where these would take more.
func RowsFor(seconds float64) Rows {
	least := time.Duration(seconds / mostRows * float64(time.Second))
	for _, every := range []time.Duration{100, 250, 500} {
		if every *= time.Millisecond; least <= every {
			return Rows{every, 2}
		}
	}
	return Rows{Every: time.Second}
}

// Options returns the options of fio that set the rows.
func (r Rows) Options() []string {
	options := []string{fmt.Sprintf("log_hist_msec=%d", r.Every.Milliseconds())}
	if r.Coarseness > 0 {
		options = append(options, fmt.Sprintf("log_hist_coarseness=%d", r.Coarseness))
	}
	return options
}
