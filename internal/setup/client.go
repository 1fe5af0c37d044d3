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

// maxAnswer limits an answer in bytes. It is above the size of all templates of a cluster, and of the mappings of
// years of indices.
const maxAnswer = 16 << 20

type client struct {
	*es.Client
	prefix string
}

// get reads an object. If there is none, it leaves answer empty.
func (c *client) get(ctx context.Context, request esapi.Request, answer any) error {
	err := c.do(ctx, request, answer)
	if es.IsNotFound(err) {
		return nil
	}
	return err
}

// do sends a request and decodes the answer. It adds to an [*es.Error] the request, and what to do.
func (c *client) do(ctx context.Context, request esapi.Request, answer any) error {
	err := c.Do(ctx, es.Limited{Request: request, MaxAnswer: maxAnswer}, answer)
	if e, ok := errors.AsType[*es.Error](err); ok {
		err = fmt.Errorf("%s %s: %w%s", e.Method, e.Path, err, c.advice(e))
	}
	return err
}

const advicePassing = ": try again later"

// advice returns what to do about an error, after a colon. It is empty if the error says so itself.
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

// privilege returns the privilege that a request needs.
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

// object returns a policy or a component template of the cluster, or nil.
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

// indexTemplates returns all index templates of the cluster by name, because templates of others may match the same
// indices.
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
