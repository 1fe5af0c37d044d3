package cbt

import (
	"path"
	"regexp"
	"strings"

	"github.com/fio2es/fio2es/pipeline/source"
)

// Skipped is the configuration of a benchmark that does not run fio.
type Skipped struct {
	Archive, Path string // of the id- folder
	Benchmark     string // CBT's name for its class
	Reason        string // how it was recognised
	Files         []*source.File

	config, archiveConfig *source.File
}

// skip finds the id- folders without a log of fio that are not fio's: their reports
// are named as fio's are.
func (p *places) skip(reports []*source.File, runs *drafts) map[folder]*Skipped {
	files, skipped := map[folder][]*source.File{}, map[folder]*Skipped{}
	for at, f := range p.configs {
		at.path = path.Dir(at.path)
		if locate(at.archive, at.path, nil, nil).config == at.path && path.Base(f.Path) == configName {
			files[at] = append(files[at], f)
		}
	}
	for _, f := range reports {
		if at := p.of(f, false); at.layout == ofCBT && roleOf(f.Path) != roleNone {
			id := folderOf(f, at.config)
			files[id] = append(files[id], f)
		}
	}
	for _, r := range runs.all {
		delete(files, folder{r.argument, r.Archive, r.at.config})
	}
	for id, of := range files {
		config := p.config(id, configName)
		benchmark, reason := p.factsIn(config).benchmark, "as its configuration says"
		if benchmark == "" {
			benchmark, reason = guess(id.path, of), "as the names of its files say"
		}
		if benchmark == "" || fioClasses[benchmark] {
			continue
		}
		root := folder{id.argument, id.archive, locate(id.archive, id.path, nil, nil).root}
		skipped[id] = &Skipped{
			Archive: id.archive, Path: id.path, Benchmark: benchmark, Files: of,
			Reason: benchmark + " does not run fio, " + reason,
			config: config, archiveConfig: p.config(root, archiveConfigName),
		}
	}
	return skipped
}

var (
	hsbenchFile   = regexp.MustCompile(`^output\.\d+\.(?:csv|json)(?:\.|$)`)
	radosbenchDir = regexp.MustCompile(`^(?:prefill|write|read|seq|rand)$`)
)

// guess is the benchmark that wrote reports, by their names; "" if they may be fio's.
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
