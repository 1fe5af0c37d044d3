package sink

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/elastic"
)

// again does what the client repeats as long as that can help, and says what to do about
// errors that stay.
func (s *Elastic) again(_ context.Context, do func() error) error {
	err := do()
	var e *elastic.Error
	if errors.As(err, &e) && advise(e) != nil {
		return fmt.Errorf("%w: %w", advise(e), err)
	}
	return err
}
