package cbt

import (
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// stream is one job's.
type stream struct {
	host, volume string
	job          int
}

// uniteFamilies makes one run of logs whose prefixes differ by kind only, such as those of write_hist_log=h with
// write_bw_log=b: each prefix has other kinds of logs, and all have the same jobs.
func (d *drafts) uniteFamilies() {
	for at, runs := range d.byDir {
		if len(runs) < 2 || !oneExecution(runs) {
			continue
		}
		one := runs[0]
		for _, r := range runs {
			if len(r.Logs) > 0 {
				one = r
			}
		}
		for _, r := range runs {
			if r != one {
				one.absorb(r)
			}
		}
		d.byDir[at] = []*draft{one}
		one.guesses = append(one.guesses, fmt.Sprintf("logs named %s are read as one run: they have the same jobs, and no kind of log twice", baseNames(runs)))
	}
}

// baseNames returns the names of runs without their folders, for people.
func baseNames(runs []*draft) string {
	var names []string
	for _, r := range runs {
		names = append(names, path.Base(r.Path))
	}
	return strings.Join(names, ", ")
}

// oneExecution reports whether one execution wrote the logs of several prefixes.
func oneExecution(runs []*draft) bool {
	owner, jobs := map[fiolog.Kind]*draft{}, map[fiolog.Kind]map[stream]bool{}
	for _, r := range runs {
		for _, l := range r.logs() {
			switch owner[l.Kind] {
			case nil:
				owner[l.Kind], jobs[l.Kind] = r, map[stream]bool{}
			case r:
			default:
				return false
			}
			jobs[l.Kind][stream{l.Host, l.Volume, l.Job}] = true
		}
	}
	var one map[stream]bool
	for _, of := range jobs {
		if one != nil && !maps.Equal(one, of) {
			return false
		}
		one = of
	}
	return true
}

// uniteDepths makes one run of the iodepth folders below each total_iodepth folder, because they have the volumes of
// one execution. If two of them have the same volume, they are several executions and stay separate.
func (d *drafts) uniteDepths() {
	var parts []*draft
	for _, r := range d.present() {
		if _, ok := totalOf(r.at.folder); ok {
			parts = append(parts, r)
		}
	}
	d.inOrder(parts)
	for _, runs := range groups(parts, func(r *draft) runKey {
		total, _ := totalOf(r.at.folder)
		return runKey{folder{r.argument, r.Archive, total}, r.family}
	}) {
		if !disjoint(runs) {
			for _, r := range runs {
				r.doubt("the same volumes are in several iodepth folders of one total_iodepth: taken for several executions")
			}
			continue
		}
		one := runs[0]
		one.moveUp()
		for _, r := range runs[1:] {
			if r.IODepth != one.IODepth {
				one.IODepth = 0
			}
			one.absorb(r)
		}
	}
}

// disjoint reports whether no volume of a host is in several runs.
func disjoint(runs []*draft) bool {
	owner := map[stream]*draft{}
	for _, r := range runs {
		var volumes []stream
		for _, l := range r.logs() {
			volumes = append(volumes, stream{host: l.Host, volume: l.Volume})
		}
		for _, f := range r.Reports {
			if f.Named {
				volumes = append(volumes, stream{host: f.Host, volume: f.Volume})
			}
		}
		for _, v := range volumes {
			if other := owner[v]; other != nil && other != r {
				return false
			}
			owner[v] = r
		}
	}
	return true
}

// moveUp names a run after the folder above its own.
func (r *draft) moveUp() {
	family := strings.TrimPrefix(r.Path, r.at.folder)
	r.Path = path.Dir(r.at.folder) + family
	if r.name != "" {
		r.name = strings.TrimSuffix(r.name, "/"+path.Base(r.at.folder)+family) + family
	}
}
