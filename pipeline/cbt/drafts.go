package cbt

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// draft is a run that files are being sorted into.
type draft struct {
	Run
	at       place
	argument string // that it was found under
	family   string // of the logs' prefixes; "" in the folder of a sample
	base     string // the folder at.folder, see [catalog.dirOf]
	gone     bool   // it is part of another, or a copy, or has no files left
	into     *draft // which other
	guess    string // why its logs are read as one run, if that is not certain
}

// now returns the run into which this one was absorbed, or itself.
func (r *draft) now() *draft {
	for r.into != nil {
		r = r.into
	}
	return r
}

// absorb takes over what another run has.
func (r *draft) absorb(other *draft) {
	r.Logs = append(r.Logs, other.Logs...)
	r.Others = append(r.Others, other.Others...)
	r.Reports = append(r.Reports, other.Reports...)
	for _, d := range other.Doubts {
		r.doubt(d)
	}
	other.gone, other.into = true, r
}

// drafts are the runs that files are sorted into, by places and names.
type drafts struct {
	places *places
	all    []*draft // in the order of their first files
	byName map[runKey]*draft
	byDir  map[folder][]*draft // by the folder of their files, less the host
	logs   map[logKey]*source.File
	left   *leftovers
}

type runKey struct {
	folder
	family string
}

type logKey struct {
	run          *draft
	kind         fiolog.Kind
	host, prefix string
	job          int
}

func keyOf(r *draft, l *Log) logKey { return logKey{r, l.Kind, l.Host, l.Prefix, l.Job} }

func newDrafts(p *places, left *leftovers) *drafts {
	return &drafts{places: p, byName: map[runKey]*draft{}, byDir: map[folder][]*draft{}, logs: map[logKey]*source.File{}, left: left}
}

// runOf finds or makes the run of files of one family of names in one place.
func (d *drafts) runOf(f *source.File, at *place, family string) *draft {
	if at.layout == ofSample {
		family = "" // all files there are of one execution
	}
	key := runKey{folderOf(f, at.folder), family}
	r := d.byName[key]
	if r == nil {
		r = &draft{at: *at, argument: key.argument, family: family, base: path.Join(d.places.rootOf(f), at.folder)}
		r.Archive, r.Path, r.CBT, r.name = f.Archive, at.folder, at.known, at.name
		// CBT has one family in a folder. Elsewhere others may be added any day.
		if at.layout != ofCBT || family != "output" {
			r.Path = path.Join(r.Path, family)
			if r.name != "" {
				r.name = path.Join(r.name, family)
			}
		}
		r.Configs = Configs{
			Config:        d.places.config(folderOf(f, cmp.Or(at.config, path.Dir(f.Path))), configName),
			ArchiveConfig: d.places.config(folderOf(f, at.root), archiveConfigName),
			id:            at.config,
			modeSize:      at.modeSize,
		}
		d.byName[key] = r
		d.all = append(d.all, r)
		d.byDir[key.folder] = append(d.byDir[key.folder], r)
	}
	if at.doubt != "" {
		r.doubt(at.doubt)
	}
	return r
}

func (d *drafts) addLog(log *logFile) {
	f, name := log.file, log.name
	at := d.places.of(f, name.Host != "")
	family, volume := splitPrefix(name.Prefix)
	r := d.runOf(f, &at, family)
	if log.doubt != "" {
		r.doubt(log.doubt)
	}
	l := Log{
		Kind: name.Kind, Host: cmp.Or(name.Host, at.host), Volume: volume, Job: name.Job,
		Prefix: name.Prefix, Stored: name.Stored, File: f,
	}
	key := keyOf(r, &l)
	if used := d.logs[key]; used != nil {
		d.left.addNotable(f, "a second log of the same host, volume and job; used "+used.Name())
		return
	}
	d.logs[key] = f
	if name.Host != "" && at.host != "" && !SameHost(name.Host, at.host) {
		r.doubt(fmt.Sprintf("%s: taken for host %s, as its name says; its folder says %s", f.Name(), name.Host, at.host))
	}
	if l.Kind.IsHistogram() {
		r.Logs = append(r.Logs, l)
	} else {
		r.Others = append(r.Others, l)
	}
}

// dropAllJobsLogs drops logs of all jobs if there are also logs of single jobs: one of the two kinds is from another
// execution, and together they would count requests twice.
func (d *drafts) dropAllJobsLogs() {
	single := map[logKey]bool{}
	for key := range d.logs {
		if key.job > 0 {
			key.job = 0
			single[key] = true
		}
	}
	for _, r := range d.all {
		r.dropLogs(func(l Log) bool {
			if l.Job > 0 || !single[keyOf(r, &l)] {
				return false
			}
			d.left.addNotable(l.File, "a log of all jobs beside logs of single jobs: it would count requests twice")
			return true
		})
	}
}

// dropBandwidth drops runs outside of CBT's layout that have only logs of bandwidth. They have neither requests nor
// latencies, and other programs use such names, too.
func (d *drafts) dropBandwidth() {
	for _, r := range d.present() {
		isOther := func(l Log) bool { return l.Kind != fiolog.BW }
		if r.at.layout != ofPeople || len(r.Reports) > 0 || slices.ContainsFunc(r.logs(), isOther) {
			continue
		}
		for _, l := range r.Others {
			d.left.addNotable(l.File, "only bandwidth, and neither a report nor another log belongs to it: add fio's report, whose options name it")
		}
		r.gone = true
	}
}

// present returns the runs that are neither parts of others nor copies.
func (d *drafts) present() []*draft { return without(d.all, func(r *draft) bool { return r.gone }) }

func (d *drafts) inOrder(runs []*draft) {
	slices.SortStableFunc(runs, func(a, b *draft) int { return d.first(a) - d.first(b) })
}

// first returns the position of a run's first file. The configuration does not count, because runs share it.
func (d *drafts) first(r *draft) int {
	first := len(d.places.order)
	for _, l := range r.logs() {
		first = min(first, d.places.order[l.File])
	}
	for _, f := range r.Reports {
		first = min(first, d.places.order[f.File])
	}
	return first
}
