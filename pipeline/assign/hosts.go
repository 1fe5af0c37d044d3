package assign

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// suggestOneRun names the call of --one-run for runs that look like those of several hosts. A loop over ssh leaves a folder for each
// host, with reports of the same jobs from the same time. Two machines or devices may leave the same, with a run each, so only the user
// knows whether they are one run.
func (s *sorter) suggestOneRun() {
	type place struct {
		argument, archive, shape string            // the path with * in place of the folder
		measured                 [sha256.Size]byte // what its report says of its jobs
	}
	type hostRun struct {
		*Run
		place
		ran          evidence.Span
		host, folder string
	}
	var all []hostRun
	for _, r := range s.inOrder(present(s.runs)) {
		if r.at.Program != layout.OfPeople || len(r.HostNames()) > 0 {
			continue
		}
		i := slices.IndexFunc(r.Reports, func(f Report) bool {
			c := f.File.Claims()
			return !f.Candidate && c.IsListed && !c.IsCut && !c.End.IsZero()
		})
		if i < 0 {
			continue
		}
		parts := strings.Split(r.Path, "/")
		for n, host := range parts[:len(parts)-1] {
			folder := path.Join(parts[:n+1]...)
			isElsewhere := func(f *evidence.File) bool { return f != r.Job && !strings.HasPrefix(f.Path, folder+"/") }
			if c := r.Reports[i].File.Claims(); !slices.ContainsFunc(r.Files(), isElsewhere) {
				shape := path.Join(path.Dir(folder), "*", path.Join(parts[n+1:]...))
				all = append(all, hostRun{r, place{r.argument, r.Archive, shape, c.Measured}, c.Span, host, folder})
			}
		}
	}
	isNamed, isSaid := map[*Run]bool{}, map[string]bool{}
	for _, of := range group.By(all, func(h hostRun) place { return h.place }) {
		for of = without(of, func(h hostRun) bool { return isNamed[h.Run] }); len(of) > 1; {
			first := of[0]
			isWith := func(h hostRun) bool { return h.Run == first.Run || h.ran.IsWith(first.ran) }
			together := without(of, func(h hostRun) bool { return !isWith(h) })
			if of = without(of, isWith); len(together) < 2 {
				continue
			}
			var hosts, paths []string
			for _, h := range together {
				isNamed[h.Run] = true
				hosts, paths = append(hosts, h.host), append(paths, h.host+"="+h.pathOf(h.folder))
			}
			const most = 5
			if n := len(hosts) - most; n > 0 {
				hosts, paths = append(hosts[:most], fmt.Sprintf("and %d more", n)), append(paths[:most], "...")
			}
			unpack := ""
			if f := first.Files()[0]; f.Name() != f.Disk {
				unpack = "unpack them and "
			}
			text := fmt.Sprintf("%s ran the same jobs at the same time: if they are the hosts of one run, %spass --one-run %s",
				strings.Join(hosts, ", "), unpack, strings.Join(paths, " "))
			if !isSaid[text] { // they may have several runs
				first.doubt(text)
			}
			isSaid[text] = true
		}
	}
}

// pathOf returns the path of a folder of the run that --one-run needs. In an archive it is that below the archive.
func (r *Run) pathOf(folder string) string {
	f := r.Files()[0]
	if i := strings.Index("/"+f.Name(), "/"+folder+"/"); i >= 0 && f.Name() == f.Disk {
		return f.Name()[:i+len(folder)]
	}
	return folder
}

// absorbAll makes one run of several, the first of them.
func absorbAll(runs []*Run, name string) *Run {
	one := runs[0]
	for _, r := range runs[1:] {
		one.absorb(r)
	}
	one.Path = name
	return one
}

// SetHost sets the host of all files that do not name their host.
func (r *Run) SetHost(host string) {
	r.setHosts(func(_ *evidence.File, known string) string { return cmp.Or(known, host) })
}

func (r *Run) setHosts(hostOf func(f *evidence.File, known string) string) {
	for _, logs := range [][]Log{r.Logs, r.Others} {
		for i := range logs {
			logs[i].Host = hostOf(logs[i].File, logs[i].Host)
		}
	}
	for i := range r.Reports {
		r.Reports[i].Host = hostOf(r.Reports[i].File, r.Reports[i].Host)
	}
}

// HostPath is a path that has files of one host.
type HostPath struct{ Host, Path string }

// oneRun makes one run of what was found under several paths, because the user says so. If there are several runs of each
// host, those with the same path below the hosts' folders are one.
func (s *sorter) oneRun(paths []HostPath) error {
	var names []string
	byHost := map[string][]*Run{}
	all := s.inOrder(present(s.runs))
	for _, p := range paths {
		isUnder := func(f *evidence.File) bool {
			isMatch, err := filepath.Match(p.Path, f.Root) // a pattern
			return !f.Beside && (f.Root == p.Path || err == nil && isMatch)
		}
		known, n := map[string]bool{}, 0
		for _, r := range all {
			if !slices.ContainsFunc(r.Files(), isUnder) {
				continue
			}
			n++
			byHost[p.Host] = addNew(byHost[p.Host], r)
			r.setHosts(func(f *evidence.File, host string) string {
				if known[host] = known[host] || isUnder(f); isUnder(f) || f.Beside {
					return p.Host
				}
				return host
			})
		}
		maps.DeleteFunc(known, func(host string, isHere bool) bool { return host == "" || !isHere })
		if len(known) > 1 {
			return fmt.Errorf("--one-run %s=%s: want files of one host: these are of %s", p.Host, p.Path,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if n == 0 {
			return fmt.Errorf("--one-run %s=%s: no fio logs (such as *_clat_hist.*.log) or reports of a run there", p.Host, p.Path)
		}
		names = addNew(names, p.Host)
	}
	first := byHost[names[0]]
	for _, r := range first {
		var runs []*Run
		for _, name := range names {
			of := byHost[name]
			i := slices.IndexFunc(of, func(o *Run) bool { return len(of) == 1 || o.Path == r.Path })
			if i < 0 || len(of) != len(first) {
				return fmt.Errorf("--one-run: want the same runs of each host: %s has %s, and %s has %s; pass the files of one run of each",
					names[0], strings.Join(pathsOf(first), ", "), name, strings.Join(pathsOf(of), ", "))
			}
			runs = addNew(runs, of[i])
		}
		archive := s.archiveOf(runs)
		absorbAll(runs, commonPath(pathsOf(runs)...)).Archive = archive
	}
	return nil
}

// archiveOf returns the name of the archive of runs that were found under several paths: of the folder that all are in.
func (s *sorter) archiveOf(runs []*Run) string {
	if !slices.ContainsFunc(runs, func(r *Run) bool { return r.Archive != runs[0].Archive || r.argument != runs[0].argument }) {
		return runs[0].Archive
	}
	var roots []string
	for _, r := range runs {
		roots = append(roots, s.RootOf(r.Files()[0]))
	}
	if name := path.Base(commonPath(roots...)); name != "/" {
		return name
	}
	return runs[0].Archive
}

func pathsOf(runs []*Run) (all []string) {
	for _, r := range runs {
		all = append(all, r.Path)
	}
	return all
}
