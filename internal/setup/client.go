package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping"
)

// maxAnswer is more than all templates of a cluster, or the mappings of years, take.
const maxAnswer = 16 << 20

type client struct {
	*es.Client
	prefix string
}

// get is nil where there is nothing.
func (c *client) get(ctx context.Context, request esapi.Request) (object, error) {
	answer, err := c.do(ctx, request)
	if es.IsNotFound(err) {
		return nil, nil
	}
	return answer, err
}

// do sends a request and decodes the answer. An [*es.Error] comes with the request and
// what to do.
func (c *client) do(ctx context.Context, request esapi.Request) (object, error) {
	var answer object
	err := c.Do(ctx, es.Extended{Request: request, MaxAnswer: maxAnswer}, &answer)
	var e *es.Error
	if errors.As(err, &e) {
		err = fmt.Errorf("%s %s: %w%s", e.Method, e.Path, err, c.advice(e))
	}
	return answer, err
}

const advicePassing = ": this may pass: try again later"

// advice is what can be done about an answer, after a colon; empty where it says so itself.
func (c *client) advice(e *es.Error) string {
	if e.IsDiskFull() {
		return ""
	}
	switch e.Status {
	case http.StatusForbidden:
		if e.Type == es.BlockType {
			return ": the cluster or index is read-only for now: see its disk watermarks and index.blocks settings"
		}
		return ": missing: " + c.privilege(e.Method, e.Path) + "; docs/elasticsearch.md has a role with all that setup needs"
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return advicePassing
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		if strings.HasPrefix(e.Path, "/_") {
			return ": fio2es needs Elasticsearch 8.6 or later; where there are no lifecycle policies, set elasticsearch.policy to none"
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
