package fiotest

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// ArchiveSpec describes a CBT archive in the classic layout: a folder for each run with a log for each host and job,
// and fio's report for each host. The defaults make small files, so that tens of thousands of them are possible.
type ArchiveSpec struct {
	// Runs, Hosts and Jobs are numbers; defaults 4, 2 and 4.
	Runs, Hosts, Jobs int
	// Seconds is the length of each run. Default 8.
	Seconds int
	// Coarseness is that of the logs, 0 to 6. The bins of reports are always the finest.
	Coarseness int
	// IOPS is the number of requests per second, job and direction. Default 50.
	IOPS int
	// Fio2 and Groups are as in [LogSpec]. With FirstOnly, they apply only to the first host, and the others ran a
	// released fio 3.
	Fio2      bool
	Groups    int
	FirstOnly bool
	// StallEvery and LongestStall are as in [LogSpec], but by default there are no stalls: hosts begin at different moments,
	// so windows cut their rows, and are estimates around a stall.
	StallEvery, LongestStall int
	// Seed makes archives differ.
	Seed uint64
}

func (s ArchiveSpec) withDefaults() ArchiveSpec {
	setDefault(&s.Runs, 4)
	setDefault(&s.Hosts, 2)
	setDefault(&s.Jobs, 4)
	setDefault(&s.Seconds, 8)
	setDefault(&s.IOPS, 50)
	setDefault(&s.StallEvery, -1)
	return s
}

// WriteDir writes the archive below dir, which gets the folder "results". It checks ctx before the files of each
// host.
func (s ArchiveSpec) WriteDir(ctx context.Context, dir string) (Summary, error) {
	return s.write(ctx, dirPlace{root: dir, made: map[string]bool{}})
}

// WriteTar writes the archive as a tar stream; see [ArchiveSpec.WriteDir].
func (s ArchiveSpec) WriteTar(ctx context.Context, w io.Writer) (Summary, error) {
	p := tarPlace{tar.NewWriter(w)}
	sum, err := s.write(ctx, p)
	if err != nil {
		return sum, err
	}
	if err := p.w.Close(); err != nil {
		return sum, fmt.Errorf("end archive: %w", err)
	}
	return sum, nil
}

func (s ArchiveSpec) write(ctx context.Context, to place) (Summary, error) {
	s = s.withDefaults()
	a := archiveWriter{to: to, shared: models{}}
	a.put("results/cbt_config.yaml", s.clusterYAML(), firstRun)
	for i := range s.Runs {
		a.run(ctx, s.Run(i))
		if a.err != nil {
			return a.sum, fmt.Errorf("write run %d: %w", i, a.err)
		}
	}
	return a.sum, nil
}

// archiveWriter writes run after run. After its first error it does nothing.
type archiveWriter struct {
	to     place
	shared models
	log    bytes.Buffer
	report []byte
	sum    Summary
	err    error
}

func (a *archiveWriter) put(name string, data []byte, modified time.Time) {
	if a.err != nil {
		return
	}
	if a.err = a.to.put(name, data, modified); a.err == nil {
		a.sum.Files++
		a.sum.Bytes += int64(len(data))
	}
}

func (a *archiveWriter) run(ctx context.Context, r RunSpec) {
	a.put(r.Path+"/benchmark_config.yaml", r.yaml(), r.Start)
	for h := range r.archive.Hosts {
		if a.err == nil {
			a.err = ctx.Err()
		}
		if a.err != nil {
			return
		}
		a.host(r, h)
	}
}

// host writes the logs of one host, and its report, which has the same requests.
func (a *archiveWriter) host(r RunSpec, h int) {
	end := r.HostStart(h).Add(time.Duration(r.archive.Seconds) * time.Second)
	jobs := make([]Truth, r.archive.Jobs)
	for j := range jobs {
		a.log.Reset()
		t, err := r.Log(h, j).write(&a.log, a.shared)
		if err != nil {
			a.err = err
			return
		}
		jobs[j] = t
		a.put(r.LogPath(h, j), a.log.Bytes(), end)
		a.sum.Logs++
		a.sum.LogBytes += t.Bytes
		a.sum.Truth.Merge(t)
	}
	a.report = appendReport(a.report[:0], r, h, jobs)
	a.put(r.path("json_output.0", h), a.report, end)
	mixed := append([]byte(r.textBefore(h)), a.report...)
	a.put(r.path("output.0", h), append(mixed, r.textAfter(h, jobs)...), end)
}

// place is where the files of an archive are written.
type place interface {
	// put stores a file. data may be changed afterwards.
	put(name string, data []byte, modified time.Time) error
}

type dirPlace struct {
	root string
	made map[string]bool
}

func (p dirPlace) put(name string, data []byte, modified time.Time) error {
	path := filepath.Join(p.root, filepath.FromSlash(name))
	if dir := filepath.Dir(path); !p.made[dir] {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make folder of archive: %w", err)
		}
		p.made[dir] = true
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := os.Chtimes(path, modified, modified); err != nil {
		return fmt.Errorf("date file of archive: %w", err)
	}
	return nil
}

// tarPlace stores files as entries of a tar stream.
type tarPlace struct{ w *tar.Writer }

func (p tarPlace) put(name string, data []byte, modified time.Time) error {
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644,
		ModTime: modified.Truncate(time.Second), Format: tar.FormatUSTAR,
	}
	if err := p.w.WriteHeader(h); err != nil {
		return fmt.Errorf("write archive: entry %s: %w", name, err)
	}
	if _, err := p.w.Write(data); err != nil {
		return fmt.Errorf("write archive: entry %s: %w", name, err)
	}
	return nil
}
