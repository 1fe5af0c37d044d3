package history

import (
	"bytes"
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

// ask sends a request, which must be one that may be repeated, and decodes the answer.
func (e *Elastic) ask(ctx context.Context, verb, method, path string, body, answer any) error {
	var buf bytes.Buffer
	if err := e.send(ctx, &buf, verb, method, path, body); err != nil {
		return err
	}
	if err := json.Unmarshal(buf.Bytes(), answer); err != nil {
		return fmt.Errorf("%s: %w: %w", verb, errOdd, err)
	}
	return nil
}

// send reads the answer into buf.
func (e *Elastic) send(ctx context.Context, buf *bytes.Buffer, verb, method, path string, body any) error {
	err := e.client.Do(ctx, elastic.Request{Method: method, URI: path, Body: body, MaxAnswer: e.limits.answer}, func(r io.Reader) error {
		buf.Reset()
		_, err := buf.ReadFrom(r)
		return err
	})
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
