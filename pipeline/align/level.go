package align

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
