package kibana

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/fio2es/fio2es/mapping/templates"
)

// fields are the types of all fields, by path, in the two kinds of indices.
type fields struct {
	latencyIndex  *regexp.Regexp
	runsIndex     string
	latency, runs map[string]string
}

// mappedFields are those of the index templates.
func mappedFields(prefix string) (*fields, error) {
	all, err := templates.All(templates.Options{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	f := &fields{
		latencyIndex: regexp.MustCompile(`^` + regexp.QuoteMeta(prefix) + `-latency\.(cluster|host|job)-\*$`),
		runsIndex:    prefix + "-runs",
		latency:      map[string]string{}, runs: map[string]string{},
	}
	into := map[string]map[string]string{prefix + "-latency-mappings": f.latency, prefix + "-runs-mappings": f.runs}
	for _, o := range all {
		if into[o.Name] == nil {
			continue
		}
		var component struct {
			Template struct{ Mappings property }
		}
		if err := json.Unmarshal(o.Body, &component); err != nil {
			return nil, fmt.Errorf("read template %s: %w", o.Name, err)
		}
		component.Template.Mappings.leaves("", into[o.Name])
	}
	return f, nil
}

// property is a field or an object of a mapping.
type property struct {
	Type       string
	Properties map[string]property
	Fields     map[string]property
}

func (p *property) leaves(path string, into map[string]string) {
	if p.Type != "" && p.Type != "object" {
		into[path] = p.Type
	}
	for _, inner := range []map[string]property{p.Properties, p.Fields} {
		for name, f := range inner {
			f.leaves(strings.TrimPrefix(path+"."+name, "."), into)
		}
	}
}

// of are the types of the fields of an index pattern of ours; nil of another's.
func (f *fields) of(index string) map[string]string {
	switch {
	case index == f.runsIndex:
		return f.runs
	case f.latencyIndex.MatchString(index):
		return f.latency
	}
	return nil
}
