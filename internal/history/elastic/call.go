package elastic

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
)

// refusal adds to an error of the cluster what it means for the history.
func refusal(err error) error {
	var e *es.Error
	switch {
	case errors.Is(err, es.ErrConflict):
		return fmt.Errorf("%w: %w", history.ErrBusy, err)
	case !errors.As(err, &e):
		return err
	case e.Type == es.MissingType:
		return fmt.Errorf("%w (%w)", history.ErrNoIndex, e)
	}
	return err
}

// do sends a request.
func (e *Store) do(ctx context.Context, verb string, r es.Extended, into any) error {
	return because(ctx, verb, e.client.Do(ctx, r, into))
}

// because adds to an error what was tried, and what the error means for the history.
func because(ctx context.Context, verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", verb, ctx.Err())
	}
	return fmt.Errorf("%s: %w", verb, refusal(err))
}
