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

// Options says whose history is shown, and where.
type Options struct {
	Prefix string // prefix of index names; empty: [mapping.DefaultPrefix]
	Space  string // identifier of Kibana's space; empty: [DefaultSpace]
}

// Bundle has all objects of fio2es for Kibana, for one prefix and one space.
type Bundle struct {
	Space   string            // the space that it is for; empty means the default space
	Objects []Object          // each object comes after those that it refers to
	Specs   map[string][]byte // Vega specifications by panel: the file in objects/panels, without its extension
}

// New returns all saved objects. It fails if Kibana or Elasticsearch cannot have such a space or prefix.
//
// Ids contain the prefix and the space. Otherwise Kibana would give an object another id if an object in another
// space has the id already, and links to it would not work.
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

// newBundle makes the objects from files. The files are part of the program, so it panics if they do not fit
// together.
func newBundle(opt Options, files fs.FS) *Bundle {
	b := newBuilder(opt, files)
	bundle := &Bundle{Space: opt.Space, Specs: b.specs}
	for _, step := range []struct { // first the objects that others refer to
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

// WriteNDJSON writes the input of Kibana's import: one object on each line. The same bundle always gives the same
// text.
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
	views         map[string]dataView // by name of the file, like the other maps
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

// fields returns the types of the fields of an index pattern, by path.
func (b *builder) fields(index string) map[string]string {
	if b.isVersioned(index) {
		return b.latency
	}
	return b.runs
}

// ids returns the prefix of the ids of all objects. A space contains no dots, so different pairs of prefix and space
// have different ids.
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
