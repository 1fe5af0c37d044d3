// Package plan decides from evidence what is known of a run before its rows are read: which files belong together, what
// the rows of each job are read from, when each job ran, and how surely. It opens no file: package pipeline gathers the
// evidence and reads the rows afterwards.
//
// Times in a log are milliseconds, of a clock that the plan finds out. Times of jobs are absolute.
package plan

// New plans a run: which files belong together, what the rows of each job are read from, and when the jobs ran. Faults of
// single files are added to problems. It fails if nothing can be used, or if the start is needed and unknown.
func New(ev *Evidence, opt Options, problems *Remarks) (*Plan, error) {
	p := &planner{&Plan{opt: opt, Run: ev.Run, Config: ev.Config, Outputs: ev.Outputs}, ev, problems}
	jobs, averaged := p.findJobs()
	p.Entries = p.attribute(jobs)
	p.choose(jobs, averaged)
	if err := p.place(); err != nil {
		return nil, err
	}
	if err := p.windows(); err != nil {
		return nil, err
	}
	if err := p.limitLevels(); err != nil {
		return nil, err
	}
	p.Stages = p.stages()
	return p.Plan, nil
}
