package cbt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/pipeline/source"
)

// Configurations come from archives that anybody may have made, and YAML grows: an alias
// repeats what it names, names of nested keys repeat those above them. So there are limits
// for what is read and for what is made of it. CBT's largest configurations have some
// 10 KB, some hundred nodes and mappings of some dozen keys.
const (
	maxConfig     = 1 << 20 // bytes of a file
	maxNodes      = 100_000 // of a file, with those that aliases repeat
	maxKeys       = 10_000  // of one mapping: each is compared with all others
	maxText       = 4 << 20 // bytes of all scalars, with those that aliases repeat
	maxFlat       = 4 << 20 // bytes of the flattened configuration, names and values
	maxDirectives = 100     // %TAG, each of which is compared with all others
)

// errTooMuch is a configuration beyond a limit.
var errTooMuch = errors.New("more than a configuration of CBT has")

// readYAML reads a whole configuration file. yaml's errors have the line.
func readYAML(ctx context.Context, f *source.File) (map[string]any, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxConfig+1))
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
	if len(data) > maxConfig {
		return nil, fmt.Errorf("%w: longer than %d bytes", errTooMuch, maxConfig)
	}
	if n := bytes.Count(data, []byte("%TAG")); n > maxDirectives {
		return nil, fmt.Errorf("%w: %d times %%TAG", errTooMuch, n)
	}
	var node yaml.Node
	if err := yaml.NewDecoder(&untilDone{ctx, bytes.NewReader(data)}).Decode(&node); err != nil && err != io.EOF {
		return nil, errors.Join(ctx.Err(), err)
	}
	limits := yamlLimits{ctx: ctx}
	if err := limits.add(&node); err != nil {
		return nil, err
	}
	var v any
	if err := node.Decode(&v); err != nil {
		return nil, err
	}
	if v == nil {
		return nil, errEmpty
	}
	m := mapping(v)
	if m == nil {
		return nil, fmt.Errorf("it is a %T, want a mapping", v)
	}
	if len(m) == 0 {
		return nil, errEmpty
	}
	return m, nil
}

// untilDone reads in small pieces until its context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

// Read implements [io.Reader].
func (u *untilDone) Read(p []byte) (int, error) {
	const piece = 4 << 10
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p[:min(len(p), piece)])
}

// yamlLimits counts what a document becomes when its aliases are resolved.
type yamlLimits struct {
	ctx         context.Context
	nodes, text int
	within      []*yaml.Node // aliases that are being resolved
}

// add counts a node and all below it. An alias counts as often as it is used.
func (l *yamlLimits) add(n *yaml.Node) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	l.nodes++
	l.text += len(n.Value)
	switch {
	case l.nodes > maxNodes:
		return fmt.Errorf("line %d: %w: more than %d values, counting each use of an alias", n.Line, errTooMuch, maxNodes)
	case l.text > maxText:
		return fmt.Errorf("line %d: %w: more than %d bytes of text, counting each use of an alias", n.Line, errTooMuch, maxText)
	case n.Kind == yaml.MappingNode && len(n.Content) > 2*maxKeys:
		return fmt.Errorf("line %d: %w: a mapping of more than %d keys", n.Line, errTooMuch, maxKeys)
	case n.Kind == yaml.AliasNode:
		return l.alias(n)
	case n.Kind == yaml.MappingNode:
		if err := onceEach(n.Content); err != nil {
			return err
		}
	}
	for _, c := range n.Content {
		if err := l.add(c); err != nil {
			return err
		}
	}
	return nil
}

// onceEach refuses a mapping that has a key twice. The decoder does so, too, but writes a
// message for each two that are equal.
func onceEach(content []*yaml.Node) error {
	type key struct {
		kind yaml.Kind
		text string
	}
	lines := make(map[key]int, len(content)/2)
	for i := 0; i < len(content); i += 2 {
		n := content[i]
		if first, ok := lines[key{n.Kind, n.Value}]; ok {
			return fmt.Errorf("line %d: the key %.40q is there already, in line %d", n.Line, n.Value, first)
		}
		lines[key{n.Kind, n.Value}] = n.Line
	}
	return nil
}

func (l *yamlLimits) alias(n *yaml.Node) error {
	for _, above := range l.within {
		if above == n.Alias {
			return fmt.Errorf("line %d: the alias %q is part of what it names", n.Line, n.Value)
		}
	}
	l.within = append(l.within, n.Alias)
	err := l.add(n.Alias)
	l.within = l.within[:len(l.within)-1]
	return err
}
