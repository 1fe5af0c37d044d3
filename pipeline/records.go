package pipeline

import (
	"context"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Records passes the rows of the logs that the stage is read from to put: completions, or rows of histograms, as they are
// in the logs, one job after another. A record is valid until put returns. Rows that cannot be read are left out, and
// [Stage.Read] reports them. Jobs that are not read from a log have no records. The error is that of put or of ctx.
func (s *Stage) Records(ctx context.Context, put func(*plan.Job, *fiolog.Record) error) error {
	if s.failed != nil {
		return nil
	}
	one := func(j *plan.Job) error {
		l := s.input.openLog(j.Log)
		defer l.close()
		const often = 1 << 10 // rows
		for n := 0; ; n++ {
			rec, err, ok := l.next()
			if !ok {
				return nil
			}
			if n%often == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil || j.CheckTime(rec.Time) != nil {
				continue
			}
			if err := put(j, rec); err != nil {
				return err
			}
		}
	}
	for _, j := range s.input.plan.Jobs {
		if j.ReadsLog() {
			if err := one(j); err != nil {
				return err
			}
		}
	}
	return nil
}
