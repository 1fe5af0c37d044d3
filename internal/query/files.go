package query

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Files are the runs found under some paths. They must be closed.
type Files struct {
	*pipeline.Archive
	Runs []*Run
}

// FileOptions says how files are read.
type FileOptions struct {
	pipeline.Options
	Stdin    io.Reader             // contents of the path "-"
	Progress func(source.Progress) // called during the search for files; may be nil
	// LogsAlone leaves out the reports beside logs that are given by name.
	LogsAlone bool
}

// Open finds the runs under paths: logs, folders, archives, or "-" for stdin. Logs given by name are one run. If
// there are no runs, it returns an error, and also the files, because they have the reason.
func Open(ctx context.Context, paths []string, opt FileOptions) (*Files, error) {
	archive, err := pipeline.Open(ctx, paths, opt.Stdin, opt.Progress)
	if err != nil {
		return nil, err
	}
	archive.Until(ctx)
	found := &Files{Archive: archive}
	if err := archive.CheckHosts(opt.Offsets); err != nil && len(archive.Runs) > 0 {
		return found, UsageError{err}
	}
	runs := pipeline.Together(archive.Runs, opt.LogsAlone)
	opt.Alone = pipeline.IsLoose(runs)
	if opt.LogsAlone {
		runs = pipeline.NamedOnly(runs)
	}
	for _, run := range runs {
		found.Runs = append(found.Runs, &Run{Name: run.Name(), Path: run.Path, from: &fileReader{run, opt.Options}})
	}
	if len(runs) == 0 {
		return found, pipeline.NoRuns(paths)
	}
	return found, nil
}

type fileReader struct {
	run *cbt.Run
	opt pipeline.Options
}

func (f *fileReader) read(ctx context.Context, r *Run, q *Query, take func(*window.Window) error) (*mapping.Run, error) {
	opt := f.opt
	opt.Levels = q.levels()
	if take == nil {
		take = func(*window.Window) error { return nil }
	}
	res, err := pipeline.Read(ctx, f.run, opt, take)
	if err != nil {
		return nil, err
	}
	for _, lost := range res.Skipped {
		r.Warnings = append(r.Warnings, lost.Error())
	}
	for _, note := range res.Notes {
		r.Notes = append(r.Notes, note.Error())
	}
	r.Details = res.Why()
	return res.Run, nil
}

// IsFile reports whether an argument is a single file, or a pattern, and not an archive. Such arguments are read
// together with their neighbours.
func IsFile(arg string) bool {
	if !IsPath(arg) || arg == "-" {
		return false
	}
	info, err := os.Stat(arg)
	if err != nil {
		return strings.ContainsAny(arg, "*?[")
	}
	return info.Mode().IsRegular() && !source.IsArchive(arg)
}

// Group divides arguments into parts that are read together: neighbouring paths for which joins returns true,
// neighbouring runs of the history, and each other path alone.
func Group(args []string, joins func(string) bool) (parts [][]string) {
	for i, arg := range args {
		if i > 0 && IsPath(arg) == IsPath(args[i-1]) && (!IsPath(arg) || joins(arg) && joins(args[i-1])) {
			last := &parts[len(parts)-1]
			*last = append(*last, arg)
		} else {
			parts = append(parts, []string{arg})
		}
	}
	return parts
}
