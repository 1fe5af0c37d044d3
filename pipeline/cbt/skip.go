package cbt

import (
	"path"
	"regexp"
	"strings"

	"github.com/fio2es/fio2es/pipeline/source"
)

// Skipped is the configuration of a benchmark that does not run fio.
type Skipped struct {
	Path   string // of the id- folder
	Reason string // its benchmark, and how that was recognised
	Files  []*source.File

	archiveConfig *source.File
}

// skip finds the id- folders of other benchmarks, which have no log of fio. Their reports have the same names as fio's.
func (p *places) skip(reports []*source.File, runs *drafts) map[folder]*Skipped {
	files, skipped := map[folder][]*source.File{}, map[folder]*Skipped{}
	for at, f := range p.configs {
		id := at.in(path.Dir(at.path))
		if p.at(id, false).config == id.path && path.Base(f.Path) == configName {
			files[id] = append(files[id], f)
		}
	}
	for _, f := range reports {
		if at := p.of(f, false); at.layout == ofCBT && roleOf(f.Path) != roleNone {
			id := folderOf(f, at.config)
			files[id] = append(files[id], f)
		}
	}
	for _, r := range runs.all {
		delete(files, folder{r.argument, r.Archive, r.at.config}) // it has logs of fio
	}
	for id, of := range files {
		benchmark, reason := p.factsIn(p.config(id, configName)).benchmark, "as its configuration says"
		if benchmark == "" {
			benchmark, reason = guess(id.path, of), "as the names of its files say"
		}
		if benchmark == "" || fioClasses[benchmark] {
			continue
		}
		skipped[id] = &Skipped{
			Path: id.path, Files: of,
			Reason:        benchmark + " does not run fio, " + reason,
			archiveConfig: p.config(id.in(p.at(id, false).root), archiveConfigName),
		}
	}
	return skipped
}

var (
	hsbenchFile   = regexp.MustCompile(`^output\.\d+\.(?:csv|json)(?:\.|$)`)
	radosbenchDir = regexp.MustCompile(`^(?:prefill|write|read|seq|rand)$`)
)

// guess returns the benchmark that wrote reports, by their names, or "" if fio may have written them.
func guess(id string, files []*source.File) string {
	for _, f := range files {
		below := strings.TrimPrefix(strings.TrimPrefix(f.Path, id), "/")
		dirs := strings.Split(path.Dir(below), "/")
		switch {
		case hsbenchFile.MatchString(path.Base(f.Path)):
			return "hsbench"
		case strings.Contains(below, "/object_size-"):
			return "cephtestrados"
		case strings.Contains(below, "/procs-"):
			return "getput"
		case len(dirs) == 1 && radosbenchDir.MatchString(dirs[0]):
			return "radosbench"
		}
	}
	return ""
}
