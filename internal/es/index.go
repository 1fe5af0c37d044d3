package es

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// yes and no are values of options, which are pointers: a pattern may match no index, and indices may be deleted
// meanwhile.
var yes, no = esapi.BoolPtr(true), esapi.BoolPtr(false)

// Refresh makes all documents in the indices (names or patterns) visible to searches. Missing indices are no error.
func (c *Client) Refresh(ctx context.Context, indices ...string) error {
	var answer Whole
	err := c.Do(ctx, small(esapi.IndicesRefreshRequest{Index: indices, IgnoreUnavailable: yes, AllowNoIndices: yes}), &answer)
	if err != nil {
		return fmt.Errorf("refresh %s: %w", strings.Join(indices, ","), err)
	}
	return nil
}

// Templates returns the version (_meta.version, or 0) of each index template whose name matches a pattern, by name.
func (c *Client) Templates(ctx context.Context, pattern string) (map[string]int, error) {
	var answer struct {
		Templates []struct {
			Name     string `json:"name"`
			Template struct {
				Meta struct {
					Version any `json:"version"`
				} `json:"_meta"`
			} `json:"index_template"`
		} `json:"index_templates"`
	}
	err := c.Do(ctx, esapi.IndicesGetIndexTemplateRequest{Name: pattern}, &answer)
	if IsNotFound(err) {
		return map[string]int{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read index templates %s: %w", pattern, err)
	}
	versions := make(map[string]int, len(answer.Templates))
	for _, t := range answer.Templates {
		version, _ := t.Template.Meta.Version.(float64)
		versions[t.Name] = int(version)
	}
	return versions, nil
}

// FieldTypes returns the type of a field in each index that matches a pattern, by index: "" in an index without the
// field. An alias matches, too, and stands for its indices.
func (c *Client) FieldTypes(ctx context.Context, pattern, field string) (map[string]string, error) {
	var answer map[string]struct {
		Mappings map[string]struct {
			Mapping map[string]struct{ Type string }
		}
	}
	err := c.Do(ctx, esapi.IndicesGetFieldMappingRequest{
		Index: []string{pattern}, Fields: []string{field}, IgnoreUnavailable: yes, AllowNoIndices: yes,
	}, &answer)
	if IsNotFound(err) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read mappings of %s: %w", pattern, err)
	}
	types := make(map[string]string)
	for index, in := range answer {
		types[index] = ""
		for _, mapping := range in.Mappings[field].Mapping {
			types[index] = mapping.Type
		}
	}
	return types, nil
}

// IsNotFound reports whether the answer has status 404.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}
