package cbt

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

var (
	iterationDir = regexp.MustCompile(`^\d{8}$`)
	configDir    = regexp.MustCompile(`^id-[0-9A-Fa-f]+$`)
	hashDir      = regexp.MustCompile(`^id-[0-9A-Fa-f]{8}$`) // as CBT makes them
	modeSizeDir  = regexp.MustCompile(`^([a-z]+)_(\d+)$`)
)

// rbdfio is a class of CBT, and the folder that it puts its own into.
const rbdfio = "rbdfio"

// fioClasses are CBT's benchmarks that run fio.
var fioClasses = map[string]bool{"fio": true, "librbdfio": true, "rawfio": true, rbdfio: true, "kvmrbdfio": true}

// isMode reports whether a name is a value of fio's option rw. Layouts with folders use them as names of folders.
func isMode(name string) bool {
	mode, _ := fiolog.ParseMode(name)
	return mode != "" && !strings.Contains(name, ":")
}

// layout says which program made the folders.
type layout uint8

const (
	ofPeople layout = iota
	ofCBT           // below an id- folder
	ofSample        // below a folder that is one run, a sample of pbench-fio
)

// place is what the names of the folders above a file say. Paths of folders are relative to the argument (".") and have
// no host.
type place struct {
	layout layout
	folder string // of the file; with pbench-fio, of the sample
	host   string // if a folder has it
	doubt  string // about the host
	config string // the id- folder
	root   string // of the archive, with cbt_config.yaml; "" outside the argument
	name   string // for people; "" where people made the folders

	modeSize bool // below a folder MODE_OPSIZE
	known    mapping.CBT
}

// find finds out which program made the folders above a file. The first folder is the archive's name, because the user
// may have given a folder from inside of an archive. It returns the index of the first folder that CBT collected from
// hosts, whose name may have a host, or 0 if there is none.
func (p *place) find(parts []string, isSample func(dir string) bool) (first int) {
	first, ok := p.findConfig(parts)
	if ok || p.findSample(parts, isSample) {
		return first
	}
	return findTop(parts)
}

// join returns the path below the argument, without the archive's name.
func join(parts []string) string {
	if len(parts) < 2 {
		return "."
	}
	return path.Join(parts[1:]...)
}

// findConfig finds the id- folder. first is the index of what comes below it.
func (p *place) findConfig(parts []string) (first int, ok bool) {
	for i, part := range parts {
		numbered := i > 0 && iterationDir.MatchString(parts[i-1])
		if !hashDir.MatchString(part) && (!numbered || !configDir.MatchString(part)) {
			continue
		}
		p.layout, p.config = ofCBT, join(parts[:i+1])
		if numbered {
			n, _ := strconv.Atoi(parts[i-1]) // of eight digits
			p.known.Iteration = &n
		}
		if numbered && i > 1 {
			p.root = join(parts[:i-1])
		}
		return i + 1, true
	}
	return 0, false
}

// findTop finds the first of CBT's folders if there is no id- folder above it, because the user moved it. There must be
// no doubt that CBT made it, because a host is split off its name.
func findTop(parts []string) int {
	tail := len(parts)
	for tail > 1 && isSetting(parts[tail-1]) {
		tail--
	}
	if tail < 2 || len(parts)-tail < 2 {
		return 0
	}
	name, _, dotted := strings.Cut(parts[tail-1], ".")
	workload := strings.HasPrefix(parts[tail], "numjobs-") && strings.Contains(parts[tail+1], "iodepth-")
	if dotted && (workload || isSetting(name)) {
		return tail - 1
	}
	return 0
}

func isSetting(part string) bool {
	_, _, isNumber := folderNumber(part)
	m := modeSizeDir.FindStringSubmatch(part)
	return isNumber || isMode(part) || m != nil && isMode(m[1])
}

// read reads the settings from the names of the folders, beginning with the first of CBT's folders. Outside of CBT's
// layout it reads numbers only, because other names may mean anything.
func (p *place) read(parts []string, first int) {
	p.folder = join(parts)
	if p.layout == ofCBT {
		p.name = p.forPeople(parts, first)
	}
	hasNumbers := false
	for _, part := range parts[max(first, 1):] {
		of, digits, isNumber := folderNumber(part)
		m := modeSizeDir.FindStringSubmatch(part)
		switch {
		case isNumber:
			hasNumbers = true
			setDigits(of(&p.known), digits)
		case first == 0:
		case isMode(part):
			p.known.Mode = part
		case m != nil && isMode(m[1]):
			p.modeSize = true
			p.known.Mode = m[1]
			setDigits(&p.known.OpSize, m[2])
		}
	}
	if first == 0 || first == len(parts) {
		return
	}
	switch top := parts[first]; {
	case fioClasses[top]:
		p.known.Benchmark = top
	case (hasNumbers || p.host != "") && !isSetting(top):
		p.known.Workload = top
	}
}

// setDigits sets a setting to a number in a folder's name. It ignores a number that is too large.
func setDigits(to *int64, digits string) {
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		*to = n
	}
}

// forPeople returns the path without the parts that all runs have in common.
func (p *place) forPeople(parts []string, first int) string {
	above := parts[1:max(first-1, 1)]
	if n := len(above); p.known.Iteration != nil && n > 0 {
		above = above[:n-1]
	}
	if n := len(above); n > 0 && above[n-1] == "results" {
		above = above[:n-1]
	}
	name := slices.Clone(above)
	if p.known.Iteration != nil {
		name = append(name, strconv.Itoa(*p.known.Iteration))
	}
	return path.Join(append(name, parts[first-1:]...)...)
}

// totalOf is the total_iodepth folder of an iodepth folder, if a path ends in them.
func totalOf(dir string) (total string, ok bool) {
	total = path.Dir(dir)
	return total, strings.HasPrefix(path.Base(dir), "iodepth-") && totalDir.MatchString(path.Base(total))
}

var totalDir = regexp.MustCompile(`^total_iodepth-\d+$`)

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
