package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fio2es/fio2es/mapping"
)

// Transport sends requests to a cluster and gives back whatever it answers.
type Transport interface {
	Perform(*http.Request) (*http.Response, error)
}

// Error is an answer of the cluster that is not the one that was hoped for.
type Error struct {
	Method, Path string
	Status       int
	Type, Reason string // as Elasticsearch has it
	Advice       string // what to do; may be empty
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

// maxAnswer is more than all templates of a cluster, or the mappings of years, take.
const maxAnswer = 16 << 20

type client struct {
	transport Transport
	prefix    string
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
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, path, reader)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.transport.Perform(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read answer to %s %s: %w", method, path, err)
	}
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("read answer to %s %s: it has more than %d bytes", method, path, maxAnswer)
	}
	if resp.StatusCode/100 != 2 {
		return nil, c.failed(method, path, resp.StatusCode, text)
	}
	var answer object
	if err := unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("read answer to %s %s: %w", method, path, err)
	}
	return answer, nil
}

// failed makes an error of an answer: "error" in it is an object, a text, or missing.
func (c *client) failed(method, path string, status int, text []byte) *Error {
	e := &Error{Method: method, Path: path, Status: status, Type: http.StatusText(status)}
	var answer struct{ Error json.RawMessage }
	var cause struct{ Type, Reason string }
	if json.Unmarshal(text, &answer) == nil {
		if json.Unmarshal(answer.Error, &cause) == nil && cause.Type != "" {
			e.Type, e.Reason = cause.Type, cause.Reason
		} else {
			_ = json.Unmarshal(answer.Error, &e.Reason) // else it stays empty
		}
	}
	e.Advice = c.advice(e)
	return e
}

const advicePassing = "this may pass: try again later"

// advice is what can be done about an answer.
func (c *client) advice(e *Error) string {
	switch e.Status {
	case http.StatusUnauthorized:
		return "the cluster does not know who you are: check the API key, or user name and password"
	case http.StatusForbidden:
		if e.Type == "cluster_block_exception" {
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
