package evidence

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/safeyaml"
)

const (
	mostYAML    = 1 << 20 // bytes that are read of a configuration; safeyaml takes fewer
	priceOfYAML = 100     // for each byte of a configuration, which takes as long as unpacking so many
)

var errEmpty = errors.New("no configuration in it")

// yamlFile is what a configuration says, or why it cannot be read.
type yamlFile struct {
	m   map[string]any
	err error
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

// ParseYAML parses a configuration, which must be a mapping that is not empty.
func ParseYAML(data []byte) (map[string]any, error) {
	node, _, err := safeyaml.Parse(data)
	if err != nil {
		return nil, err
	}
	var v any
	if node != nil {
		safeyaml.Hide(node)
		keepKeys(node)
		err = node.Decode(&v)
	}
	m, _ := v.(map[string]any)
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
