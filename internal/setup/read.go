package setup

import (
	"context"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/mapping/templates"
)

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
		o := answer.at(name, "policy")
		return o, o != nil, nil
	}
	for _, o := range answer.list("component_templates") {
		if o["name"] == name {
			return o.at("component_template"), true, nil
		}
	}
	return nil, false, nil
}

// indexTemplates are all that the cluster has, by name: those of others may claim the
// same indices.
func (c *client) indexTemplates(ctx context.Context) (map[string]object, error) {
	answer, err := c.get(ctx, esapi.IndicesGetIndexTemplateRequest{})
	if err != nil {
		return nil, err
	}
	all := map[string]object{}
	for _, o := range answer.list("index_templates") {
		if name, ok := o["name"].(string); ok {
			all[name] = o.at("index_template")
		}
	}
	return all, nil
}
