package cbt

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// numbers are the settings that are whole numbers, with all names that they have.
var numbers = []struct {
	of      func(*mapping.CBT) *int64
	folders []string // of folders, followed by the number: iodepth-32
	keys    []string // in benchmark_config.yaml, in order of precedence
}{
	{of: func(s *mapping.CBT) *int64 { return &s.OSDReadAhead }, folders: []string{"osd_ra", "raw_ra"}, keys: []string{"osd_ra"}},
	{of: func(s *mapping.CBT) *int64 { return &s.ReadAhead }, folders: []string{"client_ra"}, keys: []string{"client_ra"}},
	{of: func(s *mapping.CBT) *int64 { return &s.OpSize }, folders: []string{"op_size"}},             // its units: opSize
	{of: func(s *mapping.CBT) *int64 { return &s.TotalIODepth }, folders: []string{"total_iodepth"}}, // fillDepth
	{of: func(s *mapping.CBT) *int64 { return &s.IODepth }, folders: []string{"iodepth"}},
	{of: func(s *mapping.CBT) *int64 { return &s.NumJobs }, folders: []string{"numjobs"}, keys: []string{"numjobs"}},
	{
		of: func(s *mapping.CBT) *int64 { return &s.Procs }, folders: []string{"concurrent_procs"},
		keys: []string{"concurrent_procs", "procs_per_volume", "procs_per_endpoint"},
	},
	{of: func(s *mapping.CBT) *int64 { return &s.Volumes }, keys: []string{"volumes_per_client"}},
	{of: func(s *mapping.CBT) *int64 { return &s.RWMixRead }, keys: []string{"rwmixread"}},
	{of: func(s *mapping.CBT) *int64 { return &s.RunSeconds }, keys: []string{"time"}},
	{of: func(s *mapping.CBT) *int64 { return &s.RampSeconds }, keys: []string{"ramp"}},
}

// folderNumber is the setting that a folder's name has, such as iodepth-32, and its digits.
func folderNumber(part string) (of func(*mapping.CBT) *int64, digits string, ok bool) {
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

// fill completes the settings from benchmark_config.yaml.
func (r *Run) fill(c map[string]any) {
	c = r.ofWorkload(c)
	r.Benchmark = cmp.Or(text(c["benchmark"]), r.Benchmark)
	r.Mode = cmp.Or(r.Mode, text(c["mode"]))
	r.OpSize = cmp.Or(r.OpSize, opSize(c, r.Benchmark))
	for _, n := range numbers {
		to := n.of(&r.CBT)
		for _, key := range n.keys {
			*to = cmp.Or(*to, number(c[key]))
		}
	}
	if mode, _ := fiolog.ParseMode(r.Mode); mode != "" && !fiolog.Mixes(mode) { // fio ignores it then
		r.RWMixRead = 0
	}
	r.Pool = text(c["pool_profile"])
	r.CephVersion = text(c["ceph_version"])
	if n, ok := whole(c["iteration"]); ok && r.Iteration == nil {
		r.Iteration = new(int(n))
	}
	r.fillDepth(c)
}

// fillDepth completes the depths. If total_iodepth is set, CBT uses it and ignores iodepth. A folder
// MODE_OPSIZE/iodepth-N has the total in its name then.
func (r *Run) fillDepth(c map[string]any) {
	if _, ok := c["total_iodepth"]; !ok {
		if r.TotalIODepth == 0 {
			r.IODepth = cmp.Or(r.IODepth, number(c["iodepth"]))
		}
		return
	}
	if r.modeSize && r.TotalIODepth == 0 {
		r.TotalIODepth, r.IODepth = r.IODepth, 0
	}
	r.TotalIODepth = cmp.Or(r.TotalIODepth, number(c["total_iodepth"]))
}

// ofWorkload returns a configuration in which the options of the run's own workload replace the others. If the path
// does not say which workload it was, and several are possible, the options that any of them sets are unknown.
func (r *Run) ofWorkload(c map[string]any) map[string]any {
	all := asMap(c["workloads"])
	var fits []string
	for name, own := range all {
		if r.modeSize && r.hasModeSize(c, asMap(own)) || !r.modeSize && (r.Workload == "" || r.Workload == name) {
			fits = append(fits, name)
		}
	}
	switch {
	case len(all) == 0:
		return c
	case len(fits) == 1:
		r.Workload = fits[0]
		c = maps.Clone(c)
		maps.Copy(c, asMap(all[fits[0]]))
		return c
	case r.Workload != "" && !r.modeSize: // one that the configuration does not have
		return c
	}
	c = maps.Clone(c)
	for _, own := range all {
		for k := range asMap(own) {
			delete(c, k)
		}
	}
	return c
}

// hasModeSize reports whether a workload with these options, over c, has the mode and the size that are in the run's
// path.
func (r *Run) hasModeSize(c, own map[string]any) bool {
	const usual = 4 << 20 // CBT's op_size where none is set
	option := func(key string) any {
		if v, ok := own[key]; ok {
			return v
		}
		return c[key]
	}
	return r.Mode == cmp.Or(text(option("mode")), "write") && r.OpSize == cmp.Or(size(option("op_size")), usual)
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
func (r *Run) fillCluster(c map[string]any) {
	r.Hosts = hosts(c["clients"])
	r.Clients = len(r.Hosts)
	r.OSDHosts = len(hosts(c["osds"]))
	if each := number(c["osds_per_node"]); each < 1<<20 {
		r.OSDs = r.OSDHosts * int(each)
	}
	r.CephVersion = cmp.Or(r.CephVersion, text(c["ceph_version"]), text(c["version_compat"]))
}
