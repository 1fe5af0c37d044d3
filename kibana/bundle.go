package kibana

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// DefaultSpace is the space that every Kibana has.
const DefaultSpace = "default"

// Options say whose history is shown, and where.
type Options struct {
	Prefix string // of index names; empty: [mapping.DefaultPrefix]
	Space  string // of Kibana, its identifier; empty: [DefaultSpace]
}

// Bundle is everything that fio2es has for Kibana, for one prefix and one space.
type Bundle struct {
	Space   string            // that it is for; empty: the default one
	Objects []Object          // each after those that it refers to
	Specs   map[string][]byte // Vega specifications by panel: its file in objects/panels, without the ending
}

// New assembles all saved objects. It fails if Kibana or Elasticsearch cannot have such a space or prefix.
//
// Ids have the prefix and the space in them: Kibana gives an object another id when one in another space has it already,
// and links to it would lead nowhere.
func New(opt Options) (*Bundle, error) {
	opt.Prefix = cmp.Or(opt.Prefix, mapping.DefaultPrefix)
	if !spaceID.MatchString(opt.Space) {
		return nil, fmt.Errorf("%q is not the identifier of a space: lower-case letters, digits, _ and -", opt.Space)
	}
	if err := templates.CheckPrefix(opt.Prefix); err != nil {
		return nil, err
	}
	return newBundle(opt, objects()), nil
}

// newBundle assembles the objects of files. These are a part of the program, so it panics if they do not fit together.
func newBundle(opt Options, files fs.FS) *Bundle {
	b := newBuilder(opt, files)
	bundle := &Bundle{Space: opt.Space, Specs: b.specs}
	for _, step := range []struct { // first what others refer to
		folder string
		make   func(name string) Object
	}{{"dataviews", b.dataView}, {"panels", b.panel}, {"dashboards", b.dashboard}} {
		for _, name := range b.names(step.folder) {
			object := step.make(name)
			if step.folder == "panels" {
				b.panels[name] = object
			}
			bundle.Objects = append(bundle.Objects, object)
		}
	}
	return bundle
}

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

type builder struct {
	sources
	runs, latency map[string]string   // types of fields, by path
	views         map[string]dataView // by the names of their files, as all of these
	panels        map[string]Object
	specs         map[string][]byte
}

var spaceID = regexp.MustCompile(`^[a-z0-9_-]*$`)

func newBuilder(opt Options, files fs.FS) *builder {
	own := opt.ids()
	return &builder{
		sources: sources{files, map[string]string{"prefix": opt.Prefix}, func(name string) string { return own + name }},
		runs:    templates.RunFields(), latency: templates.LatencyFields(),
		views: map[string]dataView{}, panels: map[string]Object{}, specs: map[string][]byte{},
	}
}

// fields are the types of the fields of an index pattern, by path.
func (b *builder) fields(index string) map[string]string {
	if b.isVersioned(index) {
		return b.latency
	}
	return b.runs
}

// ids is what the ids of all objects begin with. A space has no dots in it, so no two pairs of prefix and space have
// the same.
func (o Options) ids() string {
	own := "fio2es-"
	if o.Prefix != mapping.DefaultPrefix {
		own = "fio2es." + o.Prefix + "."
	}
	if o.Space != "" && o.Space != DefaultSpace {
		own += o.Space + "-"
	}
	return own
}
