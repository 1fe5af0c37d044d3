package cbt

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/source"
)

// places are the folders above files, each read once.
type places struct {
	*catalog
	ctx   context.Context // ends reading
	known map[placeKey]place
	facts map[*source.File]*facts
}

type placeKey struct {
	folder
	named bool // the file has a host in its own name
}

// facts are what CBT's YAML files say and names of files do not.
type facts struct {
	benchmark string
	workloads []string // the longest first
	clients   []string
}

func newPlaces(ctx context.Context, c *catalog) *places {
	return &places{catalog: c, ctx: ctx, known: map[placeKey]place{}, facts: map[*source.File]*facts{}}
}

// of returns the place of a file. named means that the file's name has a host.
func (p *places) of(f *source.File, named bool) place {
	return p.at(folderOf(f, path.Dir(f.Path)), named)
}

func (p *places) at(dir folder, named bool) place {
	key := placeKey{dir, named}
	if at, ok := p.known[key]; ok {
		return at
	}
	parts := []string{dir.archive}
	if dir.path != "." {
		parts = append(parts, strings.Split(dir.path, "/")...)
	}
	at := place{}
	first := at.find(parts, func(sample string) bool { return p.samples[dir.in(sample)] })
	if at.layout != ofSample {
		if 0 < first && first < len(parts) {
			parts[first], at.host = p.split(&at, dir, parts[first], named)
		}
		at.read(parts, first)
	}
	p.known[key] = at
	return at
}

// split divides the first folder below an id- folder into its name and a host. Both may have dots, so only the
// configuration is certain.
func (p *places) split(at *place, dir folder, top string, named bool) (name, host string) {
	name, host, ok := strings.Cut(top, ".")
	if !ok || isSetting(name) || fioClasses[name] {
		return name, host
	}
	for _, w := range p.factsIn(p.config(dir.in(at.config), configName)).workloads { // the longest first
		if rest, ok := strings.CutPrefix(top, w); ok && (rest == "" || rest[0] == '.') {
			return w, strings.TrimPrefix(rest, ".")
		}
	}
	if named { // each file has its own
		return top, ""
	}
	for _, h := range p.factsIn(p.config(dir.in(at.root), archiveConfigName)).clients {
		if before, ok := strings.CutSuffix(top, "."+h); ok {
			return before, h
		}
	}
	if strings.Contains(host, ".") {
		at.doubt = fmt.Sprintf("%s: %s is taken for a host: no configuration says where its name begins", top, host)
	}
	return name, host
}

// factsIn reads a YAML file, once. It ignores errors: [Run.Configure] reports them if a run needs the file.
func (p *places) factsIn(f *source.File) *facts {
	if f == nil {
		return &facts{}
	}
	if t := p.facts[f]; t != nil {
		return t
	}
	t := &facts{}
	p.facts[f] = t
	m, err := readYAML(p.ctx, f)
	if err != nil {
		return t
	}
	settings := cluster(m)
	t.benchmark = text(settings["benchmark"])
	for name := range asMap(settings["workloads"]) {
		t.workloads = append(t.workloads, name)
	}
	slices.SortFunc(t.workloads, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	t.clients = hosts(settings["clients"])
	return t
}
