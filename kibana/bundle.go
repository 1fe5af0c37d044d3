package kibana

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
)

// DefaultPrefix begins the names of indices where nothing else is said.
const DefaultPrefix = "fio"

// DefaultSpace is the space that every Kibana has.
const DefaultSpace = "default"

// Options say whose history is shown, and where.
type Options struct {
	Prefix string // of index names; empty: [DefaultPrefix]
	Space  string // of Kibana, its identifier; empty: [DefaultSpace]
}

// Bundle is everything that fio2es has for Kibana, for one prefix and one space.
type Bundle struct {
	Space    string    // that it is for; empty: the default one
	Objects  []Object  // each after those that it refers to
	Requests []Request // of Vega panels, for tests: what a cluster has to answer

	specs map[string][]byte
}

// New assembles all saved objects. It fails when the sources do not fit together, or not
// the fields of documents.
//
// Ids hold prefix and space: Kibana gives an object another id when one in another space
// has it already, and links to it would lead nowhere.
func New(opt Options) (*Bundle, error) {
	bundle, err := newBundle(opt, objects())
	if err != nil {
		return nil, fmt.Errorf("assemble saved objects: %w", err)
	}
	return bundle, nil
}

func newBundle(opt Options, files fs.FS) (*Bundle, error) {
	b, err := newBuilder(opt, files)
	if err != nil {
		return nil, err
	}
	bundle, err := b.assemble(opt.Space)
	if err != nil {
		return nil, err
	}
	if err := bundle.check(b.fields); err != nil {
		return nil, err
	}
	return bundle, nil
}

// Spec is the Vega specification of a panel; nil if it has none.
func (b *Bundle) Spec(panel string) []byte { return b.specs[panel] }

// WriteNDJSON writes what Kibana's import takes: one object per line. The same bundle is
// the same text.
func (b *Bundle) WriteNDJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, o := range b.Objects {
		if err := encoder.Encode(o); err != nil {
			return fmt.Errorf("write saved objects: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write saved objects: %w", err)
	}
	return nil
}

// builder assembles a bundle.
type builder struct {
	sources
	fields   *fields
	views    map[string]dataView // by the names of their files, as all of these
	panels   map[string]Object
	specs    map[string][]byte
	requests []Request
}

var spaceID = regexp.MustCompile(`^[a-z0-9_-]*$`)

func newBuilder(opt Options, files fs.FS) (*builder, error) {
	if opt.Prefix == "" {
		opt.Prefix = DefaultPrefix
	}
	if !spaceID.MatchString(opt.Space) {
		return nil, fmt.Errorf("%q is not the identifier of a space: lower-case letters, digits, _ and -", opt.Space)
	}
	mapped, err := mappedFields(opt.Prefix)
	if err != nil {
		return nil, err
	}
	own := opt.ids()
	return &builder{
		sources: sources{files, map[string]string{"prefix": opt.Prefix}, func(name string) string { return own + name }},
		fields:  mapped, views: map[string]dataView{}, panels: map[string]Object{}, specs: map[string][]byte{},
	}, nil
}

// ids is what the ids of all objects begin with. A space has no dots in it, so no two
// pairs of prefix and space have the same.
func (o Options) ids() string {
	own := "fio2es-"
	if o.Prefix != DefaultPrefix {
		own = "fio2es." + o.Prefix + "."
	}
	if o.Space != "" && o.Space != DefaultSpace {
		own += o.Space + "-"
	}
	return own
}

// assemble makes all objects: first those that others refer to.
func (b *builder) assemble(space string) (*Bundle, error) {
	bundle := &Bundle{Space: space, specs: b.specs}
	for _, step := range []struct {
		folder string
		make   func(name string) (Object, error)
	}{{"dataviews", b.dataView}, {"panels", b.panel}, {"dashboards", b.dashboard}} {
		list, err := b.names(step.folder)
		if err != nil {
			return nil, err
		}
		for _, name := range list {
			object, err := step.make(name)
			if err != nil {
				return nil, fmt.Errorf("%s/%s.json: %w", step.folder, name, err)
			}
			if step.folder == "panels" {
				b.panels[name] = object
			}
			bundle.Objects = append(bundle.Objects, object)
		}
	}
	bundle.Requests = b.requests
	return bundle, nil
}
