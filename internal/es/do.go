package es

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// ErrAnswer is an answer with status 200 that is not the expected one.
var ErrAnswer = errors.New("answer is not the expected JSON; is a proxy in between?")

// AnswerError is the [ErrAnswer] for an error of encoding/json that is in the text of an answer, and nil for others.
func AnswerError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%w: its field %s is a %s", ErrAnswer, kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%w: it is a %s", ErrAnswer, kind.Value)
	case errors.As(err, &syntax):
		return ErrAnswer
	}
	return nil
}

// Do sends a request and decodes the answer into into: a pointer for JSON ([ErrAnswer]), a
// func(io.Reader) error that reads the body itself, or nil. A status above 299 is an
// [*Error]. An answer longer than [Extended].MaxAnswer fails with [ErrTooLong].
//
// It retries after errors that are [Temporary], for up to [Config].GiveUpAfter ([ErrGaveUp])
// and not before the server's Retry-After. Requests that do harm when they are sent twice are
// retried only if no connection could be made.
func (c *Client) Do(ctx context.Context, req esapi.Request, into any) error {
	most := c.maxAnswer
	if x, ok := req.(Extended); ok && x.MaxAnswer > 0 {
		most = x.MaxAnswer
	}
	return c.try(ctx, req, func(res *http.Response) error { return c.read(res, most, into) })
}

// try sends a request until read has its answer.
func (c *Client) try(ctx context.Context, req esapi.Request, read func(*http.Response) error) error {
	out, err := c.pack.prepare(ctx, req)
	if err != nil {
		return err
	}
	repeatable := isRepeatable(out)
	attempts := c.newAttempts(nil, !repeatable)
	defer attempts.End()
	for {
		next, cancel := attempts.Context(ctx)
		err := c.send(out.WithContext(next), read)
		cancel()
		if err == nil {
			c.waits.succeeded()
			return nil
		}
		if ctx.Err() != nil || !Temporary(err) || !repeatable && !isDial(err) || c.giveUp < 0 {
			return err
		}
		var e *Error
		least := time.Duration(0)
		if errors.As(err, &e) {
			least = e.RetryAfter
		}
		if err := attempts.Wait(ctx, err, least); err != nil {
			return err
		}
	}
}

// send sends a request once.
func (c *Client) send(out *http.Request, read func(*http.Response) error) error {
	again := out.Clone(out.Context())
	if out.GetBody != nil {
		again.Body, _ = out.GetBody() // from memory: cannot fail
	}
	res, err := c.once(again)
	if err != nil {
		return c.failed(err)
	}
	err = read(res)
	var e *Error
	if errors.As(err, &e) {
		e.Method, e.Path = out.Method, out.URL.Path
	}
	return err
}

// read reads an answer of limited size.
func (s *server) read(res *http.Response, most int64, into any) error {
	defer discard(res.Body)
	body, err := s.open(res, most)
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case nil:
		return nil
	case func(io.Reader) error:
		err := into(body)
		if err != nil && body.failed == nil {
			err = &unusableError{err}
		}
		return err
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		if wrong := AnswerError(err); wrong != nil {
			return wrong
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = cutError{err}
		}
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// cutError is the end of an answer that is empty, or shorter than it should be.
type cutError struct{ error }

// Error implements error.
func (e cutError) Error() string {
	if e.error == io.EOF {
		return "it is empty"
	}
	return "it is cut short"
}

// Unwrap is [io.EOF] or [io.ErrUnexpectedEOF].
func (e cutError) Unwrap() error { return e.error }

// open returns the body of an answer, limited to most bytes, or the error that the answer reports.
func (s *server) open(res *http.Response, most int64) (*bounded, error) {
	if res.StatusCode > 299 {
		e := readError(res, s.secrets...)
		e.Foreign = e.Foreign && s.service == elasticsearch
		return nil, s.named(e)
	}
	return &bounded{r: res.Body, left: most, most: most}, nil
}

// unusableError is an error in a complete answer: a retry gets the same.
type unusableError struct{ err error }

// Error implements error.
func (u *unusableError) Error() string { return u.err.Error() }

// Unwrap is what is wrong with it.
func (u *unusableError) Unwrap() error { return u.err }

// bounded reads up to a limit, and then fails with ErrTooLong.
type bounded struct {
	r          io.Reader
	left, most int64
	failed     error // of reading, other than io.EOF
}

func (b *bounded) Read(p []byte) (int, error) {
	n := 0
	err := error(nil)
	if b.left >= 0 {
		n, err = b.r.Read(p[:min(int64(len(p)), b.left+1)])
		b.left -= int64(n)
	}
	if b.left < 0 {
		err = fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, b.most)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.failed = err
	}
	return n, err
}
