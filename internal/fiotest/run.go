package fiotest

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// firstRun is the start of the first run in every archive.
var firstRun = time.Date(2024, time.March, 4, 9, 0, 0, 0, time.UTC)

// What varies between the runs of an archive. The product of the lengths is the number of configurations in an
// iteration.
var (
	modes   = []string{"randread", "randwrite", "randrw", "read", "write"}
	opSizes = []int{4096, 16384, 65536, 1 << 20}
	depths  = []int{1, 4, 16, 32, 64, 128}
)

// RunSpec is one run of an archive.
type RunSpec struct {
	// Index counts all runs from 0. Iteration is that of CBT.
	Index, Iteration int
	// ID is the name of the run's folder ("id-…"), and Path the path of the folder in the archive. Every iteration
	// has the same IDs.
	ID, Path string
	// Mode, OpSize and IODepth are the configuration.
	Mode            string
	OpSize, IODepth int
	// Start is when the run's first host started.
	Start time.Time

	archive ArchiveSpec
}

// Run returns run i, counted from 0.
func (s ArchiveSpec) Run(i int) RunSpec {
	s = s.withDefaults()
	perIteration := len(modes) * len(opSizes) * len(depths)
	c := i % perIteration
	r := RunSpec{
		Index: i, Iteration: i / perIteration, archive: s,
		Mode:    modes[c%len(modes)],
		OpSize:  opSizes[c/len(modes)%len(opSizes)],
		IODepth: depths[c/len(modes)/len(opSizes)],
		Start:   firstRun.Add(time.Duration(i) * time.Duration(s.Seconds+20) * time.Second),
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%d %s %d %d", s.Seed, r.Mode, r.OpSize, r.IODepth)
	r.ID = fmt.Sprintf("id-%08x", h.Sum32())
	r.Path = fmt.Sprintf("results/%08d/%s", r.Iteration, r.ID)
	return r
}

// Host returns the name of host h, counted from 0.
func (r RunSpec) Host(h int) string { return hostName(h) }

// HostStart returns when fio started on host h. Each host starts a little later than the one before, as with a
// parallel shell.
func (r RunSpec) HostStart(h int) time.Time {
	return r.Start.Add(time.Duration(h*170+r.Index%7*h) * time.Millisecond)
}

// LogPath returns the path of the log of host h and job j, both counted from 0.
func (r RunSpec) LogPath(h, j int) string {
	return r.path(fmt.Sprintf("output.0_clat_hist.%d.log", j+1), h)
}

// Log returns the spec of the log of host h and job j. Its [LogSpec.Truth] is what the archive has for that job.
func (r RunSpec) Log(h, j int) LogSpec {
	s := r.archive
	if s.FirstOnly && h > 0 {
		s.Fio2, s.Groups = false, 0
	}
	return LogSpec{
		Fio2: s.Fio2, Groups: s.Groups, StallEvery: s.StallEvery, LongestStall: s.LongestStall,
		Seed:       s.Seed<<32 + uint64((r.Index*s.Hosts+h)*s.Jobs+j),
		Seconds:    s.Seconds,
		Directions: r.directions(),
		Coarseness: s.Coarseness,
		IOPS:       s.IOPS,
		Scale:      (1 + float64(r.IODepth)/16) * (1 + float64(r.OpSize)/(1<<19)),
		BlockSize:  r.OpSize,
		QueueDepth: r.IODepth,
		Steady:     true,
	}
}

func (r RunSpec) directions() []int {
	switch {
	case strings.HasSuffix(r.Mode, "rw"):
		return []int{Read, Write}
	case strings.HasSuffix(r.Mode, "read"):
		return []int{Read}
	default:
		return []int{Write}
	}
}

func (r RunSpec) path(file string, h int) string {
	return r.Path + "/" + file + "." + r.Host(h)
}

func (r RunSpec) jobName(h int) string {
	return "cbt-librbdfio-" + r.Host(h) + "-file-0"
}

// yaml returns the run's benchmark_config.yaml: the key cluster with a flat configuration below.
func (r RunSpec) yaml() []byte {
	s := r.archive
	return fmt.Appendf(nil, `cluster:
  benchmark: librbdfio
  cmd_path: /usr/bin/fio
  fio_out_format: json+,normal
  iodepth: %d
  iteration: %d
  log_hist_coarseness: %d
  log_hist_msec: 1000
  mode: %s
  norandommap: true
  numjobs: %d
  op_size: %d
  osd_ra: 4096
  procs_per_volume: 1
  rate_iops: %d
  time: %d
  time_based: true
  volumes_per_client: 1
`, r.IODepth, r.Iteration, s.Coarseness, r.Mode, s.Jobs, r.OpSize, s.IOPS, s.Seconds)
}

// clusterYAML returns the archive's cbt_config.yaml.
func (s ArchiveSpec) clusterYAML() []byte {
	hosts := make([]string, s.Hosts)
	for h := range hosts {
		hosts[h] = hostName(h)
	}
	last := s.Run(max(0, s.Runs-1))
	return fmt.Appendf(nil, `benchmarks:
  librbdfio:
    cmd_path: /usr/bin/fio
    fio_out_format: json+,normal
    iodepth: [%s]
    log_hist_coarseness: %d
    log_hist_msec: 1000
    mode: [%s]
    norandommap: true
    numjobs: %d
    op_size: [%s]
    rate_iops: %d
    time: %d
    time_based: true
cluster:
  archive_dir: /data/cbt-archive
  clients: [%s]
  clusterid: ceph
  head: %s
  iterations: %d
  use_existing: true
  user: ceph
monitoring_profiles:
  collectl: {}
`, list(depths), s.Coarseness, strings.Join(modes, ", "), s.Jobs, list(opSizes), s.IOPS, s.Seconds,
		strings.Join(hosts, ", "), hostName(0), last.Iteration+1)
}

func list(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

// hostName returns the name of host h, counted from 0.
func hostName(h int) string { return fmt.Sprintf("client%02d", h+1) }
