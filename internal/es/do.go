package es

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// ErrAnswer means that an answer has status 200 but not the expected contents.
var ErrAnswer = errors.New("answer is not the expected JSON; is a proxy in between?")

// AnswerError returns what an error about the text of an answer means: [ErrAnswer], or that the answer is cut off, which
// is [Temporary]. It returns nil for other errors.
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
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return cutError{err}
	}
	return nil
}

// Do sends a request and decodes its answer. into is a pointer for JSON ([ErrAnswer]), or a func(io.Reader) error
// that reads the body, or nil. If it has a method Err() error, as [Whole] has, this decides whether the answer is
// complete. A status above 299 is an [*Error]. An answer longer than [Extended].MaxAnswer is
// [ErrTooLong].
//
// Do retries after [Temporary] errors, not before the server's Retry-After. After [Config].GiveUpAfter it fails with
// [ErrGaveUp]. A request that may do harm when it is sent twice is retried only if no connection could be made.
func (c *Client) Do(ctx context.Context, req esapi.Request, into any) error {
	most := c.maxAnswer
	if x, ok := req.(Extended); ok && x.MaxAnswer > 0 {
		most = x.MaxAnswer
	}
	return c.try(ctx, req, func(res *http.Response) error { return c.read(res, most, into) })
}

// try sends a request, with retries, until read accepts its answer.
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

// send sends a request once, and calls read with its answer.
func (c *Client) send(out *http.Request, read func(*http.Response) error) error {
	again := out.Clone(out.Context())
	if out.GetBody != nil {
		again.Body, _ = out.GetBody() // cannot fail: the body is in memory
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

// read reads an answer of at most most bytes.
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
		if err != nil && body.failed == nil && !isPartial(err) {
			err = &unusableError{err}
		}
		return err
	}
	reflect.ValueOf(into).Elem().SetZero() // an earlier answer may have been cut off
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("read answer: %w", cmp.Or(AnswerError(err), err))
	}
	if whole, ok := into.(interface{ Err() error }); ok {
		return whole.Err()
	}
	return nil
}

// isPartial reports whether an answer is not complete, but another attempt may get a complete one.
func isPartial(err error) bool { return errors.As(err, new(cutError)) || errors.Is(err, errTimedOut) }

// cutError means that an answer is empty or cut off.
type cutError struct{ error }

// Error implements error.
func (e cutError) Error() string {
	if errors.Is(e.error, io.EOF) {
		return "it is empty"
	}
	return "it is cut short"
}

// Unwrap returns [io.EOF] or [io.ErrUnexpectedEOF].
func (e cutError) Unwrap() error { return e.error }

// open returns the body of an answer, limited to most bytes. If the answer reports an error, open returns that
// error.
func (s *server) open(res *http.Response, most int64) (*bounded, error) {
	if res.StatusCode > 299 {
		e := readError(res, s.secrets...)
		e.Foreign = e.Foreign && s.service == elasticsearch
		return nil, s.named(e)
	}
	return &bounded{r: res.Body, left: most, most: most}, nil
}

// unusableError is an error in the contents of a complete answer. A retry would get the same answer.
type unusableError struct{ error }

// Unwrap returns the error in the contents.
func (u *unusableError) Unwrap() error { return u.error }

// bounded reads up to a limit. Beyond it, Read fails with ErrTooLong.
type bounded struct {
	r          io.Reader
	left, most int64
	failed     error // error of a Read, other than io.EOF
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
