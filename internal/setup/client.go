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

// get leaves the answer empty if there is no such object.
func (c *client) get(ctx context.Context, request esapi.Request, answer any) error {
	err := c.do(ctx, request, answer)
	if es.IsNotFound(err) {
		return nil
	}
	return err
}

// do sends a request and decodes the answer. It adds the request and what to do to an [*es.Error].
func (c *client) do(ctx context.Context, request esapi.Request, answer any) error {
	err := c.Do(ctx, es.Extended{Request: request, MaxAnswer: maxAnswer}, answer)
	if e, ok := errors.AsType[*es.Error](err); ok {
		err = fmt.Errorf("%s %s: %w%s", e.Method, e.Path, err, c.advice(e))
	}
	return err
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

// object is a policy or component template that the cluster has, nil if there is none.
func (c *client) object(ctx context.Context, kind templates.Kind, name string) (object, error) {
	if kind == templates.Policy {
		var answer map[string]struct{ Policy object }
		err := c.get(ctx, esapi.ILMGetLifecycleRequest{Policy: name}, &answer)
		return answer[name].Policy, err
	}
	var answer struct {
		Templates []struct {
			Name     string
			Template object `json:"component_template"`
		} `json:"component_templates"`
	}
	err := c.get(ctx, esapi.ClusterGetComponentTemplateRequest{Name: []string{name}}, &answer)
	for _, t := range answer.Templates {
		if t.Name == name {
			return t.Template, err
		}
	}
	return nil, err
}

// indexTemplates are all index templates of the cluster, by name: those of others may claim the same indices.
func (c *client) indexTemplates(ctx context.Context) (map[string]object, error) {
	var answer struct {
		Templates []struct {
			Name     string
			Template object `json:"index_template"`
		} `json:"index_templates"`
	}
	err := c.get(ctx, esapi.IndicesGetIndexTemplateRequest{}, &answer)
	all := map[string]object{}
	for _, t := range answer.Templates {
		all[t.Name] = t.Template
	}
	return all, err
}
