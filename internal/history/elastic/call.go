package elastic

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
)

// do sends a request and decodes its answer.
func (e *Store) do(ctx context.Context, verb string, r es.Limited, into any) error {
	return because(ctx, verb, e.client.Do(ctx, r, into))
}

// because adds to an error what was tried (verb), and the history error that it means.
func because(ctx context.Context, verb string, err error) error {
	var e *es.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, es.ErrConflict):
		err = fmt.Errorf("%w: %w", history.ErrBusy, err)
	case errors.As(err, &e) && e.Type == es.MissingType:
		err = fmt.Errorf("%w (%w)", history.ErrNoIndex, e)
	}
	return fmt.Errorf("%s: %w", verb, err)
}
