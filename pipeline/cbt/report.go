package cbt

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/mapping"
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

const (
	pbenchReport = "fio-result.txt" // fio's output in the folder of a sample
	clientsDir   = "clients"        // in it are the folders of the hosts
)

var (
	sampleDir = regexp.MustCompile(`^sample\d+$`)
	pbenchDir = regexp.MustCompile(`^\d+-([a-z]+)-(\d+)KiB`) // MODE-SIZE, the folder above
)

// sampleOf returns the folder that is a sample of pbench-fio because it has this file, or "". Most files show nothing.
func sampleOf(name string) string {
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	above := path.Dir(dir)
	switch {
	case base == pbenchReport:
		return dir
	case path.Base(above) == clientsDir && roleOf(name) == roleLog:
		return path.Dir(above)
	}
	return ""
}

// findSample finds the folder of a sample of pbench-fio: ITERATION/sampleN, with the logs in clients/HOST. It returns
// false if the file is in no sample.
func (p *place) findSample(parts []string, isSample func(dir string) bool) bool {
	i := len(parts) - 1
	for i >= 0 && !(sampleDir.MatchString(parts[i]) && isSample(join(parts[:i+1]))) {
		i--
	}
	if i < 0 {
		return false
	}
	switch rest := parts[i+1:]; {
	case len(rest) == 0:
	case len(rest) == 2 && rest[0] == clientsDir:
		p.host = rest[1]
	default:
		return false
	}
	p.layout, p.folder, p.known.Benchmark = ofSample, join(parts[:i+1]), mapping.PBench
	p.name = p.folder
	if p.folder == "." {
		p.name = parts[0]
	}
	if i == 0 {
		return true
	}
	if m := pbenchDir.FindStringSubmatch(parts[i-1]); m != nil && isMode(m[1]) {
		p.known.Mode = m[1]
		if kib, err := strconv.ParseInt(m[2], 10, 32); err == nil {
			p.known.OpSize = kib * 1024
		}
	}
	return true
}

// addSampleReport gives a report in the folder of a sample to its run.
func (d *drafts) addSampleReport(f *source.File, at *place) {
	if !isReport(f) {
		if roleOf(f.Path) == roleReport {
			d.left.addUnread(f, "is not fio's output")
		}
		return
	}
	r := d.runOf(f, at, "")
	found := Report{Host: at.host, File: f, Found: FoundFolder, Candidate: true}
	if path.Base(f.Path) == pbenchReport {
		found.Found, found.Candidate = FoundNamed, false
	}
	if hosts := r.logHosts(); slices.Equal(hosts, []string{"localhost"}) {
		found.Host = hosts[0] // without fio --client the report has no names of hosts
	}
	r.Reports = append(r.Reports, found)
}
