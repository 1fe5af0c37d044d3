// Package safeyaml parses untrusted YAML: configurations in archives, and settings in the current folder. A short
// YAML text can become large, because each alias repeats a value, and some short texts take its parser a long time.
// So there are limits for the text and for its contents.
package safeyaml

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Limits limit a document. Each use of an alias counts.
type Limits struct {
	Bytes  int // size of the text in bytes
	Values int
	Text   int // bytes of all scalars
	Keys   int // in one mapping, because each is compared with all others
	Depth  int // of nested values
}

// maxDirectives limits the number of %TAG directives, because each is compared with all others.
const maxDirectives = 100

// ErrTooMuch means that a text exceeds a limit.
var ErrTooMuch = errors.New("too much YAML")

// Parse parses the first document of a text; without one, first is nil. more reports whether there are further
// documents. Errors have the line number. After ctx has ended, its error is returned.
func Parse(ctx context.Context, text []byte, most Limits) (first *yaml.Node, more bool, err error) {
	if len(text) > most.Bytes {
		return nil, false, fmt.Errorf("%w: longer than %d bytes", ErrTooMuch, most.Bytes)
	}
	if n := bytes.Count(text, []byte("%TAG")); n > maxDirectives {
		return nil, false, fmt.Errorf("%w: %d times %%TAG", ErrTooMuch, n)
	}
	dec := yaml.NewDecoder(&untilDone{ctx, bytes.NewReader(text)})
	var node yaml.Node
	if err := dec.Decode(&node); err == io.EOF {
		return nil, false, nil
	} else if err != nil {
		return nil, false, errors.Join(ctx.Err(), err)
	}
	c := counter{ctx: ctx, most: most}
	if err := c.add(&node, 0); err != nil {
		return nil, false, err
	}
	return &node, dec.Decode(new(yaml.Node)) != io.EOF, nil
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

// counter counts what a document contains after its aliases are resolved.
type counter struct {
	ctx          context.Context
	most         Limits
	values, text int
	within       []*yaml.Node // aliases that are being resolved
}

// add counts a value and all values in it.
func (c *counter) add(n *yaml.Node, depth int) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	c.values++
	c.text += len(n.Value)
	const each = "counting each use of an alias"
	switch {
	case c.values > c.most.Values:
		return fmt.Errorf("line %d: %w: more than %d values, %s", n.Line, ErrTooMuch, c.most.Values, each)
	case c.text > c.most.Text:
		return fmt.Errorf("line %d: %w: more than %d bytes of text, %s", n.Line, ErrTooMuch, c.most.Text, each)
	case depth > c.most.Depth:
		return fmt.Errorf("line %d: %w: nested deeper than %d", n.Line, ErrTooMuch, c.most.Depth)
	case n.Kind == yaml.AliasNode:
		return c.alias(n, depth)
	case n.Kind == yaml.MappingNode && len(n.Content) > 2*c.most.Keys:
		return fmt.Errorf("line %d: %w: a mapping of more than %d keys", n.Line, ErrTooMuch, c.most.Keys)
	case n.Kind == yaml.MappingNode:
		if err := onceEach(n.Content); err != nil {
			return err
		}
	}
	for _, below := range n.Content {
		if err := c.add(below, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c *counter) alias(n *yaml.Node, depth int) error {
	for _, above := range c.within {
		if above == n.Alias {
			return fmt.Errorf("line %d: the alias %q contains itself", n.Line, n.Value)
		}
	}
	c.within = append(c.within, n.Alias)
	err := c.add(n.Alias, depth+1)
	c.within = c.within[:len(c.within)-1]
	return err
}

// onceEach refuses a mapping that has a key twice. The decoder refuses it, too, but it writes a message for each
// pair of equal keys.
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
