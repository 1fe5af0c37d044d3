package kibana

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana/kibanatest"
	"github.com/fio2es/fio2es/mapping"
)

// TestSources: the sources fit together, and to the fields of documents. Kibana's import finds few such faults: it
// accepts a dashboard whose panels are missing, and a search for fields that no document has.
func TestSources(t *testing.T) {
	if err := check(objects()); err != nil {
		t.Error(err)
	}
}

// check finds faults in sources, and in the objects made of them.
func check(files fs.FS) error {
	opt := Options{Prefix: mapping.DefaultPrefix}
	c := &sourceCheck{builder: newBuilder(opt, files)}
	c.file("formats.json", c.formats)
	for folder, look := range map[string]func(file string){"dataviews": c.dataView, "panels": c.panel, "dashboards": c.dashboard} {
		for _, name := range c.names(folder) {
			c.file(folder+"/"+name+".json", look)
		}
	}
	if c.faults == nil {
		c.bundle(newBundle(opt, files))
	}
	return errors.Join(c.faults...)
}

// sourceCheck collects faults of sources.
type sourceCheck struct {
	*builder
	name   string // the file that is being checked
	faults []error
}

func (c *sourceCheck) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(c.name+": "+format, args...))
}

func (c *sourceCheck) file(name string, look func(file string)) {
	c.name = name
	look(name)
}

// strict decodes a JSON file. A name that the type does not have is a fault.
func (c *sourceCheck) strict(file string, into any) bool {
	d := json.NewDecoder(strings.NewReader(c.text(file, nil)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		c.fault("%w", err)
		return false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		c.fault("there is text after the end of the object")
	}
	return true
}

func (c *sourceCheck) has(file string) bool {
	_, err := fs.Stat(c.files, file)
	return err == nil
}

// values finds placeholders of a file that have no value, and values without a placeholder.
func (c *sourceCheck) values(file string, own map[string]string) {
	if !c.has(file) {
		c.fault("there is no file %s", file)
		return
	}
	source := c.withParts(file, own)
	for name := range own {
		without := maps.Clone(own)
		if delete(without, name); c.withParts(file, without) == source {
			c.fault("%s: there is no place for the value %q", file, name)
		}
	}
	for _, m := range placeholder().FindAllStringSubmatch(source, -1) {
		dashboard, isID := strings.CutPrefix(m[1], "id:")
		isKnown := m[1] == "prefix" || strings.HasPrefix(m[1], "bands")
		if !isKnown && !(isID && c.has("dashboards/"+dashboard+".json")) {
			c.fault("%s: nothing stands for %s", file, m[0])
		}
	}
}

func (c *sourceCheck) formats(file string) {
	var list []format
	if !c.strict(file, &list) {
		return
	}
	used := map[string]bool{}
	for _, fields := range []map[string]string{c.latency, c.runs} {
		seen := map[string]bool{}
		for _, f := range list {
			for _, pattern := range f.Fields {
				for field, typ := range fields {
					matches, err := path.Match(pattern, field)
					if err != nil {
						c.fault("%s: %w", pattern, err)
						break
					}
					used[pattern] = used[pattern] || matches
					if matches && f.isFor(typ) && seen[field] {
						c.fault("%s has two formats", field)
					}
					seen[field] = seen[field] || matches && f.isFor(typ)
				}
			}
		}
	}
	for _, f := range list {
		for _, pattern := range f.Fields {
			if !used[pattern] {
				c.fault("no field is like %s", pattern)
			}
		}
	}
}

// isOurs reports whether an index belongs to fio2es.
func (c *sourceCheck) isOurs(index string) bool {
	prefix := mapping.DefaultPrefix + "-latency."
	return index == mapping.RunsIndex(mapping.DefaultPrefix) || slices.Contains([]string{prefix + "cluster-*", prefix + "host-*", prefix + "job-*", prefix + "section-*"}, index)
}

func (c *sourceCheck) dataView(file string) {
	var view dataView
	if c.strict(file, &view) && (!c.isOurs(view.Index) || view.Name == "") {
		c.fault("index %q with the name %q: it must be one of ours, and have a name", view.Index, view.Name)
	}
}

// viewOf returns a data view by the name of its file.
func (c *sourceCheck) viewOf(name string) (view dataView, ok bool) {
	file := "dataviews/" + name + ".json"
	if !c.has(file) {
		return view, false
	}
	c.decode(file, &view)
	return view, true
}

func (c *sourceCheck) panel(file string) {
	var p panel
	if !c.strict(file, &p) {
		return
	}
	kinds := 0
	for _, is := range []bool{p.Vega != "", p.Markdown != "", p.Columns != nil} {
		if is {
			kinds++
		}
	}
	if p.Title == "" {
		c.fault("it has no title")
	}
	if kinds != 1 {
		c.fault("it must be one of vega, markdown and columns")
	}
	for _, text := range []string{p.Vega, p.Markdown} {
		if text != "" {
			c.values("panels/"+text, p.Values)
		}
	}
	for _, column := range p.Columns {
		if c.runs[column.Field] == "" && column.Field != "run.labels" || column.Width <= 0 {
			c.fault("column %q: there is no such field, or it has no width", column.Field)
		}
	}
}

func (c *sourceCheck) dashboard(file string) {
	const gridWidth = 48
	var d dashboard
	if !c.strict(file, &d) {
		return
	}
	if d.Title == "" {
		c.fault("it has no title")
	}
	for i, r := range d.Rows {
		x := 0
		for _, one := range r.Panels {
			if !c.has("panels/" + one.Panel + ".json") {
				c.fault("there is no panel %q", one.Panel)
			}
			if x += one.Width; one.Width <= 0 || x > gridWidth || r.Height <= 0 {
				c.fault("row %d: panel %q is %d wide and %d high, and ends at %d of %d", i+1, one.Panel, one.Width, r.Height, x, gridWidth)
			}
		}
	}
	for _, one := range d.Controls {
		view, ok := c.viewOf(one.View)
		if typ := c.fields(view.Index)[one.Field]; !ok || typ != "keyword" {
			c.fault("control %q: field %q of data view %q has type %q, must be keyword", one.Title, one.Field, one.View, typ)
		}
		if !slices.Contains([]string{"small", "medium", "large"}, one.Width) {
			c.fault("control %q: width %q is none of small, medium and large", one.Title, one.Width)
		}
	}
}

// bundle checks the objects: their references, and the searches of Vega panels.
func (c *sourceCheck) bundle(b *Bundle) {
	c.faults = append(b.checkReferences(), b.checkUse()...)
	requests, err := kibanatest.Requests(b.Specs)
	if err != nil {
		c.faults = append(c.faults, err)
	}
	for i := range requests {
		r := &requests[i]
		c.name = fmt.Sprintf("panel %s, data set %s", r.Panel, r.Data)
		if !c.isOurs(r.Index) {
			c.fault("index %q is none of ours", r.Index)
			continue
		}
		if err := checkSearch(r, c.fields(r.Index)); err != nil {
			c.fault("%w", err)
		}
	}
}

type objectKey struct{ typ, id string }

func (b *Bundle) checkReferences() []error {
	var faults []error
	known := map[objectKey]bool{}
	ids := map[string]bool{}
	for _, o := range b.Objects {
		if ids[o.ID] {
			faults = append(faults, fmt.Errorf("two objects have the id %s", o.ID))
		}
		known[objectKey{o.Type, o.ID}], ids[o.ID] = true, true
		for _, r := range o.References {
			if !known[objectKey{r.Type, r.ID}] {
				faults = append(faults, fmt.Errorf("%s %s refers to %s %s, which is not before it", o.Type, o.ID, r.Type, r.ID))
			}
		}
	}
	return faults
}

// checkUse finds panels that are on no dashboard.
func (b *Bundle) checkUse() []error {
	used := map[objectKey]bool{}
	for _, o := range b.Objects {
		for _, r := range o.References {
			used[objectKey{r.Type, r.ID}] = true
		}
	}
	var faults []error
	for _, o := range b.Objects {
		if o.Type != typeDashboard && o.Type != typeDataView && !used[objectKey{o.Type, o.ID}] {
			faults = append(faults, fmt.Errorf("%s %s is on no dashboard", o.Type, o.ID))
		}
	}
	return faults
}
