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
	"github.com/fio2es/fio2es/mapping/templates"
)

// maxAnswer is above the size of all templates of a cluster, and of the mappings of years of indices.
const maxAnswer = 16 << 20

type client struct {
	*es.Client
	prefix string
}

// get is nil if there is no such object.
func (c *client) get(ctx context.Context, request esapi.Request) (object, error) {
	answer, err := c.do(ctx, request)
	if es.IsNotFound(err) {
		return nil, nil
	}
	return answer, err
}

// do sends a request and decodes the answer. It adds the request and what to do to an [*es.Error].
func (c *client) do(ctx context.Context, request esapi.Request) (object, error) {
	var answer object
	err := c.Do(ctx, es.Extended{Request: request, MaxAnswer: maxAnswer}, &answer)
	if e, ok := errors.AsType[*es.Error](err); ok {
		err = fmt.Errorf("%s %s: %w%s", e.Method, e.Path, err, c.advice(e))
	}
	return answer, err
}

const advicePassing = ": try again later"

// advice is what can be done about an answer, after a colon; empty if the answer says it.
func (c *client) advice(e *es.Error) string {
	switch {
	case e.IsDiskFull():
		return ""
	case es.Temporary(e):
		return advicePassing
	}
	switch e.Status {
	case http.StatusForbidden:
		if e.Type == es.BlockType {
			return ": the cluster or index is read-only: see its disk watermarks and index.blocks settings"
		}
		return ": missing: " + c.privilege(e.Method, e.Path) + "; docs/elasticsearch.md has a role for setup"
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		if strings.HasPrefix(e.Path, "/_") {
			return ": fio2es needs Elasticsearch 8.6 or later; without lifecycle policies, set elasticsearch.policy to none"
		}
	}
	return ""
}

// privilege is the privilege that a request needs.
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

// object is a policy or component template that the cluster has.
func (c *client) object(ctx context.Context, kind templates.Kind, name string) (object, bool, error) {
	var request esapi.Request = esapi.ClusterGetComponentTemplateRequest{Name: []string{name}}
	if kind == templates.Policy {
		request = esapi.ILMGetLifecycleRequest{Policy: name}
	}
	answer, err := c.get(ctx, request)
	if err != nil || answer == nil {
		return nil, false, err
	}
	if kind == templates.Policy {
		o := answer.At(name, "policy")
		return o, o != nil, nil
	}
	for _, o := range objectsIn(answer, "component_templates") {
		if o["name"] == name {
			return o.At("component_template"), true, nil
		}
	}
	return nil, false, nil
}

// indexTemplates are all index templates of the cluster, by name: those of others may claim the same indices.
func (c *client) indexTemplates(ctx context.Context) (map[string]object, error) {
	answer, err := c.get(ctx, esapi.IndicesGetIndexTemplateRequest{})
	if err != nil {
		return nil, err
	}
	all := map[string]object{}
	for _, o := range objectsIn(answer, "index_templates") {
		if name, ok := o["name"].(string); ok {
			all[name] = o.At("index_template")
		}
	}
	return all, nil
}
