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

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Archive has the runs that were found under some paths, and the files that belong to no run. It must be closed. Its Until
// ends all reading; it is not part of Open, because follow stores what it has read when it is interrupted.
type Archive struct {
	*assign.Archive
	*source.Set
	// Empty lists the paths without files of fio or CBT, and without files that could not be read. It is nil if there is
	// only one path.
	Empty []string
}

// Open finds the runs under the paths: logs, folders, archives, "-" for stdin.
// progress may be nil. hosts says of which hosts the paths have files: they are one run.
func Open(ctx context.Context, paths []string, stdin io.Reader, progress func(source.Progress), hosts ...assign.HostPath) (*Archive, error) {
	return open(ctx, paths, source.Options{Stdin: stdin, Progress: progress, Sums: true}, hosts)
}

// OpenToRead is [Open] for a caller that does not ask for [Stage.Execution]: what is unpacked is not hashed.
func OpenToRead(ctx context.Context, paths []string, stdin io.Reader, progress func(source.Progress), hosts ...assign.HostPath) (*Archive, error) {
	return open(ctx, paths, source.Options{Stdin: stdin, Progress: progress}, hosts)
}

func open(ctx context.Context, paths []string, with source.Options, hosts []assign.HostPath) (*Archive, error) {
	opt := layout.Options()
	opt.Stdin, opt.Progress, opt.Sums = with.Stdin, with.Progress, with.Sums
	set, err := source.Scan(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	for files := set.Files; len(files) > 0; {
		// lab.tar, made by "tar c lab", is the same as the folder lab. So the top folder of an archive that has nothing
		// else goes, if it is named like the archive.
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
	set.Until(ctx)
	found, err := assign.Read(ctx, evidence.All(set.Files), hosts)
	set.Until(context.Background())
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	if len(set.Unread) > 0 {
		for _, run := range found.Runs {
			run.NoteUnread(set.Unread)
		}
	}
	a := &Archive{Archive: found, Set: set}
	for _, path := range paths {
		isRefused := func(p *source.Problem) bool { return strings.HasPrefix(p.Name, path) }
		_, err := os.Stat(path)
		if len(paths) > 1 && err == nil && !a.Roots[path] && !slices.ContainsFunc(a.Problems, isRefused) {
			a.Empty = append(a.Empty, path)
		}
	}
	return a, nil
}

// NoRuns is the error for paths without runs.
func NoRuns(paths []string) error {
	return fmt.Errorf("no fio logs (such as *_clat_hist.*.log) or reports under %s", strings.Join(paths, ", "))
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
		run.SetHost(host)
	}
}

// Together merges runs whose logs the user named one by one, unless it is known that they did not run at the same time. Runs
// from folders and archives do not change. If several jobs of the merged run have the same host, volume and number, the later ones get their prefix as a
// volume. Logs of one name in several folders stay apart. alone means that the user named all files, so no other files are expected.
func Together(runs []*assign.Run) (together []*assign.Run, alone bool) {
	var loose [][]*assign.Run
	var others []*assign.Run
	for _, r := range runs {
		if !r.IsLoose() {
			others = append(others, r)
			continue
		}
		i := slices.IndexFunc(loose, func(of []*assign.Run) bool {
			return slices.ContainsFunc(of, r.MayBeWith) && !haveSameNames(append(of[:len(of):len(of)], r))
		})
		if i < 0 {
			i, loose = len(loose), append(loose, nil)
		}
		loose[i] = append(loose[i], r)
	}
	for _, of := range loose {
		if len(of) == 1 {
			together = append(together, of[0])
			continue
		}
		one := *of[0]
		one.Logs, one.Others, one.Reports, one.Doubts = nil, nil, nil, nil // the user says that they are one
		prefixes := map[assign.JobKey]string{}
		add := func(to *[]assign.Log, logs []assign.Log) {
			for _, l := range logs {
				key := assign.JobKey{Host: l.Host, Volume: l.Volume, Number: l.Job}
				if prefix, ok := prefixes[key]; !ok {
					prefixes[key] = l.Prefix
				} else if prefix != l.Prefix {
					l.Volume = l.Prefix
				}
				*to = append(*to, l)
			}
		}
		for _, r := range of {
			add(&one.Logs, r.Logs)
			add(&one.Others, r.Others)
			for _, f := range r.Reports {
				if !slices.ContainsFunc(one.Reports, func(have assign.Report) bool { return have.File == f.File }) {
					one.Reports = append(one.Reports, f)
				}
			}
			one.Doubts = append(one.Doubts, r.Doubts...)
		}
		together = append(together, &one)
	}
	return append(together, others...), len(others) == 0
}

// haveSameNames reports whether logs of different runs have the same name, such as those in node01/ and node02/.
func haveSameNames(runs []*assign.Run) bool {
	seen := map[string]*assign.Run{}
	for _, r := range runs {
		for _, l := range slices.Concat(r.Logs, r.Others) {
			if other := seen[l.File.Path]; other != nil && other != r {
				return true
			}
			seen[l.File.Path] = r
		}
	}
	return false
}
