package cbt

import (
	"path"
	"strings"
)

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
	type device struct{ host, volume string }
	owner := map[device]*draft{}
	for _, r := range runs {
		var volumes []device
		for _, l := range r.logs() {
			volumes = append(volumes, device{l.Host, l.Volume})
		}
		for _, f := range r.Reports {
			if f.Named {
				volumes = append(volumes, device{f.Host, f.Volume})
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
