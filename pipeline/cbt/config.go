package cbt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/safeyaml"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Configs are CBT's YAML files of a run.
type Configs struct {
	Config        *source.File // benchmark_config.yaml, nil where there is none
	ArchiveConfig *source.File // cbt_config.yaml, nil where there is none

	id       string // the id- folder, where CBT writes the first; "" outside its layout
	modeSize bool   // see [place]
}

// Configure reads the run's configuration files and completes its settings. Settings in the path have precedence. It
// returns the whole configuration with dotted names, for searching. With an error it returns what could be read.
func (r *Run) Configure(ctx context.Context) (map[string]any, error) {
	flat := flattener{into: map[string]any{}}
	var errs []error
	switch {
	case r.Config != nil:
		m, err := readYAML(ctx, r.Config)
		errs = append(errs, err, flat.file(r.Config.Name(), "", m))
		r.fill(cluster(m))
	case r.id != "":
		errs = append(errs, fmt.Errorf("read %s: %w", path.Join(r.id, configName), fs.ErrNotExist))
	}
	if r.ArchiveConfig != nil {
		m, err := readYAML(ctx, r.ArchiveConfig)
		c := asMap(m["cluster"])
		errs = append(errs, err, flat.file(r.ArchiveConfig.Name(), "cbt", c))
		r.fillCluster(c)
	}
	return flat.into, errors.Join(errs...)
}

// cluster returns the flat configuration in benchmark_config.yaml, which is under one key there.
func cluster(m map[string]any) map[string]any {
	if c := asMap(m["cluster"]); c != nil {
		return c
	}
	return m
}

const (
	mostYAML    = 1 << 20 // bytes that are read of a configuration; safeyaml takes fewer
	priceOfYAML = 100     // for each byte of a configuration, which takes as long as unpacking so many
)

var errEmpty = errors.New("no configuration in it")

// readYAML reads a whole configuration file. yaml's errors have the line.
func readYAML(ctx context.Context, f *source.File) (map[string]any, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var m map[string]any
	data, err := io.ReadAll(io.LimitReader(in, mostYAML))
	if err = cmp.Or(err, ctx.Err(), f.Budget().Spend(priceOfYAML*int64(len(data)))); err == nil {
		m, err = parseYAML(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return m, nil
}

// keepKeys makes all keys texts as they are written, because YAML takes 1 and 1.0 for two keys, and both print as 1.
func keepKeys(n *yaml.Node) {
	for i, of := range n.Content {
		if key := of; n.Kind == yaml.MappingNode && i%2 == 0 {
			if key.Kind == yaml.AliasNode {
				key = key.Alias
			}
			text := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key.Value, Line: of.Line, Column: of.Column}
			switch {
			case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
				continue
			case key.ShortTag() == "!!null":
				text.Value = "null"
			}
			n.Content[i] = text
			continue
		}
		keepKeys(of)
	}
}

func parseYAML(data []byte) (map[string]any, error) {
	node, _, err := safeyaml.Parse(data)
	if err != nil {
		return nil, err
	}
	var v any
	if node != nil {
		keepKeys(node)
		err = node.Decode(&v)
	}
	m := asMap(v)
	switch {
	case err != nil:
		return nil, err
	case v != nil && m == nil:
		return nil, fmt.Errorf("it is a %T, want a mapping", v)
	case len(m) == 0:
		return nil, errEmpty
	}
	return m, nil
}
