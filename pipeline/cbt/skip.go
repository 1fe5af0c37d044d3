package cbt

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/source"
)

// fioClasses are CBT's benchmarks that run fio.
var fioClasses = map[string]bool{"fio": true, "librbdfio": true, "rawfio": true, rbdfio: true, "kvmrbdfio": true}

// facts are what CBT's YAML files say that the names of files do not.
type facts struct {
	benchmark string
	workloads []string // the longest first
	clients   []string
}

// factsIn reads a YAML file, once. One that cannot be read says nothing: [Run.Configure]
// reports that where it matters.
func (c *contents) factsIn(f *source.File) *facts {
	if f == nil {
		return &facts{}
	}
	if t := c.facts[f]; t != nil {
		return t
	}
	t := &facts{}
	c.facts[f] = t
	m, err := readYAML(c.ctx, f)
	if err != nil {
		return t
	}
	settings := cluster(m)
	t.benchmark = text(settings["benchmark"])
	for name := range mapping(settings["workloads"]) {
		t.workloads = append(t.workloads, name)
	}
	slices.SortFunc(t.workloads, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	t.clients = hosts(settings["clients"])
	return t
}

// skip finds the configurations without a log of fio that are not fio's: their reports
// are named as fio's are.
func (s *sorter) skip(reports []*source.File) {
	files := map[folder][]*source.File{}
	for at, f := range s.configs {
		at.path = path.Dir(at.path)
		if p := locate(at.archive, at.path, nil, nil); p.cbt && p.config == at.path && path.Base(f.Path) == configName {
			files[at] = append(files[at], f)
		}
	}
	for _, f := range reports {
		if p := s.place(f, false); p.cbt {
			at := folderOf(f, p.config)
			files[at] = append(files[at], f)
		}
	}
	for at, of := range files {
		if s.logged[at] {
			continue
		}
		benchmark, reason := s.factsIn(s.config(at, configName)).benchmark, "as its configuration says"
		if benchmark == "" {
			benchmark, reason = guess(at.path, of), "as the names of its files say"
		}
		if benchmark == "" || fioClasses[benchmark] {
			continue
		}
		s.skipped[at] = &Skipped{
			Archive: at.archive, Path: at.path, Benchmark: benchmark, Files: of,
			Reason: benchmark + " does not run fio, " + reason,
		}
	}
}

var (
	hsbenchFile   = regexp.MustCompile(`^output\.\d+\.(?:csv|json)(?:\.|$)`)
	radosbenchDir = regexp.MustCompile(`^(?:prefill|write|read|seq|rand)$`)
)

// guess is the benchmark that wrote reports, by their names; "" if they may be fio's.
func guess(config string, files []*source.File) string {
	for _, f := range files {
		below := strings.TrimPrefix(strings.TrimPrefix(f.Path, config), "/")
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
