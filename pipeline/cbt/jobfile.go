package cbt

import (
	"io"
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

// readJobFile is what is in a job file, or why it is none.
type readJobFile struct {
	*fiolog.JobFile
	err error
}

// jobFile reads a job file, once. One that is none is nil.
func (c *contents) jobFile(f *source.File) *fiolog.JobFile {
	j, ok := c.jobs[f]
	if !ok {
		var in io.ReadCloser
		if in, j.err = f.Open(); j.err == nil {
			j.JobFile, j.err = fiolog.ReadJobFile(in, f.Name())
			in.Close()
		}
		c.jobs[f] = j
	}
	if j.err != nil {
		return nil
	}
	return j.JobFile
}

// describe gives runs the job files that they were made by.
func (s *sorter) describe() {
	byDir := map[string][]*source.File{}
	for _, f := range s.jobFiles {
		byDir[s.dirOf(f)] = append(byDir[s.dirOf(f)], f)
	}
	used := map[*source.File]bool{}
	for _, r := range s.present() {
		if r.at.cbt {
			continue
		}
		if f := s.jobFileOf(r, byDir); f != nil {
			r.setJob(f, s.jobFile(f))
			used[f] = true
		}
	}
	for _, f := range s.jobFiles {
		switch err := s.jobs[f].err; {
		case used[f] || f.Beside:
		case err != nil:
			s.leave(f, "is no job file of fio: "+err.Error())
		default:
			s.leave(f, "is a job file, but of no run that is there")
		}
	}
}

// jobFileOf finds the job file of a run.
func (s *sorter) jobFileOf(r *Run, byDir map[string][]*source.File) *source.File {
	isJobFile := func(f *source.File) bool { return s.jobFile(f) != nil }
	if r.at.sample { // newer versions of pbench-fio keep one for all samples
		for _, dir := range []string{r.base, path.Dir(r.base)} {
			if i := slices.IndexFunc(byDir[dir], isJobFile); i >= 0 {
				return byDir[dir][i]
			}
		}
		return nil
	}
	for _, dir := range s.dirsOf(r) {
		if f := s.jobFileBeside(r, byDir[dir]); f != nil {
			return f
		}
		if files := byDir[dir]; len(files) == 1 && isJobFile(files[0]) && s.isOnly(r, dir) && !ofJobFile(s.jobFile(files[0])).namesLogs() {
			return files[0]
		}
		above := byDir[path.Dir(dir)]
		if i := slices.IndexFunc(above, func(f *source.File) bool { return isJobFile(f) && s.describes(f, r) }); i >= 0 {
			return above[i]
		}
	}
	return nil
}

// jobFileBeside is the one of some job files in the folder of a run's logs that names these,
// or is named as they are or as a report is.
func (s *sorter) jobFileBeside(r *Run, files []*source.File) *source.File {
	for _, f := range files {
		if s.jobFile(f) != nil && (s.describes(f, r) || r.isNamed(stem(path.Base(f.Path)))) {
			return f
		}
	}
	return nil
}

// describes reports whether a job file names logs of a run.
func (s *sorter) describes(f *source.File, r *Run) bool {
	of := ofJobFile(s.jobFile(f))
	return s.namedBy(of, s.dirOf(f))[r] == strong
}

// isNamed reports whether a run's logs or reports are named like that.
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
