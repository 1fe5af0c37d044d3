// Package safeyaml parses untrusted YAML: configurations in archives, and settings in the current folder. A short
// text can become large, because each alias repeats a value, and some take long, because each key of a mapping is compared
// with all others.
package safeyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/secret"
)

const (
	mostText = 128 << 10 // bytes; CBT's largest configurations have some 10 KB
	mostWork = 4 << 20   // bytes of scalars, values and pairs of keys, each alias resolved
)

// ErrTooMuch means that a text is too long, or becomes too large.
var ErrTooMuch = errors.New("too much YAML")

var errNoAnchor = errors.New("a value that begins with * is an alias, and there is no such anchor: quote the value")

// Parse parses the first document of a text; without one, first is nil. more reports whether there are further
// documents. Errors have the line number.
func Parse(text []byte) (first *yaml.Node, more bool, err error) {
	if len(text) > mostText {
		return nil, false, fmt.Errorf("%w: longer than %d bytes", ErrTooMuch, mostText)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var node yaml.Node
	if err := dec.Decode(&node); err == io.EOF {
		return nil, false, nil
	} else if err != nil && strings.Contains(err.Error(), "unknown anchor") { // it has the value, perhaps a password
		return nil, false, errNoAnchor
	} else if err != nil {
		return nil, false, err
	}
	if err := check(&node, new(int)); err != nil {
		return nil, false, err
	}
	return &node, dec.Decode(new(yaml.Node)) != io.EOF, nil
}

// check adds the work for a value to work. It refuses a mapping that has a key twice, because the decoder writes a message
// for each pair of equal keys.
func check(n *yaml.Node, work *int) error {
	const ofValue, pairs = 32, 16
	*work += ofValue + len(n.Value)
	if n.Kind == yaml.MappingNode {
		*work += len(n.Content) * len(n.Content) / pairs
	}
	if *work > mostWork {
		return fmt.Errorf("line %d: %w: with each use of an alias it becomes too large", n.Line, ErrTooMuch)
	}
	if n.Kind == yaml.AliasNode {
		return check(n.Alias, work)
	}
	lines := map[string]int{}
	for i, below := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			key := fmt.Sprint(below.Kind, below.Value)
			if first, ok := lines[key]; ok {
				return fmt.Errorf("line %d: the key %.40q is there already, in line %d", below.Line, below.Value, first)
			}
			lines[key] = below.Line
		}
		if err := check(below, work); err != nil {
			return err
		}
	}
	return nil
}

// Hide replaces all secrets below a node of a configuration that is stored or shown: the values of keys such as password, with
// all that is below them, and passwords in other values and in keys.
func Hide(n *yaml.Node) { hide(n, false, map[*yaml.Node]bool{}) }

// hide visits each node at most twice: inSecret, if it is below a secret, and otherwise.
func hide(n *yaml.Node, inSecret bool, seen map[*yaml.Node]bool) {
	if hidden, ok := seen[n]; ok && (hidden || !inSecret) {
		return
	}
	seen[n] = inSecret
	switch {
	case n.Kind == yaml.AliasNode:
		hide(n.Alias, inSecret, seen)
	case n.Kind == yaml.ScalarNode && inSecret && n.Value != "" && n.ShortTag() != "!!null":
		n.Tag, n.Value = "!!str", secret.Hidden
	case n.Kind == yaml.ScalarNode:
		n.Value = secret.Text(n.Value)
	}
	name := ""
	for i, below := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if name = below.Value; below.Kind == yaml.AliasNode {
				name = below.Alias.Value
			}
			hide(below, false, seen)
			continue
		}
		hide(below, inSecret || n.Kind == yaml.MappingNode && secret.IsName(name), seen)
	}
}
