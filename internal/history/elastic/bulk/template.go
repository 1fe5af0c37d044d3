package bulk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/mapping/templates"
)

// Errors of a cluster that is not ready for documents.
var (
	ErrNoTemplate = errors.New("the cluster is not set up: run fio2es setup")
	ErrAlias      = errors.New("an alias would send documents to an index that is not of fio2es: remove the alias, or choose another prefix")
	ErrMapping    = errors.New("an index was made without its template: delete it, or reindex it, and run fio2es setup")
)

// checkTemplates fails unless the cluster is ready for documents: the index templates exist and are not too old
// ([ErrNoTemplate]), and no index was created before them ([ErrMapping]). Without templates Elasticsearch would
// guess the mapping from the first document. The histogram would become two lists of numbers: every percentile would
// be empty, and no request would fail.
func (s *Writer) checkTemplates(ctx context.Context) error {
	if s.opt.NoTemplates {
		return nil
	}
	have, err := s.client.Templates(ctx, s.opt.Prefix+"-*")
	if err != nil {
		return fmt.Errorf("check index templates: %w", advised(err))
	}
	var wrong []string
	for _, name := range templates.Names(s.opt.Prefix) {
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
		return fmt.Errorf("check index templates: %w: %s", ErrNoTemplate, strings.Join(wrong, ", "))
	}
	return s.checkMappings(ctx)
}

// checkMappings fails if an index would take the documents without the types of their fields. It may have been made
// before the templates, or be another program's with an alias that has the name of an index of ours.
func (s *Writer) checkMappings(ctx context.Context) error {
	for pattern, field := range map[string]string{"-latency.*": "latency.histogram", "-runs": "all.latency.histogram"} {
		pattern = s.opt.Prefix + pattern
		types, err := s.client.FieldTypes(ctx, pattern, field)
		if err != nil {
			return fmt.Errorf("check mappings: %w", advised(err))
		}
		for _, index := range slices.Sorted(maps.Keys(types)) {
			switch kind := types[index]; {
			case kind == "histogram", kind == "" && strings.HasPrefix(index, s.opt.Prefix+"-"):
			case strings.HasPrefix(index, s.opt.Prefix+"-"):
				return fmt.Errorf("check mappings: %w: in %s the type of %s is %q", ErrMapping, index, field, kind)
			default:
				return fmt.Errorf("check mappings: %w: %s stands for the index %s", ErrAlias, pattern, index)
			}
		}
	}
	return nil
}
