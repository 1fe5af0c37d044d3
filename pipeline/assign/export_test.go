package assign

import (
	"context"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/pipeline/evidence"
)

// KindOf returns what one of some files is, in short.
func KindOf(ctx context.Context, files []*evidence.File, name string) string {
	is := func(f *evidence.File) bool { return f.Path == name }
	s := newSorter(ctx, files)
	logs, reports, jobs := s.kinds()
	for _, l := range logs {
		if is(l.file) {
			return fmt.Sprintf("log %s %s %d %s", l.name.Kind, l.name.Prefix, l.name.Job, l.name.Host)
		}
	}
	switch {
	case slices.ContainsFunc(reports, is):
		return "report"
	case slices.ContainsFunc(jobs, is):
		return "job"
	case slices.ContainsFunc(s.left, func(l Left) bool { return is(l.File) }):
		return "left"
	}
	return ""
}

// LookAtWorkloads makes [Run.Configure] look at each workload of the configuration.
func (r *Run) LookAtWorkloads() { r.at.ModeSize = true }
