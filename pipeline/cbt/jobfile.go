package cbt

import (
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

func readJobFile(f *source.File) (*fiolog.JobFile, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return fiolog.ReadJobFile(in, f.Name())
}

// describe gives runs their job files. Job files of no run go to the leftovers.
func (a *attribution) describe() {
	byDir := map[string][]*clue{}
	for _, p := range a.jobs {
		byDir[p.dir] = append(byDir[p.dir], p)
	}
	used := map[*clue]bool{}
	for _, r := range a.runs.present() {
		if r.at.layout == ofCBT {
			continue
		}
		if p := a.jobOf(r, byDir); p != nil {
			if r.Job = p.file; !p.job.Includes {
				r.Sections = p.job.Sections
			}
			used[p] = true
		}
	}
	for _, p := range a.jobs {
		if p.isJob() && !used[p] && !p.file.Beside {
			a.runs.left.add(p.file, "is a job file, but no run here belongs to it")
		}
	}
}

// jobOf returns the job file of a run. In a folder of its logs, this is the file that names the logs, or has their name
// or a report's, or is the only one. In the folder above, it is the file that names the logs.
func (a *attribution) jobOf(r *draft, byDir map[string][]*clue) *clue {
	if r.at.layout == ofSample { // newer versions of pbench-fio keep one for all samples
		files := slices.Concat(byDir[r.base], byDir[path.Dir(r.base)])
		if i := slices.IndexFunc(files, (*clue).isJob); i >= 0 {
			return files[i]
		}
		return nil
	}
	describes := func(p *clue) bool { return slices.Contains(p.options, r) }
	for _, dir := range a.places.dirsOf(r) {
		here, above := byDir[dir], byDir[path.Dir(dir)]
		if i := slices.IndexFunc(here, func(p *clue) bool { return p.isJob() && (describes(p) || r.isNamed(p.name)) }); i >= 0 {
			return here[i]
		}
		if len(here) == 1 && here[0].isJob() && a.index.isOnly(r, dir) && !here[0].claims.namesLogs() {
			return here[0]
		}
		if i := slices.IndexFunc(above, describes); i >= 0 {
			return above[i]
		}
	}
	return nil
}

// isNamed reports whether a run's logs or reports have that name.
func (r *draft) isNamed(name string) bool {
	return r.hasPrefix(name) || slices.ContainsFunc(r.Reports, func(f Report) bool { return stem(path.Base(f.File.Path)) == name })
}
