package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// ErrNotLive means that a run cannot be followed, because its files show nothing, or not enough yet, before it ends.
var ErrNotLive = errors.New("no periodic reports (fio --status-interval=1 --output-format=json+), or fewer than " +
	"three so far")

// Live plans an execution while fio writes its periodic reports, and iterates over its stages from those on that ran before.
// [Stage.Documents] of each passes on a window when no later request can have been in flight in it. This is about 20 seconds
// later, or when the next stage begins. A stage is over when a report has requests of a later one. Each must be read before the
// next one.
//
// Reports end when they have not grown for quiet, or for the time of three reports, or when writing ends: what was read until
// then is passed on, until ctx ends. An error is [ErrNotLive], or that of a context.
func Live(ctx, writing context.Context, run *assign.Run, opt Options, quiet time.Duration) iter.Seq2[*Stage, error] {
	reports := *run // fio writes the logs of a job when it ends, and its reports have all of them
	reports.Logs, reports.Others = nil, nil
	return func(yield func(*Stage, error) bool) {
		of, place := &shared{reported: map[string]bool{}}, run.Archive+":"+run.Name()
		for next, stages, planning, isFollowed := 0, 0, writing, false; ; planning, isFollowed = ctx, true {
			said := &problems{}
			inputs, err := makePlan(planning, &reports, opt, true, &liveFiles{writing, quiet}, said)
			if err != nil {
				if planning.Err() == nil {
					err = fmt.Errorf("%s: %w: %w", place, ErrNotLive, err)
				}
				yield(nil, err)
				return
			}
			if len(inputs) < stages { // jobs that seemed to wait for others run beside them
				next = 0
			}
			stages = len(inputs)
			for stages > 1 && next < stages && !inputs[next].plan.HasBegun() {
				next++
			}
			if next == stages {
				if !isFollowed {
					yield(nil, fmt.Errorf("%s: %w", place, ErrNotLive))
				}
				return
			}
			s := &Stage{input: inputs[next], shared: of, said: said}
			fit, _ := s.input.plan.LimitLevels(opt.levels())
			if len(fit) == 0 || !slices.ContainsFunc(s.input.plan.Jobs, func(j *plan.Job) bool { return j.Source == assign.FromReports }) {
				yield(nil, fmt.Errorf("%s: %w", s.input.plan.Title, ErrNotLive))
				s.input.close(nil)
				return
			}
			isWanted := yield(s, nil)
			s.input.close(nil)
			if !isWanted || s.reader == nil || !s.reader.hasNext() {
				return
			}
			next++
		}
	}
}
