package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/mapping"
)

// Client sends requests to a cluster, and repeats those that failed and may succeed; an
// [*elastic.Client].
type Client interface {
	Do(ctx context.Context, r elastic.Request, into any) error
}

// Error is an answer of the cluster that is not the one that was hoped for.
type Error struct {
	Method, Path string
	Status       int
	Type, Reason string // as Elasticsearch has it
	Advice       string // what to do; may be empty

	cause error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Status, e.Type)
	for _, more := range [...]string{e.Reason, e.Advice} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// Unwrap is what the client said.
func (e *Error) Unwrap() error { return e.cause }

// maxAnswer is more than all templates of a cluster, or the mappings of years, take.
const maxAnswer = 16 << 20

type client struct {
	Client
	prefix string
}

// get is nil where there is nothing.
func (c *client) get(ctx context.Context, path string) (object, error) {
	answer, err := c.do(ctx, http.MethodGet, path, nil)
	if e, ok := err.(*Error); ok && e.Status == http.StatusNotFound {
		return nil, nil
	}
	return answer, err
}

// do sends a request and decodes the answer; one that is no success is an *Error.
func (c *client) do(ctx context.Context, method, path string, body []byte) (object, error) {
	req := elastic.Request{Method: method, URI: path, MaxAnswer: maxAnswer}
	if body != nil {
		req.Body = body
	}
	var answer object
	err := c.Do(ctx, req, func(r io.Reader) error { return unmarshal(r, &answer) })
	var e *elastic.Error
	switch {
	case err == nil:
		return answer, nil
	case errors.As(err, &e):
		return nil, c.failed(method, path, e, err)
	}
	return nil, fmt.Errorf("%s %s: %w", method, path, err)
}

// failed makes an error of an answer.
func (c *client) failed(method, path string, refusal *elastic.Error, cause error) *Error {
	e := &Error{
		Method: method, Path: path, Status: refusal.Status, Type: cmp.Or(refusal.Type, http.StatusText(refusal.Status)),
		Reason: refusal.Reason, cause: cause,
	}
	e.Advice = c.advice(e)
	return e
}

const advicePassing = "this may pass: try again later"

// advice is what can be done about an answer.
func (c *client) advice(e *Error) string {
	if errors.Is(e.cause, elastic.ErrDiskFull) {
		return elastic.ErrDiskFull.Error()
	}
	switch e.Status {
	case http.StatusUnauthorized:
		return "the cluster does not know who you are: check the API key, or user name and password"
	case http.StatusForbidden:
		if e.Type == elastic.BlockType {
			return "the cluster or index is read-only for now: see its disk watermarks and index.blocks settings"
		}
		return "missing: " + c.privilege(e.Method, e.Path) + "; docs/elasticsearch.md has a role with all that setup needs"
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return advicePassing
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		if strings.HasPrefix(e.Path, "/_") {
			return "fio2es needs Elasticsearch 8.6 or later; where there are no lifecycle policies, set elasticsearch.policy to none"
		}
	}
	return ""
}

// privilege is the one that a request needs.
func (c *client) privilege(method, path string) string {
	switch {
	case strings.HasPrefix(path, "/_ilm/"):
		return "cluster privilege manage_ilm"
	case strings.HasPrefix(path, "/_"):
		return "cluster privilege manage_index_templates"
	case method == http.MethodGet:
		return fmt.Sprintf("index privilege view_index_metadata on %s-*", c.prefix)
	case path == "/"+mapping.RunsIndex(c.prefix):
		return "index privilege create_index on " + mapping.RunsIndex(c.prefix)
	}
	return fmt.Sprintf("index privilege indices:admin/mapping/put on %s-*", c.prefix)
}
