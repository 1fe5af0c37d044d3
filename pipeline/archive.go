package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Archive has the runs that were found under some paths, and the files that belong to no run.
type Archive struct {
	*cbt.Archive
	// Problems are files and archives that could not be read.
	Problems []*source.Problem
	// Empty lists the paths without files of fio or CBT, and without files that could not be read. It is nil if there is
	// only one path.
	Empty []string

	set *source.Set
}

// Open finds the runs under the paths: logs, folders, archives, "-" for stdin.
// progress may be nil. The archive must be closed.
func Open(ctx context.Context, paths []string, stdin io.Reader, progress func(source.Progress)) (*Archive, error) {
	opt := cbt.Options()
	opt.Stdin, opt.Progress = stdin, progress
	return open(ctx, paths, opt)
}

// OpenToStore is Open for runs that will be stored. It also hashes what it unpacks, because the contents of its files
// identify a run.
func OpenToStore(ctx context.Context, paths []string, stdin io.Reader, progress func(source.Progress)) (*Archive, error) {
	opt := cbt.Options()
	opt.Stdin, opt.Progress, opt.Sums = stdin, progress, true
	return open(ctx, paths, opt)
}

func open(ctx context.Context, paths []string, opt source.Options) (*Archive, error) {
	set, err := source.Scan(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	unwrap(set.Files)
	set.Until(ctx)
	found := cbt.Read(ctx, set.Files)
	set.Until(context.Background())
	if err := cmp.Or(ctx.Err(), set.Budget().Err()); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	if len(set.Unread) > 0 {
		for _, run := range found.Runs {
			run.NoteUnread(set.Unread)
		}
	}
	a := &Archive{Archive: found, Problems: set.Problems, set: set}
	for _, path := range paths {
		isRefused := func(p *source.Problem) bool { return strings.HasPrefix(p.Name, path) }
		_, err := os.Stat(path)
		if len(paths) > 1 && err == nil && !a.Roots[path] && !slices.ContainsFunc(a.Problems, isRefused) {
			a.Empty = append(a.Empty, path)
		}
	}
	return a, nil
}

// List lists the files that Open would read under the paths. It opens no file.
func List(ctx context.Context, paths []string) (*source.Listing, error) {
	return source.List(ctx, paths, cbt.Options())
}

// NoRuns is the error for paths without runs.
func NoRuns(paths []string) error {
	return fmt.Errorf("no fio logs (such as *_clat_hist.*.log) or reports under %s", strings.Join(paths, ", "))
}

// unwrap removes the top folder from the paths of an archive that has nothing else, if the folder is named like the
// archive: lab.tar, made by "tar c lab", is the same as the folder lab.
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

// CheckHosts returns an error if offsets has a host that is in no run, because the correction of its clock would have
// no effect.
func (a *Archive) CheckHosts(offsets map[string]time.Duration) error {
	names := map[string]bool{}
	for _, r := range a.Runs {
		for _, host := range r.HostNames() {
			names[host] = true
		}
	}
	have := slices.Sorted(maps.Keys(names))
	for _, host := range slices.Sorted(maps.Keys(offsets)) {
		if names[host] {
			continue
		}
		if len(have) == 0 {
			return fmt.Errorf("offset of host %s: no file here names its host: FIO2ES_START sets when the run began", host)
		}
		return fmt.Errorf("offset of host %s: no run has such a host; the hosts are %s", host, strings.Join(have, ", "))
	}
	return nil
}

// SetHost sets the host of all files that do not name their host.
func (a *Archive) SetHost(host string) {
	for _, run := range a.Runs {
		for _, logs := range [][]cbt.Log{run.Logs, run.Others} {
			for i := range logs {
				logs[i].Host = cmp.Or(logs[i].Host, host)
			}
		}
		for i := range run.Reports {
			run.Reports[i].Host = cmp.Or(run.Reports[i].Host, host)
		}
	}
}

// Until ends all reading of the archive when ctx ends. It is not part of Open, because follow stores what it has read
// when it is interrupted.
func (a *Archive) Until(ctx context.Context) { a.set.Until(ctx) }

// Close closes the files of the runs.
func (a *Archive) Close() error { return a.set.Close() }

// Together merges runs whose logs the user named one by one, unless it is known that they did not run at the same time. If
// all is true, it merges these, too. Runs from folders and archives do not change. If several jobs of the merged run have the same host, volume and
// number, the later ones get their prefix as a volume.
func Together(runs []*cbt.Run, all bool) []*cbt.Run {
	var loose [][]*cbt.Run
	var others []*cbt.Run
	for _, r := range runs {
		if !r.IsLoose() {
			others = append(others, r)
			continue
		}
		i := slices.IndexFunc(loose, func(of []*cbt.Run) bool { return all || slices.ContainsFunc(of, r.MayBeWith) })
		if i < 0 {
			i, loose = len(loose), append(loose, nil)
		}
		loose[i] = append(loose[i], r)
	}
	var one []*cbt.Run
	for _, of := range loose {
		one = append(one, merged(of))
	}
	return append(one, others...)
}

func merged(runs []*cbt.Run) *cbt.Run {
	if len(runs) == 1 {
		return runs[0]
	}
	one := *runs[0]
	one.Logs, one.Others, one.Reports, one.Doubts, one.Unsure = nil, nil, nil, nil, "" // the user says that they are one
	prefixes := map[plan.JobKey]string{}
	apart := func(logs []cbt.Log) []cbt.Log {
		logs = slices.Clone(logs)
		for i := range logs {
			l := &logs[i]
			key := plan.JobKey{Host: l.Host, Volume: l.Volume, Number: l.Job}
			if prefix, ok := prefixes[key]; ok && prefix != l.Prefix {
				l.Volume = l.Prefix
				continue
			}
			prefixes[key] = l.Prefix
		}
		return logs
	}
	for _, r := range runs {
		one.Logs = append(one.Logs, apart(r.Logs)...)
		one.Others = append(one.Others, apart(r.Others)...)
		for _, f := range r.Reports {
			if !slices.ContainsFunc(one.Reports, func(have cbt.Report) bool { return have.File == f.File }) {
				one.Reports = append(one.Reports, f)
			}
		}
		one.Doubts = append(one.Doubts, r.Doubts...)
	}
	return &one
}

// NamedOnly returns the runs without the reports that were found beside logs that the user
// named.
func NamedOnly(runs []*cbt.Run) []*cbt.Run {
	var named []*cbt.Run
	for _, r := range runs {
		one := *r
		one.Reports = slices.DeleteFunc(slices.Clone(r.Reports), func(f cbt.Report) bool { return f.File.Beside })
		named = append(named, &one)
	}
	return named
}

// IsLoose reports whether the user named all files of the runs one by one. Then no other files are expected.
func IsLoose(runs []*cbt.Run) bool {
	return !slices.ContainsFunc(runs, func(r *cbt.Run) bool { return !r.IsLoose() })
}
