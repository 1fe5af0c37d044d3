package pipeline

import (
	"context"
	"fmt"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// theStage calls do with the only stage of an execution.
func theStage(ctx context.Context, run *cbt.Run, opt Options, absolute bool, do func(*Stage) (*Result, error)) (result *Result, err error) {
	for stage, err := range Stages(ctx, run, opt, absolute) {
		if err != nil {
			return nil, err
		}
		if stage.IsDivided() {
			return nil, fmt.Errorf("%s: %d stages, want one", run.Name(), stage.Stages)
		}
		if result, err = do(stage); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// Read reads the only stage of an execution.
func Read(ctx context.Context, run *cbt.Run, opt Options, put func(*window.Window) error) (*Result, error) {
	return theStage(ctx, run, opt, false, func(s *Stage) (*Result, error) { return s.Read(ctx, nil, put) })
}

// Ingest ingests the only stage of an execution.
func Ingest(ctx context.Context, run *cbt.Run, opt Options, to Sink, known Known) (*Result, error) {
	return theStage(ctx, run, opt, true, func(s *Stage) (*Result, error) { return s.Ingest(ctx, to, known) })
}

// MakePlan plans the only stage of an execution.
func MakePlan(ctx context.Context, run *cbt.Run, opt Options) (*Result, error) {
	return theStage(ctx, run, opt, true, func(s *Stage) (*Result, error) { return s.Planned(), nil })
}
