package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
)

// again does what can be done twice without harm until it succeeds, for as long as that
// can be hoped for. It is the only one who tries again: the client does not.
func (s *Elastic) again(ctx context.Context, do func() error) error {
	until := time.Now().Add(s.opt.MaxRetryTime)
	for attempt := 0; ; attempt++ {
		err := do()
		var e *elastic.Error
		known := errors.As(err, &e)
		switch {
		case err == nil:
			return nil
		case known && advise(e) != nil:
			return fmt.Errorf("%w: %w", advise(e), err)
		case !elastic.Temporary(err) || ctx.Err() != nil:
			return err
		case !time.Now().Before(until):
			return fmt.Errorf("%w for %v, last: %w", ErrNoProgress, s.opt.MaxRetryTime, err)
		}
		delay := elastic.Backoff(attempt)
		if known {
			delay = max(delay, e.RetryAfter)
		}
		if err := elastic.Sleep(ctx, min(delay, time.Until(until))); err != nil {
			return err
		}
	}
}
