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
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Errors of a cluster that is not ready for documents.
var (
	ErrNoTemplate = errors.New("the cluster is not set up: run fio2es setup")
	ErrAlias      = errors.New("an alias would send documents to an index that is not of fio2es: remove the alias, or choose another prefix")
	ErrMapping    = errors.New("an index was made without its template: delete it, or reindex it, and run fio2es setup")
)

// Prepare fails if the cluster is not ready for documents. Its first call checks that, and refreshes the indices, so that
// versions stored by an earlier process are found.
func (e *Store) Prepare(ctx context.Context) error { return e.prepare(ctx, true) }

// prepare prepares the store, and makes visible what is stored, unless the caller does not look at it: many hosts that begin to
// send to one run at once would make each index refresh as often.
func (e *Store) prepare(ctx context.Context, looks bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case e.preparing <- struct{}{}:
		defer func() { <-e.preparing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !e.isPrepared {
		for _, check := range []func(context.Context) error{e.checkTemplates, e.checkMappings} {
			if err := check(ctx); err != nil {
				return advised(err)
			}
		}
		e.isPrepared = true
	}
	if looks && !e.isRefreshed {
		if err := e.client.Refresh(ctx, e.intervals()); err != nil {
			return advised(err)
		}
		e.isRefreshed = true
	}
	return nil
}

// checkTemplates fails unless the index templates exist and are not too old ([ErrNoTemplate]). They say which period indices
// have. Without templates
// Elasticsearch would guess the mapping from the first document. The histogram would become two lists of numbers:
// every percentile would be empty, and no request would fail.
func (e *Store) checkTemplates(ctx context.Context) error {
	var answer struct {
		Templates []struct {
			Name     string `json:"name"`
			Template struct {
				Meta templates.Meta `json:"_meta"`
			} `json:"index_template"`
		} `json:"index_templates"`
	}
	err := e.client.Do(ctx, esapi.IndicesGetIndexTemplateRequest{Name: e.prefix + "-*"}, &answer)
	if err != nil && !es.IsNotFound(err) {
		return fmt.Errorf("read index templates %s-*: %w", e.prefix, err)
	}
	wrong := templates.Names(e.prefix)
	for _, t := range answer.Templates {
		if t.Template.Meta.Months {
			e.period = mapping.Months
		}
		if t.Template.Meta.Version >= templates.Version {
			wrong = slices.DeleteFunc(wrong, func(name string) bool { return name == t.Name })
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: it lacks version %d of the index templates %s", ErrNoTemplate, templates.Version, strings.Join(wrong, ", "))
	}
	return nil
}

// checkMappings fails if an index would take the documents without the types of their fields. It may have been made
// before the templates ([ErrMapping]), or be another program's with an alias that has the name of an index of ours
// ([ErrAlias]).
func (e *Store) checkMappings(ctx context.Context) error {
	yes := true
	var answer map[string]struct {
		Mappings map[string]struct {
			Mapping map[string]struct{ Type string }
		}
	}
	err := e.client.Do(ctx, esapi.IndicesGetFieldMappingRequest{
		Index:             []string{e.prefix + "-latency.*", mapping.RunsIndex(e.prefix)},
		Fields:            []string{mapping.HistogramField, "all." + mapping.HistogramField}, // of interval documents and of run documents
		IgnoreUnavailable: &yes, AllowNoIndices: &yes,
	}, &answer)
	if err != nil && !es.IsNotFound(err) {
		return fmt.Errorf("read mappings of %s-*: %w", e.prefix, err)
	}
	for _, index := range slices.Sorted(maps.Keys(answer)) {
		isHistogram := false
		for _, field := range answer[index].Mappings {
			for _, in := range field.Mapping {
				isHistogram = in.Type == "histogram"
			}
		}
		switch isOurs := strings.HasPrefix(index, e.prefix+"-"); {
		case isHistogram:
		case isOurs:
			return fmt.Errorf("%w: %s of %s is not a histogram", ErrMapping, mapping.HistogramField, index)
		default:
			return fmt.Errorf("%w: one of the form %s-* stands for the index %s", ErrAlias, e.prefix, index)
		}
	}
	return nil
}
