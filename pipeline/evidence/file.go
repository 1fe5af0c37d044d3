// Package evidence says what each file is and what it shows before its rows are read: a log, a report of fio, a job file, or
// neither. A file is looked at once, when that is needed, and what was seen is kept with it.
package evidence

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// File is a file of a scan, with what was seen in it. It is safe for concurrent use.
type File struct {
	*source.File
	memory *atomic.Int64 // bytes that reports of files of the scan may still take

	mu      sync.Mutex
	look    *Look // nil before the first look
	claims  *Claims
	printed *Printed
	kept    int64 // bytes that printed takes
	yaml    *yamlFile
	digest  *Digest
	seen    source.State // when printed, yaml and digest were made
}

// mostKept is how much memory the reports of a scan may take until they are used, in bytes. Others are read again then.
const mostKept = 32 << 20

// Of returns a file that was not looked at yet.
func Of(f *source.File) *File { return All([]*source.File{f})[0] }

// All returns files that were not looked at yet.
func All(files []*source.File) []*File {
	memory := &atomic.Int64{}
	memory.Store(mostKept)
	all := make([]*File, len(files))
	for i, f := range files {
		all[i] = &File{File: f, memory: memory}
	}
	return all
}

// renew forgets what was seen of a file that has changed since. f.mu must be held.
func (f *File) renew() {
	if now := f.State(); f.seen != now {
		f.forget()
		f.yaml, f.digest, f.seen = nil, nil, now
	}
}

// Forget gives the memory of what was printed back: it has been used.
func (f *File) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
}

func (f *File) forget() {
	f.memory.Add(f.kept)
	f.printed, f.kept = nil, 0
}

// Look looks at the beginning of the file. It may be good although the rest of the file is damaged.
func (f *File) Look() *Look {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.see()
	return f.look
}

// IsEmpty reports whether the file has nothing in it. It is looked at only if its size is not known.
func (f *File) IsEmpty() bool { return f.Size == 0 || f.Size < 0 && f.Look().isEmpty }

// IsReport reports whether the file begins like fio's output, damaged or not.
func (f *File) IsReport() bool { return f.Look().Content == fiolog.Output }

// Claims returns what fio's output says about logs: in the first report that can be read, and in the reports right after it.
func (f *File) Claims() *Claims {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.see()
	return f.claims
}

// see looks at the file if that was not done. A file of few reports is read whole.
func (f *File) see() {
	if f.look == nil {
		f.read(context.Background(), false)
	}
}

// Printed returns all reports of the file. Periodic reports are added up, and only the last of each execution stays in memory.
// To keep what they count would take a gigabyte for 100 jobs and an hour of reports a second: 200 bins of each job and report
// are not zero. If ctx ends, the result is not complete.
func (f *File) Printed(ctx context.Context) *Printed {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renew(); f.printed != nil {
		return f.printed
	}
	return f.read(ctx, true)
}

// read looks at the file, and reads the first reports or all. Those of a whole file are kept if there is memory for them.
func (f *File) read(ctx context.Context, all bool) *Printed {
	f.renew()
	in, err := f.Open()
	if err != nil {
		f.look, f.claims = &Look{}, &Claims{}
		return &Printed{Errors: []ReadError{{err, true}}}
	}
	defer in.Close()
	s := look(ctx, in, f.File, all)
	look, claims, printed := s.look, s.claims, s.printed // not in s: one of them would keep the reports in memory
	f.look, f.claims = &look, &claims
	if s.digest == nil {
		return &printed
	}
	f.digest, f.printed = s.digest, &printed
	for _, x := range printed.Executions {
		f.kept += int64(x.Fio.Memory)
	}
	if f.memory.Add(-f.kept) < 0 {
		f.forget()
	}
	return &printed
}

// JobFile reads a job file, and what it says about logs.
func (f *File) JobFile() (*fioargs.Command, *Claims, error) {
	in, err := f.Open()
	if err != nil {
		return nil, &Claims{IsParsed: true}, err
	}
	defer in.Close()
	job, err := fioargs.ReadJobFile(in, f.Name())
	if err != nil {
		return nil, &Claims{IsParsed: true}, err
	}
	return job, claimsOf(job), nil
}

// YAML returns a configuration, which must not be changed. yaml's errors have the line.
func (f *File) YAML(ctx context.Context) (map[string]any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.renew(); f.yaml != nil {
		return f.yaml.m, f.yaml.err
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text := newText(in)
	data, err := io.ReadAll(io.LimitReader(text, mostYAML))
	of := &yamlFile{}
	if of.err = cmp.Or(err, ctx.Err(), f.Budget().Spend(priceOfYAML*int64(len(data)))); of.err == nil {
		of.m, of.err = ParseYAML(data)
	}
	if of.err != nil {
		of.err = fmt.Errorf("read %s: %w", f.Name(), of.err)
	}
	if ctx.Err() == nil {
		f.yaml = of
	}
	if len(data) < mostYAML && err == nil {
		f.digest = text.digest()
	}
	return of.m, of.err
}
