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

// streams are a run's jobs, by kind of log.
func (r *Run) streams() map[fiolog.Kind]map[stream]bool {
	kinds := map[fiolog.Kind]map[stream]bool{}
	for _, l := range r.logs() {
		if kinds[l.Kind] == nil {
			kinds[l.Kind] = map[stream]bool{}
		}
		kinds[l.Kind][stream{l.Host, l.Volume, l.Job}] = true
	}
	return kinds
}

// uniteFamilies makes one run of logs whose prefixes differ by kind only, as those of
// write_hist_log=h with write_bw_log=b: no kind comes twice, and all have the same jobs.
func (s *sorter) uniteFamilies() {
	for at, runs := range s.folders {
		if len(runs) < 2 || !oneExecution(runs) {
			continue
		}
		one := runs[0]
		for _, r := range runs {
			if len(r.Logs) > 0 {
				one = r
			}
		}
		var names []string
		for _, r := range runs {
			names = append(names, path.Base(r.Path))
			if r != one {
				one.absorb(r)
				r.gone = true
			}
		}
		s.folders[at] = []*Run{one}
		one.doubt(fmt.Sprintf("logs named %s are taken for those of one execution: the same jobs, and no kind of log twice",
			strings.Join(names, ", ")))
	}
}

// oneExecution reports whether logs of several prefixes are of one execution.
func oneExecution(runs []*Run) bool {
	var jobs map[stream]bool
	seen := map[fiolog.Kind]bool{}
	for _, r := range runs {
		for kind, of := range r.streams() {
			if seen[kind] {
				return false
			}
			seen[kind] = true
			if jobs == nil {
				jobs = of
			}
			if !maps.Equal(jobs, of) {
				return false
			}
		}
	}
	return true
}

// uniteDepths makes one run of the iodepth folders below each total_iodepth folder, which
// have the volumes of one execution. Where a volume comes twice they have several.
func (s *sorter) uniteDepths() {
	type totalKey struct {
		folder
		family string
	}
	groups := map[totalKey][]*Run{}
	var keys []totalKey
	for key, r := range s.runs {
		total := r.at.total
		if r.gone || total == "" || path.Dir(r.at.folder) != total || !strings.HasPrefix(path.Base(r.at.folder), "iodepth-") {
			continue
		}
		k := totalKey{folder{key.argument, key.archive, total}, key.family}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], r)
	}
	for _, k := range keys {
		runs := groups[k]
		s.inOrder(runs)
		if !disjoint(runs) {
			for _, r := range runs {
				r.doubt("the same volumes are in several iodepth folders of one total_iodepth: taken for several executions")
			}
			continue
		}
		one := runs[0]
		one.rename(k.path)
		for _, r := range runs[1:] {
			if r.IODepth != one.IODepth {
				one.IODepth = 0
			}
			one.absorb(r)
			r.gone = true
		}
	}
}

// disjoint reports whether no volume of a host is in several runs.
func disjoint(runs []*Run) bool {
	owner := map[[2]string]*Run{}
	take := func(r *Run, host, volume string) bool {
		key := [2]string{host, volume}
		if other := owner[key]; other != nil && other != r {
			return false
		}
		owner[key] = r
		return true
	}
	for _, r := range runs {
		for _, l := range r.logs() {
			if !take(r, l.Host, l.Volume) {
				return false
			}
		}
		for _, f := range r.Reports {
			if f.Named && !take(r, f.Host, f.Volume) {
				return false
			}
		}
	}
	return true
}

// absorb takes over what another run has.
func (r *Run) absorb(other *Run) {
	r.Logs = append(r.Logs, other.Logs...)
	r.Others = append(r.Others, other.Others...)
	r.Reports = append(r.Reports, other.Reports...)
	for _, d := range other.Doubts {
		r.doubt(d)
	}
}

// rename moves a run to another folder, which is above its own.
func (r *Run) rename(to string) {
	below, family := strings.TrimPrefix(r.at.folder, to), strings.TrimPrefix(r.Path, r.at.folder)
	r.Path = to + family
	if r.name != "" {
		r.name = strings.TrimSuffix(r.name, below+family) + family
	}
}
