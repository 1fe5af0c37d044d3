package query

import (
	"context"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Files are the executions of fio found under some paths. They must be closed.
type Files struct {
	*pipeline.Archive
	executions []*assign.Run
	histograms []*export.Run // of files that are neither logs nor reports of fio
	opt        pipeline.Options
}

// FileOptions says how files are read.
type FileOptions struct {
	pipeline.Options
	Stdin    io.Reader             // contents of the path "-"
	Progress func(source.Progress) // called during the search for files; may be nil
	Hosts    []assign.HostPath     // of the paths, if the user says that they are one run
	Unit     string                // of values in files of histograms that do not say it: see [export.ReadOptions]
}

// Open finds the runs under paths: logs, folders, archives, files of histograms, or "-" for stdin. Logs given by name are one run. If
// there are no runs, it returns an error, and also the files, because they have the reason.
func Open(ctx context.Context, paths []string, opt FileOptions) (*Files, error) {
	archive, err := pipeline.OpenToRead(ctx, paths, opt.Stdin, opt.Progress, opt.Hosts...)
	if err != nil {
		return nil, err
	}
	archive.Until(ctx)
	found := &Files{Archive: archive}
	if found.histograms, err = readHistograms(archive, opt.Unit); err != nil {
		return found, err
	}
	if err := archive.CheckHosts(opt.Offsets); err != nil && len(archive.Runs) > 0 {
		return found, UsageError{err}
	}
	runs := archive.Runs
	if opt.Hosts == nil {
		runs, opt.Alone = pipeline.Together(runs)
	}
	found.executions, found.opt = runs, opt.Options
	if len(runs)+len(found.histograms) == 0 {
		return found, pipeline.NoRuns(paths)
	}
	return found, nil
}

// Runs iterates over the runs: the stages of one execution after another. Each can be read before the next one. An error
// ends the runs.
func (f *Files) Runs(ctx context.Context) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		for _, execution := range f.executions {
			name := f.nameOf(execution)
			for stage, err := range pipeline.Stages(ctx, execution, f.opt, false) {
				if err != nil {
					yield(nil, err)
					return
				}
				run := &Run{Name: stage.NameIn(name), Path: stage.NameIn(execution.Below), stage: stage}
				run.IsOnly = len(f.executions)+len(f.histograms) == 1
				run.IsAlone = run.IsOnly && !stage.IsDivided()
				if !yield(run, nil) {
					return
				}
			}
		}
		for _, of := range f.histograms {
			isOnly := len(f.executions)+len(f.histograms) == 1
			if !yield(&Run{Name: of.Info.Name, Path: of.Info.Name, histograms: of, IsOnly: isOnly, IsAlone: isOnly}, nil) {
				return
			}
		}
	}
}

// nameOf returns the name of an execution, with its archive if there are several, and its folder if another has the same name.
func (f *Files) nameOf(execution *assign.Run) string {
	name, own := execution.Name(), execution.Name()
	isElsewhere := func(o *assign.Run) bool { return o.Archive != execution.Archive && o.Name() == own }
	if execution.ByCBT() && slices.ContainsFunc(f.executions, isElsewhere) {
		name = execution.Archive + ":" + name
	}
	for _, other := range f.executions {
		if other != execution && !(execution.ByCBT() && other.Archive != execution.Archive) && other.Name() == own {
			if files := execution.Files(); len(files) > 0 {
				return name + " in " + path.Dir(filepath.ToSlash(files[0].Name()))
			}
		}
	}
	return name
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

// Pick says which runs of archives are wanted.
type Pick struct {
	Include, Exclude []string // patterns for archive:path; * stands for any text
}

// Compile returns a function that reports whether a run is wanted, given its archive and path.
func (p Pick) Compile() func(archive, path string) bool {
	include, exclude := patterns(p.Include), patterns(p.Exclude)
	return func(archive, path string) bool {
		matches := func(p *regexp.Regexp) bool { return p.MatchString(archive + ":" + path) }
		return (len(include) == 0 || slices.ContainsFunc(include, matches)) && !slices.ContainsFunc(exclude, matches)
	}
}

func patterns(texts []string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, t := range texts {
		out = append(out, regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(t), `\*`, `.*`)))
	}
	return out
}
