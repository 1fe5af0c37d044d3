package main

import (
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
)

// logProblems reports files that cannot be read and files that belong to no run. leftOut reports whether there are
// files that cannot be read.
func (e *env) logProblems(archive *pipeline.Archive) (leftOut bool) {
	for _, p := range archive.Problems {
		e.log.Warn(p.Error())
	}
	e.logLeft(archive, func(string) bool { return true })
	return len(archive.Problems) > 0
}

// logLeft reports files that belong to no run. It logs a message only at level debug if isNews returns false for it.
func (e *env) logLeft(archive *pipeline.Archive, isNews func(text string) bool) {
	note := func(text string) {
		if isNews(text) {
			e.log.Info(text)
		} else {
			e.log.Debug(text)
		}
	}
	for _, l := range archive.Left {
		if l.Notable {
			note("note: " + l.File.Name() + ": " + l.Reason + andMore(l.More))
			continue
		}
		e.log.Debug("belongs to no run: "+l.Reason+andMore(l.More), "file", l.File.Name())
	}
	for _, s := range archive.Skipped {
		note("note: skipped " + s.Path + ": " + s.Reason)
	}
	if len(archive.Empty) > 0 {
		note("note: no fio logs or reports under " + unit.List(archive.Empty, 3, ", "))
	}
}

// andMore returns the end of a message that also stands for n similar ones.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return " (and " + unit.Count(int64(n)) + " more like this)"
}
