package fiotest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// WriteDir writes the archive below dir, which gets the folder "results". It returns the size of its logs in bytes.
func (s ArchiveSpec) WriteDir(dir string) (logs int64, err error) {
	s = s.withDefaults()
	a := archiveWriter{dir: dir, shared: models{}}
	a.put("results/cbt_config.yaml", s.clusterYAML(), firstRun)
	for i := range s.Runs {
		r := s.Run(i)
		a.put(r.Path+"/benchmark_config.yaml", r.yaml(), r.Start)
		for h := range s.Hosts {
			a.host(r, h)
		}
		if a.err != nil {
			return a.logs, fmt.Errorf("write run %d: %w", i, a.err)
		}
	}
	return a.logs, nil
}

// archiveWriter writes run after run. After its first error it writes no more files.
type archiveWriter struct {
	dir    string
	shared models
	logs   int64 // bytes
	err    error
}

func (a *archiveWriter) put(name string, data []byte, modified time.Time) {
	if a.err != nil {
		return
	}
	path := filepath.Join(a.dir, filepath.FromSlash(name))
	if a.err = os.MkdirAll(filepath.Dir(path), 0o755); a.err != nil {
		return
	}
	a.err = errors.Join(os.WriteFile(path, data, 0o644), os.Chtimes(path, modified, modified))
}

// host writes the logs of one host, and its report, which has the same requests.
func (a *archiveWriter) host(r RunSpec, h int) {
	end := r.HostStart(h).Add(time.Duration(r.archive.Seconds) * time.Second)
	jobs := make([]Truth, r.archive.Jobs)
	for j := range jobs {
		var log bytes.Buffer // which takes all
		jobs[j], _ = r.Log(h, j).write(&log, a.shared)
		a.put(r.LogPath(h, j), log.Bytes(), end)
		a.logs += jobs[j].Bytes
	}
	report := r.report(h, jobs)
	a.put(r.path("json_output.0", h), report, end)
	a.put(r.path("output.0", h), slices.Concat([]byte(r.textBefore(h)), report, []byte(r.textAfter(h, jobs))), end)
}
