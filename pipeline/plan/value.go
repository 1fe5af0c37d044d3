package plan

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// Plan is what is known of one stage of an execution before its rows are read. An execution is one call of fio on each of
// its hosts. Its stages ran one after another, each between two stonewalls, and each is a run of its own. In a stage,
// sections ran side by side, and each has jobs, which did the same. For each job the plan has the host, the source of rows,
// the entry of fio's output, start and end, and how each is known.
//
// It does not change afterwards. Windows, documents and the run document are functions of the plan and of the rows.
type Plan struct {
	Title    string // in messages
	Stage    int    // number of the stage, from 1
	Stages   int    // of the execution
	Name     string // of the stage: its sections in fio's report
	Run      *assign.Run
	Config   map[string]any   // of CBT
	Outputs  []*assign.Output // what its fios printed
	Entries  []*assign.Entry  // of the jobs of the stage in these outputs
	Sections []Section
	Jobs     []*Job                   // of all sections, in the order of their logs and reports
	Averages []assign.Log             // in place of rows
	JobsOf   map[*assign.Entry][]*Job // of the execution

	moment        // start of the first job, by the weakest evidence of all jobs
	Placed string // how jobs that ran one after another, or may have, were placed; empty if none did
	Window int64  // milliseconds
	Shift  int64  // the windows begin this long before the run, to follow its rows

	opt Options
}

// NameIn returns the name of the stage as a run, from that of the execution.
func (p *Plan) NameIn(execution string) string {
	if p.Stages <= 1 {
		return execution
	}
	return strings.TrimPrefix(execution+"/"+p.Name, "/") // not cleaned, because names of sections may have slashes
}

// At returns the time so many milliseconds after the start.
func (p *Plan) At(ms int64) time.Time { return p.Start.Add(time.Duration(ms) * time.Millisecond) }

// Section is the jobs of a stage that do the same: of one section of the job file, or of several that do not differ in
// what fio measures.
type Section struct {
	Name     string            // of its sections in the job file, see [JoinNames]; no two of a stage have the same
	Settings mapping.CBT       // those that fio's options name; zero is unknown
	Options  map[string]string // of fio, which all its jobs have
	Jobs     []*Job
}

// JobOf returns the job that wrote a log, or nil if none did.
func (p *Plan) JobOf(log assign.Log) *Job {
	for _, j := range p.Jobs {
		if j.JobKey == assign.KeyOf(log) {
			return j
		}
	}
	return nil
}

// HostNames returns the hosts of some jobs, in order. A host without a name is "".
func HostNames(jobs []*Job) []string {
	hosts := map[string]bool{}
	for _, j := range jobs {
		hosts[j.Host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}

// HasSections reports whether the jobs of the stage did not all do the same, and it is known which did what.
func (p *Plan) HasSections() bool {
	return len(p.Sections) > 1 && !slices.ContainsFunc(p.Jobs, func(j *Job) bool { return j.Entry == nil })
}

// Options are the settings of users that decide how a run is planned.
type Options struct {
	assign.Options
	Window  time.Duration            // 0: the usual length
	Start   time.Time                // of the run, if its files do not show it
	Absent  bool                     // the start may stay unknown
	Offsets map[string]time.Duration // corrections of the clocks of hosts: they are added to the starts of jobs
	ByJob   bool                     // each job counts from its own start
}

// planner is a plan in the making. Its methods are the steps.
type planner struct {
	*Plan
	ev       *assign.Evidence
	problems *assign.Remarks
	needs    map[assign.Need]bool
	doubted  map[*assign.Output]bool // that nothing says when its groups of jobs ran was said
}
