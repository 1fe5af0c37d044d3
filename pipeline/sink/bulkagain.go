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
	start := time.Now()
	until := start.Add(s.opt.MaxRetryTime)
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
		s.waiting(time.Since(start), err)
		delay := elastic.Backoff(attempt)
		if known {
			delay = max(delay, e.RetryAfter)
		}
		if err := elastic.Sleep(ctx, min(delay, time.Until(until))); err != nil {
			return err
		}
	}
}

// How long the cluster may take nothing before the user is told, and told again.
const (
	quietAtFirst = 10 * time.Second
	quietAfter   = 30 * time.Second
)

// waiting tells the user, now and then, that it is the cluster that one waits for.
func (s *Elastic) waiting(since time.Duration, cause error) {
	if s.opt.Waiting == nil || since < quietAtFirst {
		return
	}
	s.mu.Lock()
	now := time.Now()
	tell := now.Sub(s.said) >= quietAfter
	if tell {
		s.said = now
	}
	s.mu.Unlock()
	if !tell {
		return
	}
	s.report.Lock()
	defer s.report.Unlock()
	s.opt.Waiting(since, cause)
}
