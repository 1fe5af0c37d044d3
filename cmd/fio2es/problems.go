package main

import (
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/source"
)

// sayer warns about what cannot be read, and decides which messages are news.
type sayer interface {
	Problem(*source.Problem) (leftOut bool)
	IsNews(text string) bool
}

// always says everything.
type always struct{ *env }

func (a always) Problem(p *source.Problem) (leftOut bool) {
	a.log.Warn(p.Error())
	return true
}

func (always) IsNews(string) bool { return true }

// logProblems reports files that cannot be read and files that belong to no run. It returns whether
// there are files that cannot be read.
func (e *env) logProblems(archive *pipeline.Archive) bool { return e.sayProblems(archive, always{e}) }

// sayProblems is logProblems with another way to say them.
func (e *env) sayProblems(archive *pipeline.Archive, to sayer) (leftOut bool) {
	for _, p := range archive.Problems {
		leftOut = to.Problem(p) || leftOut
	}
	note := func(text string) {
		if to.IsNews(text) {
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
	return leftOut
}

// andMore is the end of a message that stands for others like it.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return " (and " + unit.Count(int64(n)) + " more like this)"
}
