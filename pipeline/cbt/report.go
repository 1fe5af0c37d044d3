package cbt

import (
	"cmp"
	"path"

	"github.com/fio2es/fio2es/pipeline/source"
)

// addReport gives a file that may be fio's output to its run, if the name that CBT gave it says which run that is, or
// its place in a sample of pbench-fio. Otherwise it returns false, and the content decides: see [attribution].
func (d *drafts) addReport(f *source.File) bool {
	base := path.Base(f.Path)
	at := d.places.of(f, false)
	if at.layout == ofSample {
		d.addSampleReport(f, &at)
		return true
	}
	isCBT := at.layout == ofCBT
	volume, host, named := parseReport(base, at.known.Benchmark != rbdfio)
	if named && host != "" {
		at = d.places.of(f, true)
	}
	runs := d.byDir[folderOf(f, at.folder)]
	if !isCBT {
		runs = without(runs, func(r *draft) bool { return r.isReported() })
	}
	if len(runs) == 0 && named && (isCBT || !f.Beside && isReport(f)) {
		runs = []*draft{d.runOf(f, &at, "output")}
	}
	if named {
		mine := without(runs, func(r *draft) bool { return !r.wrote("output") })
		if named = len(mine) > 0; named {
			runs = mine
		}
	}
	if !isCBT && !named {
		return false
	}
	name, hostOfName := splitHost(base, runs)
	r := Report{Host: cmp.Or(hostOfName, at.host), File: f, Found: FoundFolder, Candidate: true}
	if named {
		r.Volume, r.Host, r.Named, r.Found, r.Candidate = volume, cmp.Or(host, at.host), true, FoundNamed, false
	} else {
		runs = beside(runs, name)
	}
	for _, run := range runs {
		run.Reports = append(run.Reports, r)
	}
	if len(runs) == 0 && roleOf(f.Path) == roleReport {
		d.left.add(f, "may be fio's output, but there are no logs in its folder")
	}
	return true
}

// beside returns the runs in CBT's layout to which a report of that name may belong: runs whose logs have the same
// prefix or, if there are none, all runs. The content of the report decides then.
func beside(runs []*draft, base string) []*draft {
	name := stem(base)
	same := without(runs, func(r *draft) bool { return !r.hasPrefix(name) })
	if len(same) > 0 || path.Ext(base) == "" {
		return same
	}
	return runs
}
