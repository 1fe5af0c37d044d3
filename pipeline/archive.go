package pipeline

import (
	"context"
	"io"
	"strings"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Archive is what was found under some paths: runs, and what belongs to none.
type Archive struct {
	Runs []*cbt.Run
	// Left are files that look like fio's but belong to no run, Skipped what is not of
	// fio at all.
	Left    []cbt.Left
	Skipped []cbt.Skipped
	// Problems are files and archives that could not be looked into.
	Problems []*source.Problem

	set *source.Set
}

// Open finds the runs under the paths: logs, folders, archives, "-" for stdin.
// progress may be nil. The archive must be closed.
func Open(ctx context.Context, paths []string, stdin io.Reader, progress func(source.Progress)) (*Archive, error) {
	opt := cbt.Options()
	opt.Stdin, opt.Progress = stdin, progress
	set, err := source.Scan(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	unwrap(set.Files)
	found := cbt.Read(set.Files)
	return &Archive{Runs: found.Runs, Left: found.Left, Skipped: found.Skipped, Problems: set.Problems, set: set}, nil
}

// unwrap takes the folder off the paths of an archive that has nothing but a folder of
// its own name: lab.tar, made by "tar c lab", is what the folder lab is.
func unwrap(files []*source.File) {
	for len(files) > 0 {
		n, wrapped := 0, true
		for n < len(files) && files[n].Root == files[0].Root {
			wrapped = wrapped && strings.HasPrefix(files[n].Path, files[n].Archive+"/")
			n++
		}
		for _, f := range files[:n] {
			if wrapped {
				f.Path = strings.TrimPrefix(f.Path, f.Archive+"/")
			}
		}
		files = files[n:]
	}
}

// Close lets go of what the runs are read from.
func (a *Archive) Close() error { return a.set.Close() }

// Together makes one run of several, for logs that the user named one by one: whatever
// wrote them, they are to be merged.
func Together(runs []*cbt.Run) []*cbt.Run {
	if len(runs) < 2 {
		return runs
	}
	one := *runs[0]
	for _, r := range runs[1:] {
		one.Logs = append(one.Logs[:len(one.Logs):len(one.Logs)], r.Logs...)
		one.Others = append(one.Others[:len(one.Others):len(one.Others)], r.Others...)
		one.Reports = append(one.Reports[:len(one.Reports):len(one.Reports)], r.Reports...)
	}
	return []*cbt.Run{&one}
}
