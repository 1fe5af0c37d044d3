package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"

	"github.com/fio2es/fio2es/internal/elastic"
)

var errOdd = errors.New("this is not Elasticsearch's answer; is a proxy in between?")

// refusal adds what users can do about an error of the cluster.
func refusal(err error) error {
	var e *elastic.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Type == elastic.MissingType:
		return fmt.Errorf("%w (%w)", ErrNoIndex, e)
	case e.Status == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", elastic.ErrAuth, e)
	case e.Status == http.StatusForbidden && (e.Type == "" || e.Type == "security_exception"):
		return fmt.Errorf("%w: %w", elastic.ErrForbidden, e)
	}
	return err
}

// ask sends a request, which must be one that may be repeated, and decodes the answer: no
// documents, and at most a page of counts.
func (e *Elastic) ask(ctx context.Context, verb, method, path string, body, answer any) error {
	const most = 4 << 20
	return e.send(ctx, verb, elastic.Request{Method: method, URI: path, Body: body, MaxAnswer: most}, func(r io.Reader) error {
		if err := json.NewDecoder(r).Decode(answer); err != nil {
			return fmt.Errorf("%w: %w", errOdd, err)
		}
		return nil
	})
}

// send sends a request, and says what users can do about an error.
func (e *Elastic) send(ctx context.Context, verb string, r elastic.Request, read func(io.Reader) error) error {
	err := e.client.Do(ctx, r, read)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", verb, ctx.Err())
	}
	return fmt.Errorf("%s: %w", verb, refusal(err))
}

// wait lets some time pass after try failures, more after more, never quite the same so
// that many clients do not come back at once.
func (e *Elastic) wait(ctx context.Context, try int) error {
	pause := min(e.limits.pause<<min(try, 16), e.limits.maxPause)
	return elastic.Sleep(ctx, pause/2+rand.N(pause/2+1))
}
