package pipeline

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
)

// Plan says for people what is known of a run before its rows are read.
type Plan struct {
	Start     time.Time // of the first job; zero if unknown
	Clock     string    // where Start comes from: "report", "log_unix_epoch" and so on
	Error     time.Duration
	Window    time.Duration
	Placed    string // how jobs that ran one after another were placed; empty if all began together
	NoWindows string // why there will be no windows; empty if there will be some
	Jobs      []PlanJob

	// Skipped is what will be missing. Notes are other things to know.
	Skipped, Notes []error
}

// PlanJob is one job of a plan.
type PlanJob struct {
	Host    string
	Name    string        // volume and number, as in documents of jobs
	Section string        // its name in fio's report
	Source  string        // what its rows are read from: "histogram log", "completions", "periodic reports", "nothing"
	File    string        // the log's base name, or the report's
	Report  string        // base name of the report that covers it; empty if none does
	Found   string        // how the report was found
	Start   time.Time     // zero if unknown
	Clock   string        // where Start comes from
	Error   time.Duration // Start is known to ± this
	Ran     time.Duration // run time from the report; 0 without a report
}

// MakePlan plans a run: which files belong together, and when the jobs ran. It reads the reports and the first rows of
// logs. It fails if the run cannot be read or ctx ends.
func MakePlan(ctx context.Context, run *cbt.Run, opt Options) (*Plan, error) {
	problems := &Problems{}
	p, err := makePlan(ctx, run, opt, true, nil, problems)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		problems.skip(fmt.Errorf("%s:%s: %w", run.Archive, run.Name(), err))
		return &Plan{Skipped: problems.Skipped(), Notes: problems.Notes()}, nil
	}
	p.close()
	out := p.describe()
	out.Skipped, out.Notes = problems.Skipped(), problems.Notes()
	return out, nil
}

// describe returns the plan for people.
func (p *input) describe() *Plan {
	out := &Plan{
		Start: p.Start, Clock: p.Clock.String(), Error: p.Error,
		Window: time.Duration(p.Window) * time.Millisecond, Placed: p.Placed,
	}
	some := false
	for _, j := range p.Jobs {
		some = some || j.HasRows
		one := PlanJob{
			Host: j.Host, Name: j.Name(), Source: j.Source.String(), File: path.Base(j.Log.File.Path),
			Start: j.Start, Clock: j.Clock.String(), Error: j.Error, Ran: time.Duration(j.Ran) * time.Millisecond,
		}
		if j.Entry != nil {
			one.Section, one.Report, one.Found = j.Entry.Name, path.Base(j.Entry.Out.File.Path), j.Entry.Out.Found.String()
		}
		out.Jobs = append(out.Jobs, one)
	}
	if !some {
		out.NoWindows = p.WhyNoWindows()
	}
	return out
}

// why returns a line for each job with its files, its time, and the evidence for these.
func (p *Plan) why() []string {
	var lines []string
	for _, j := range p.Jobs {
		text := fmt.Sprintf("job %s", j.Name)
		if j.Host != "" {
			text += " of " + j.Host
		}
		text += fmt.Sprintf(": rows from %s %s", j.Source, j.File)
		if j.Report != "" {
			text += fmt.Sprintf("; report %s, found %s", j.Report, j.Found)
		}
		if !j.Start.IsZero() {
			text += fmt.Sprintf("; began %s by %s, ±%v", j.Start.UTC().Format("2006-01-02 15:04:05.000"), j.Clock, j.Error)
		}
		if j.Ran > 0 {
			text += fmt.Sprintf(", ran %v", j.Ran)
		}
		lines = append(lines, text)
	}
	return lines
}
