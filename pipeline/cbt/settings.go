package cbt

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Settings are what the path and the configuration say about a run. Zero is unknown.
type Settings struct {
	Benchmark string // CBT's class, or "pbench-fio"
	Workload  string
	Iteration int // -1 if unknown, as outside CBT's layout
	Load
	Cluster
}

// Load is what fio did.
type Load struct {
	Mode         string // fio's rw
	OpSize       int64  // bytes
	RWMixRead    int64  // percent
	IODepth      int64  // of a volume; unknown where volumes differ
	TotalIODepth int64  // of all volumes of a client
	NumJobs      int64
	Procs        int64 // concurrent_procs, procs_per_volume, procs_per_endpoint
	Volumes      int64 // of each client
	Runtime      int64 // seconds
	Ramp         int64 // seconds
}

// Cluster is what fio ran on.
type Cluster struct {
	Hosts       []string // the clients that the configuration names
	OSDHosts    int
	OSDs        int   // on all hosts; unknown unless osds_per_node is set
	OSDRA       int64 // read-ahead of the OSDs, or of raw devices; KiB
	ClientRA    int64 // read-ahead of the clients; KiB
	Pool        string
	CephVersion string // as the user wrote it: CBT does not record it
}

// numbers are the settings that are whole numbers, with all names that they have.
var numbers = []struct {
	of      func(*Settings) *int64
	folders []string // of folders, followed by the number: iodepth-32
	keys    []string // in benchmark_config.yaml; the first that is set counts
}{
	{of: func(s *Settings) *int64 { return &s.OSDRA }, folders: []string{"osd_ra", "raw_ra"}, keys: []string{"osd_ra"}},
	{of: func(s *Settings) *int64 { return &s.ClientRA }, folders: []string{"client_ra"}, keys: []string{"client_ra"}},
	{of: func(s *Settings) *int64 { return &s.OpSize }, folders: []string{"op_size"}},             // its units: opSize
	{of: func(s *Settings) *int64 { return &s.TotalIODepth }, folders: []string{"total_iodepth"}}, // fillDepth
	{of: func(s *Settings) *int64 { return &s.IODepth }, folders: []string{"iodepth"}},
	{of: func(s *Settings) *int64 { return &s.NumJobs }, folders: []string{"numjobs"}, keys: []string{"numjobs"}},
	{
		of: func(s *Settings) *int64 { return &s.Procs }, folders: []string{"concurrent_procs"},
		keys: []string{"concurrent_procs", "procs_per_volume", "procs_per_endpoint"},
	},
	{of: func(s *Settings) *int64 { return &s.Volumes }, keys: []string{"volumes_per_client"}},
	{of: func(s *Settings) *int64 { return &s.RWMixRead }, keys: []string{"rwmixread"}},
	{of: func(s *Settings) *int64 { return &s.Runtime }, keys: []string{"time"}},
	{of: func(s *Settings) *int64 { return &s.Ramp }, keys: []string{"ramp"}},
}

// folderNumber is the setting that a folder's name has, such as iodepth-32, and its digits.
func folderNumber(part string) (of func(*Settings) *int64, digits string, ok bool) {
	name, digits, ok := strings.Cut(part, "-")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, "", false
	}
	for _, n := range numbers {
		if slices.Contains(n.folders, name) {
			return n.of, digits, true
		}
	}
	return nil, "", false
}

// fill completes the settings from benchmark_config.yaml. modeSize means that the path has a
// folder MODE_OPSIZE.
func (s *Settings) fill(c map[string]any, modeSize bool) {
	c = s.ofWorkload(c, modeSize)
	s.Benchmark = cmp.Or(text(c["benchmark"]), s.Benchmark)
	s.Mode = cmp.Or(s.Mode, text(c["mode"]))
	s.OpSize = cmp.Or(s.OpSize, opSize(c, s.Benchmark))
	for _, n := range numbers {
		to := n.of(s)
		for _, key := range n.keys {
			*to = cmp.Or(*to, number(c[key]))
		}
	}
	s.Pool = text(c["pool_profile"])
	s.CephVersion = text(c["ceph_version"])
	if n, ok := whole(c["iteration"]); ok && s.Iteration < 0 {
		s.Iteration = int(n)
	}
	s.fillDepth(c, modeSize)
}

// fillDepth completes the depths. Where total_iodepth is set it counts for CBT, and
// iodepth does not; a folder MODE_OPSIZE/iodepth-N then has the total in its name.
func (s *Settings) fillDepth(c map[string]any, modeSize bool) {
	if _, ok := c["total_iodepth"]; !ok {
		if s.TotalIODepth == 0 {
			s.IODepth = cmp.Or(s.IODepth, number(c["iodepth"]))
		}
		return
	}
	if modeSize && s.TotalIODepth == 0 {
		s.TotalIODepth, s.IODepth = s.IODepth, 0
	}
	s.TotalIODepth = cmp.Or(s.TotalIODepth, number(c["total_iodepth"]))
}

// ofWorkload gives a configuration with the options of the run's own workload on top.
// Where the path does not say which it was, and more than one could be, what any of them
// sets is unknown.
func (s *Settings) ofWorkload(c map[string]any, modeSize bool) map[string]any {
	all := mapping(c["workloads"])
	var fits []string
	for name, own := range all {
		if modeSize && s.hasModeSize(c, mapping(own)) || !modeSize && (s.Workload == "" || s.Workload == name) {
			fits = append(fits, name)
		}
	}
	switch {
	case len(all) == 0:
		return c
	case len(fits) == 1:
		s.Workload = fits[0]
		c = maps.Clone(c)
		maps.Copy(c, mapping(all[fits[0]]))
		return c
	case s.Workload != "" && !modeSize: // one that the configuration does not have
		return c
	}
	c = maps.Clone(c)
	for _, own := range all {
		for k := range mapping(own) {
			delete(c, k)
		}
	}
	return c
}

// hasModeSize reports whether the run may be of a workload with such options of its own on top
// of c, by the mode and the size in the path.
func (s *Settings) hasModeSize(c, own map[string]any) bool {
	const usual = 4 << 20 // CBT's op_size where none is set
	option := func(key string) any {
		if v, ok := own[key]; ok {
			return v
		}
		return c[key]
	}
	return s.Mode == cmp.Or(text(option("mode")), "write") && s.OpSize == cmp.Or(size(option("op_size")), usual)
}

// opSize returns the size of requests. CBT's fio class has several names for it.
func opSize(c map[string]any, benchmark string) int64 {
	if benchmark == "fio" {
		if c["bssplit"] != nil || c["bsrange"] != nil {
			return 0
		}
		if n := size(c["bs"]); n > 0 {
			return n
		}
	}
	return size(c["op_size"])
}

// fillCluster completes the settings from cbt_config.yaml.
func (s *Settings) fillCluster(c map[string]any) {
	s.Hosts = hosts(c["clients"])
	s.OSDHosts = len(hosts(c["osds"]))
	if each := number(c["osds_per_node"]); each < 1<<20 {
		s.OSDs = s.OSDHosts * int(each)
	}
	s.CephVersion = cmp.Or(s.CephVersion, text(c["ceph_version"]), text(c["version_compat"]))
}
