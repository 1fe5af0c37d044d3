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
	"strings"

	"github.com/fio2es/fio2es/internal/elastic"
)

var (
	errOdd   = errors.New("this is not Elasticsearch's answer; is a proxy in between?")
	errLarge = errors.New("the answer is too large")
)

// cause is Elasticsearch's way to say what went wrong.
type cause struct {
	Type      string  `json:"type"`
	Reason    string  `json:"reason"`
	Index     string  `json:"index"`
	RootCause []cause `json:"root_cause"`
	CausedBy  *cause  `json:"caused_by"`
}

// UnmarshalJSON takes both forms: an object, or a text alone.
func (c *cause) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &c.Reason)
	}
	type plain cause // without this method
	return json.Unmarshal(text, (*plain)(c))
}

// refusal is the error of an answer that says no, an [*elastic.Error]; the ones that
// users can do something about are wrapped in what that is.
func refusal(status int, body []byte) error {
	e := parseRefusal(status, body)
	switch {
	case e.Type == "index_not_found_exception":
		return fmt.Errorf("%w (%w)", ErrNoIndex, e)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", elastic.ErrAuth, e)
	case status == http.StatusForbidden && (e.Type == "" || e.Type == "security_exception"):
		return fmt.Errorf("%w: %w", elastic.ErrForbidden, e)
	}
	return e
}

func parseRefusal(status int, body []byte) *elastic.Error {
	const longest = 1000
	var answer struct {
		Error    cause `json:"error"`
		Failures []struct {
			Cause cause `json:"cause"`
		} `json:"failures"`
	}
	e := &elastic.Error{Status: status}
	if json.Unmarshal(body, &answer) != nil {
		e.Foreign = len(body) > 0 // such as a proxy's page
		return e
	}
	c := answer.Error
	switch {
	case c.Type == "search_phase_execution_exception" && len(c.RootCause) > 0:
		c = c.RootCause[0] // "all shards failed" helps nobody
	case c.Type == "search_phase_execution_exception" && c.CausedBy != nil:
		c = *c.CausedBy
	case c.Type == "" && len(answer.Failures) > 0:
		c = answer.Failures[0].Cause
	}
	e.Type, e.Reason, e.Index = c.Type, c.Reason, c.Index
	if len(e.Reason) > longest {
		e.Reason = strings.ToValidUTF8(e.Reason[:longest], "") + "…"
	}
	return e
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

// send reads the answer into buf. It tries again what can heal by itself.
func (e *Elastic) send(ctx context.Context, buf *bytes.Buffer, verb, method, path string, body any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s: encode request: %w", verb, err)
		}
	}
	for try := 0; ; try++ {
		err := e.once(ctx, buf, method, path, text)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", verb, ctx.Err())
		}
		if try+1 >= e.limits.tries || errors.Is(err, errLarge) || !elastic.Temporary(err) {
			return fmt.Errorf("%s: %w", verb, err)
		}
		if err := e.wait(ctx, try); err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
	}
}

func (e *Elastic) once(ctx context.Context, buf *bytes.Buffer, method, path string, text []byte) error {
	body := io.Reader(http.NoBody)
	if text != nil {
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if text != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := e.transport.Perform(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	buf.Reset()
	if _, err := buf.ReadFrom(io.LimitReader(answer.Body, e.limits.answer+1)); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return refusal(answer.StatusCode, buf.Bytes())
	}
	if int64(buf.Len()) > e.limits.answer {
		return fmt.Errorf("above %d bytes: %w", e.limits.answer, errLarge)
	}
	return nil
}

// wait lets some time pass after try failures, more after more, never quite the same so
// that many clients do not come back at once.
func (e *Elastic) wait(ctx context.Context, try int) error {
	pause := min(e.limits.pause<<min(try, 16), e.limits.maxPause)
	return elastic.Sleep(ctx, pause/2+rand.N(pause/2+1))
}
