package pipeline_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
)

// theStage calls do with the only stage of an execution.
func theStage(ctx context.Context, run *assign.Run, opt pipeline.Options, absolute bool, do func(*pipeline.Stage) (*pipeline.Result, error)) (result *pipeline.Result, err error) {
	for stage, err := range pipeline.Stages(ctx, run, opt, absolute) {
		if err != nil {
			return nil, err
		}
		if stage.IsDivided() {
			return nil, fmt.Errorf("%s: %d stages, want one", run.Name(), stage.Plan().Stages)
		}
		if result, err = do(stage); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// Read reads the only stage of an execution.
func Read(ctx context.Context, run *assign.Run, opt pipeline.Options, put func(*window.Window) error) (*pipeline.Result, error) {
	return theStage(ctx, run, opt, false, func(s *pipeline.Stage) (*pipeline.Result, error) { return s.Read(ctx, nil, put) })
}

// Documents makes the documents of the only stage of an execution, as a new run. They must be valid.
func Documents(ctx context.Context, run *assign.Run, opt pipeline.Options) (docs []*mapping.Interval, res *pipeline.Result, err error) {
	res, err = theStage(ctx, run, opt, true, func(s *pipeline.Stage) (res *pipeline.Result, err error) {
		e, err := s.Execution(ctx)
		if err != nil || e == nil {
			return s.Planned(), err
		}
		docs, res, err = documentsOf(ctx, s, e.Run)
		return res, err
	})
	return docs, res, err
}

// documentsOf makes the documents of a stage. They must be valid.
func documentsOf(ctx context.Context, s *pipeline.Stage, as mapping.RunInfo) (docs []*mapping.Interval, res *pipeline.Result, err error) {
	res, err = s.Documents(ctx, as, func(_ *window.Window, parts []*mapping.Interval) (err error) {
		for _, d := range parts {
			err = errors.Join(err, d.Check())
		}
		docs = append(docs, parts...)
		return err
	})
	if err == nil {
		err = res.Run.Check()
	}
	return docs, res, err
}

// MakePlan plans the only stage of an execution.
func MakePlan(ctx context.Context, run *assign.Run, opt pipeline.Options) (*pipeline.Result, error) {
	return theStage(ctx, run, opt, true, func(s *pipeline.Stage) (*pipeline.Result, error) { return s.Planned(), nil })
}
