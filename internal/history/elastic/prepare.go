package elastic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Errors of a cluster that is not ready for documents.
var (
	ErrNoTemplate = errors.New("the cluster is not set up: run fio2es setup")
	ErrAlias      = errors.New("an alias would send documents to an index that is not of fio2es: remove the alias, or choose another prefix")
	ErrMapping    = errors.New("an index was made without its template: delete it, or reindex it, and run fio2es setup")
)

// Prepare fails if nothing can be sent. Its first call checks the cluster, and refreshes the indices, so that
// versions stored by an earlier process are found.
func (e *Store) Prepare(ctx context.Context) error {
	w := e.writer
	w.mu.Lock()
	err := w.fatal
	w.mu.Unlock()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	select {
	case w.preparing <- struct{}{}:
		defer func() { <-w.preparing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if w.isPrepared {
		return nil
	}
	if !e.opt.NoTemplates {
		if err := e.checkTemplates(ctx); err != nil {
			return fmt.Errorf("check index templates: %w", advised(err))
		}
		if err := e.checkMappings(ctx); err != nil {
			return fmt.Errorf("check mappings: %w", advised(err))
		}
	}
	if err := e.client.Refresh(ctx, e.intervals()); err != nil {
		return advised(err)
	}
	w.isPrepared = true
	return nil
}

// checkTemplates fails unless the index templates exist and are not too old ([ErrNoTemplate]). Without templates
// Elasticsearch would guess the mapping from the first document. The histogram would become two lists of numbers:
// every percentile would be empty, and no request would fail.
func (e *Store) checkTemplates(ctx context.Context) error {
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
	err := e.client.Do(ctx, esapi.IndicesGetIndexTemplateRequest{Name: e.prefix + "-*"}, &answer)
	if err != nil && !es.IsNotFound(err) {
		return fmt.Errorf("read index templates %s-*: %w", e.prefix, err)
	}
	have := make(map[string]int)
	for _, t := range answer.Templates {
		version, _ := t.Template.Meta.Version.(float64)
		have[t.Name] = int(version)
	}
	var wrong []string
	for _, name := range templates.Names(e.prefix) {
		switch version, ok := have[name]; {
		case !ok:
			wrong = append(wrong, name+" is missing")
		case version == 0:
			wrong = append(wrong, name+" is not of fio2es (no _meta.version)")
		case version < templates.Version:
			wrong = append(wrong, fmt.Sprintf("%s has version %d, needed is %d", name, version, templates.Version))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %s", ErrNoTemplate, strings.Join(wrong, ", "))
	}
	return nil
}

// checkMappings fails if an index would take the documents without the types of their fields. It may have been made
// before the templates ([ErrMapping]), or be another program's with an alias that has the name of an index of ours
// ([ErrAlias]).
func (e *Store) checkMappings(ctx context.Context) error {
	for pattern, field := range map[string]string{"-latency.*": "latency.histogram", "-runs": "all.latency.histogram"} {
		pattern, yes := e.prefix+pattern, true
		var answer map[string]struct {
			Mappings map[string]struct {
				Mapping map[string]struct{ Type string }
			}
		}
		err := e.client.Do(ctx, esapi.IndicesGetFieldMappingRequest{
			Index: []string{pattern}, Fields: []string{field}, IgnoreUnavailable: &yes, AllowNoIndices: &yes,
		}, &answer)
		if err != nil && !es.IsNotFound(err) {
			return fmt.Errorf("read mappings of %s: %w", pattern, err)
		}
		for _, index := range slices.Sorted(maps.Keys(answer)) {
			kind := "" // in an index without the field
			for _, in := range answer[index].Mappings[field].Mapping {
				kind = in.Type
			}
			isOurs := strings.HasPrefix(index, e.prefix+"-")
			switch {
			case kind == "histogram", kind == "" && isOurs:
			case isOurs:
				return fmt.Errorf("%w: in %s the type of %s is %q", ErrMapping, index, field, kind)
			default:
				return fmt.Errorf("%w: %s stands for the index %s", ErrAlias, pattern, index)
			}
		}
	}
	return nil
}
