package cbt

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fio2es/fio2es/internal/safeyaml"
	"github.com/fio2es/fio2es/pipeline/source"
)

// yamlLimits are those of a configuration. CBT's largest have some 10 KB, some hundred values
// and mappings of some dozen keys. The parser itself limits the depth.
var yamlLimits = safeyaml.Limits{Bytes: 1 << 20, Values: 100_000, Text: 4 << 20, Keys: 10_000, Depth: 1 << 20}

var errEmpty = errors.New("no configuration in it")

// readYAML reads a whole configuration file. yaml's errors have the line.
func readYAML(ctx context.Context, f *source.File) (map[string]any, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, int64(yamlLimits.Bytes)+1))
	if err != nil {
		return nil, err
	}
	m, err := parseYAML(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return m, nil
}

func parseYAML(ctx context.Context, data []byte) (map[string]any, error) {
	node, _, err := safeyaml.Parse(ctx, data, yamlLimits)
	if err != nil {
		return nil, err
	}
	var v any
	if node != nil {
		err = node.Decode(&v)
	}
	m := mapping(v)
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
