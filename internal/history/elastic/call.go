package elastic

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
)

// refusal adds what users can do about an error of the cluster.
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

// do sends a request, and says what users can do about an error.
func (e *Store) do(ctx context.Context, verb string, r es.Extended, into any) error {
	return because(ctx, verb, e.client.Do(ctx, r, into))
}

// because says what was tried, and what users can do about an error.
func because(ctx context.Context, verb string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", verb, ctx.Err())
	}
	return fmt.Errorf("%s: %w", verb, refusal(err))
}
