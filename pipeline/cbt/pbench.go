package cbt

import (
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/source"
)

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
