package kibana

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/late"
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

// Object is a saved object in the form that Kibana imports.
type Object struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Attributes map[string]any `json:"attributes"`
	References []Reference    `json:"references"`

	// Migration is the version of Kibana whose format the object has. Without it, Kibana 8.3 doubles the references of
	// dashboards. Kibana migrates objects of older versions, and refuses newer ones.
	Migration map[string]string `json:"migrationVersion"`
}

// Reference says how an object names another one.
type Reference struct {
	Name string `json:"name"`
	Type string `json:"type"`
	ID   string `json:"id"`
}

// The types of saved objects, with the version of their format.
const (
	typeDataView  = "index-pattern"
	typeSearch    = "search"
	typeVisual    = "visualization"
	typeDashboard = "dashboard"
)

var migration = map[string]string{
	typeDataView: "8.0.0", typeSearch: "7.9.3", typeVisual: "8.3.0", typeDashboard: "8.3.0",
}

func newObject(typ, id string, attributes map[string]any, references ...Reference) Object {
	if references == nil {
		references = []Reference{}
	}
	return Object{typ, id, attributes, references, map[string]string{typ: migration[typ]}}
}

// Version is the version of the objects. Every change of them raises it, because an older fio2es must not replace newer
// dashboards.
const Version = 1

// mark says which objects a space has. One of them has it, as a state of its panel, which Kibana keeps and does not use.
type mark struct {
	Version int    `json:"version"`
	Hash    string `json:"hash"` // of all objects
}

// state is the attribute that has the mark.
const state = "uiStateJSON"

func (o *Object) mark() mark {
	var s struct{ Fio2es mark }
	text, _ := o.Attributes[state].(string)
	_ = json.Unmarshal([]byte(text), &s) // another state is none
	return s.Fio2es
}

// marked returns the index of the object with the mark, or -1.
func (b *Bundle) marked() int {
	return slices.IndexFunc(b.Objects, func(o Object) bool { return o.mark() != mark{} })
}

// Title returns the title that users see.
func (o *Object) Title() string {
	if name, ok := o.Attributes["name"].(string); ok {
		return name
	}
	title, _ := o.Attributes["title"].(string)
	return title
}

var spaceID = late.Regexp(`^[a-z0-9_-]*$`)

// New returns all saved objects. It fails if Kibana or Elasticsearch cannot have such a space or prefix.
//
// Ids contain the prefix and the space. Otherwise Kibana would give an object another id if an object in another
// space has the id already, and links to it would not work.
func New(opt Options) (*Bundle, error) {
	opt.Prefix = cmp.Or(opt.Prefix, mapping.DefaultPrefix)
	if !spaceID().MatchString(opt.Space) {
		return nil, fmt.Errorf("%q is not the identifier of a space: lower-case letters, digits, _ and -", opt.Space)
	}
	if err := templates.CheckPrefix(opt.Prefix); err != nil {
		return nil, err
	}
	return newBundle(opt, objects()), nil
}

//go:embed objects
var embedded embed.FS

func objects() fs.FS { return must(fs.Sub(embedded, "objects")) }

// newBundle makes the objects from files. The files are part of the program, so it panics if they do not fit
// together.
func newBundle(opt Options, files fs.FS) *Bundle {
	b := newBuilder(opt, files)
	bundle := &Bundle{Space: opt.Space, Specs: b.specs}
	for _, name := range b.names("dataviews") { // first the objects that others refer to
		bundle.Objects = append(bundle.Objects, b.dataView(name))
	}
	for _, name := range b.names("panels") {
		b.panels[name] = b.panel(name)
		bundle.Objects = append(bundle.Objects, b.panels[name])
	}
	for _, name := range b.names("dashboards") {
		bundle.Objects = append(bundle.Objects, b.dashboard(name))
	}
	sum := sha256.New()
	must(0, bundle.WriteNDJSON(sum))
	for i := range bundle.Objects {
		if o := &bundle.Objects[i]; o.ID == b.id(navigation) {
			o.Attributes[state] = quoted(map[string]any{"fio2es": mark{Version, hex.EncodeToString(sum.Sum(nil)[:8])}})
		}
	}
	return bundle
}

// navigation is the panel that all dashboards have.
const navigation = "navigation"

// WriteNDJSON writes the input of Kibana's import: one object on each line. The same bundle always gives the same
// text.
func (b *Bundle) WriteNDJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for _, o := range b.Objects {
		if err := encoder.Encode(o); err != nil {
			return fmt.Errorf("write saved objects: %w", err)
		}
	}
	return nil
}

// builder makes objects from the files of objects/. The files are part of the program, so it panics if one cannot be
// read.
type builder struct {
	files         fs.FS
	prefix        string            // of indices
	ids           string            // prefix of the ids of all objects
	bands         *strings.Replacer // of the placeholders of bands
	runs, latency map[string]string // types of fields, by path
	panels        map[string]Object // by name of the file
	specs         map[string][]byte // by name of the file
}

func newBuilder(opt Options, files fs.FS) *builder {
	// A space contains no dots, so different pairs of prefix and space have different ids.
	ids := "fio2es-"
	if opt.Prefix != mapping.DefaultPrefix {
		ids = "fio2es." + opt.Prefix + "."
	}
	if opt.Space != "" && opt.Space != DefaultSpace {
		ids += opt.Space + "-"
	}
	all, low, middle, high := bands()
	return &builder{
		files: files, prefix: opt.Prefix, ids: ids, bands: strings.NewReplacer(`"${bands}"`, all, `"${bands:low}"`, low, `"${bands:middle}"`, middle, `"${bands:high}"`, high),
		runs: templates.RunFields(), latency: templates.LatencyFields(),
		panels: map[string]Object{}, specs: map[string][]byte{},
	}
}

// title returns the title of a data view or a dashboard, so that users know which history it shows.
func (b *builder) title(text string) string {
	if b.prefix != mapping.DefaultPrefix {
		text += " (" + b.prefix + ")"
	}
	return text
}

func (b *builder) id(name string) string { return b.ids + name }

// fields returns the types of the fields of an index pattern, by path.
func (b *builder) fields(index string) map[string]string {
	if index == mapping.RunsIndex(b.prefix) {
		return b.runs
	}
	return b.latency
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("assemble saved objects: %v", err))
	}
	return v
}

// Placeholders: of a part, with what is before it on its line and its own values, and of a value, ${name} or ${id:name}.
var (
	partPlace   = late.Regexp(`^( *)(.*)"\$\{part:([a-z-]+)((?: [a-z]+=[^" }]+)*)\}"`)
	placeholder = late.Regexp(`\$\{([^}]*)\}`)
)

// withParts returns the text of a file with a panel's own values and with its parts, which may have values and parts of their own. A
// part is indented like its placeholder.
func (b *builder) withParts(file string, own map[string]string) string {
	text := string(must(fs.ReadFile(b.files, file)))
	for name, value := range own {
		text = strings.ReplaceAll(text, "${"+name+"}", value)
	}
	insert := func(line string) string {
		place := partPlace().FindStringSubmatch(line)
		values := map[string]string{}
		maps.Copy(values, own)
		for given := range strings.FieldsSeq(place[4]) {
			name, value, _ := strings.Cut(given, "=")
			values[name] = value
		}
		part := strings.TrimSpace(b.withParts("parts/"+place[3]+".json", values))
		return place[1] + place[2] + strings.ReplaceAll(part, "\n", "\n"+place[1])
	}
	var whole strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "${part:") { // few have one, and the expression is slow
			line = partPlace().ReplaceAllStringFunc(line, insert)
		}
		whole.WriteString(line)
	}
	return whole.String()
}

// text returns a file with values in place of placeholders.
func (b *builder) text(file string, own map[string]string) string {
	return placeholder().ReplaceAllStringFunc(b.bands.Replace(b.withParts(file, own)), func(match string) string {
		name := match[2 : len(match)-1]
		if name == "prefix" {
			return b.prefix
		}
		if dashboard, ok := strings.CutPrefix(name, "id:"); ok {
			return b.id(dashboard)
		}
		return match
	})
}

func (b *builder) decode(file string, into any) {
	if err := json.Unmarshal([]byte(b.text(file, nil)), into); err != nil {
		panic(fmt.Sprintf("%s: %v", file, err))
	}
}

// names returns the JSON files in a folder, without the extension.
func (b *builder) names(folder string) []string {
	var list []string
	for _, e := range must(fs.ReadDir(b.files, folder)) {
		if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.Contains(name, ".") {
			list = append(list, name)
		}
	}
	return list
}

// bands returns the ranges of range aggregations: all of them, and a third each. They are the bands of heat maps, from 1 ns
// to 31.6 s. Every request is in one, because two more bands have the requests below the first bound and from the last one
// on. A bin that a bound cuts counts in the band of its middle. This hardly matters, because a bin is at most 1.6 % wide, and a
// band 12 %.
//
// A search may have 65,536 buckets. So three searches, each for a third of the bands, can have three times as many columns.
func bands() (all, low, middle, high string) {
	const last = 10*heatmap.BandsPerDecade + heatmap.BandsPerDecade/2 // 10^7.5 µs
	type band struct {
		From float64 `json:"from,omitempty"`
		To   float64 `json:"to,omitempty"`
	}
	var list []band
	from := 0.0
	for i := 0; i <= last; i++ {
		list = append(list, band{from, heatmap.Bound(i)})
		from = heatmap.Bound(i)
	}
	list = append(list, band{From: from})
	third := (len(list) + 2) / 3
	return quoted(list), quoted(list[:third]), quoted(list[third : 2*third]), quoted(list[2*third:])
}

// quoted returns a value as JSON in a string, which is the form of many attributes.
func quoted(v any) string { return string(must(json.Marshal(v))) }
