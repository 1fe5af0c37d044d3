package align

import "cmp"

// Level is what windows are separate for.
type Level uint8

// The levels.
const (
	Cluster Level = iota + 1 // all jobs on all hosts
	Host                     // all jobs on one host
	Job                      // one job on one host
	Section                  // the jobs of a section on all hosts
)

// Levels are all levels.
var Levels = [...]Level{Cluster, Host, Job, Section}

// compareJobs orders names of jobs. Numbers are ordered by length first, so job 2 comes before job 10.
func compareJobs(a, b string) int {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	if a != "" && b != "" && isDigit(a[0]) && isDigit(b[0]) {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}
