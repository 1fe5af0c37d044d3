package cbt

import (
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// numJobs is how many jobs a section makes.
func numJobs(options map[string]string) int {
	const most = 1 << 16 // more than fio starts
	n, err := strconv.Atoi(options["numjobs"])
	if err != nil || n < 1 || n > most {
		return 1
	}
	return n
}

// jobFile reads a job file, once. One that is none is nil.
func (s *sorter) jobFile(f *source.File) *fiolog.JobFile {
	if j, ok := s.jobs[f]; ok {
		return j
	}
	s.jobs[f] = nil
	in, err := f.Open()
	if err != nil {
		s.jobErrors[f] = err
		return nil
	}
	defer in.Close()
	j, err := fiolog.ReadJobFile(in, f.Name())
	if err != nil {
		s.jobErrors[f] = err
		return nil
	}
	s.jobs[f] = j
	return j
}

// describe gives runs the job files that they were made by.
func (s *sorter) describe() {
	byDir := map[string][]*source.File{}
	for _, f := range s.jobFiles {
		byDir[s.dirOf(f)] = append(byDir[s.dirOf(f)], f)
	}
	used := map[*source.File]bool{}
	for _, r := range s.all {
		if s.gone[r] || r.at.cbt {
			continue
		}
		if f := s.jobFileOf(r, byDir); f != nil {
			r.setJob(f, s.jobFile(f))
			used[f] = true
		}
	}
	for _, f := range s.jobFiles {
		switch err := s.jobErrors[f]; {
		case used[f] || f.Beside:
		case err != nil:
			s.leave(f, "is no job file of fio: "+err.Error())
		default:
			s.leave(f, "is a job file, but of no run that is there")
		}
	}
}

// jobFileOf finds the job file of a run: beside its logs the one that names them, that is
// named as they are or as its report is, or the only one; in the folder above one that
// names them.
func (s *sorter) jobFileOf(r *Run, byDir map[string][]*source.File) *source.File {
	dirs := s.dirsOf(r)
	if r.at.sample {
		dirs = []string{r.base}
	}
	for _, dir := range dirs {
		if r.at.sample {
			for _, d := range []string{dir, path.Dir(dir)} {
				if i := slices.IndexFunc(byDir[d], func(f *source.File) bool { return s.jobFile(f) != nil }); i >= 0 {
					return byDir[d][i]
				}
			}
			continue
		}
		var alone []*source.File
		for _, f := range byDir[dir] {
			switch j := s.jobFile(f); {
			case j == nil:
			case s.describes(f, r), r.isNamed(stem(path.Base(f.Path))):
				return f
			case !ofJobFile(j).namesLogs():
				alone = append(alone, f)
			}
		}
		if len(alone) == 1 && len(byDir[dir]) == 1 && s.isOnly(r, dir) {
			return alone[0]
		}
		for _, f := range byDir[path.Dir(dir)] {
			if s.jobFile(f) != nil && s.describes(f, r) {
				return f
			}
		}
	}
	return nil
}

// describes tells whether a job file names logs of a run.
func (s *sorter) describes(f *source.File, r *Run) bool {
	of := ofJobFile(s.jobFile(f))
	return s.namedBy(of, s.dirOf(f))[r] == strong
}

// isNamed tells whether a run's logs or reports are named like that.
func (r *Run) isNamed(name string) bool {
	return r.hasPrefix(name) || slices.ContainsFunc(r.Reports, func(f Report) bool { return stem(path.Base(f.File.Path)) == name })
}

// setJob takes over what a job file says.
func (r *Run) setJob(f *source.File, j *fiolog.JobFile) {
	r.Job, r.JobOptions = f, j.Common()
	o := r.JobOptions
	if r.Mode == "" && modes[o["rw"]] {
		r.Mode = o["rw"]
	}
	if n, ok := fiolog.ParseSize(o["bs"]); ok && r.OpSize == 0 {
		r.OpSize = n
	}
	for option, to := range map[string]*int64{"iodepth": &r.IODepth, "numjobs": &r.NumJobs, "rwmixread": &r.RWMixRead} {
		if *to == 0 {
			*to = number(o[option])
		}
	}
	for option, to := range map[string]*int64{"runtime": &r.Runtime, "ramp_time": &r.Ramp} {
		if d, ok := fiolog.ParseTime(o[option]); ok && *to == 0 {
			*to = int64(d / time.Second)
		}
	}
}
