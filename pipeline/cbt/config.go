package cbt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
)

// Configure reads the run's configuration files and completes its settings; what the
// path says stands. It gives the whole configuration with dotted names, for searching.
// With an error it gives what could be read; the settings of the path are there anyway.
func (r *Run) Configure(ctx context.Context) (map[string]any, error) {
	flat := flattener{into: map[string]any{}}
	var errs []error
	switch {
	case r.Config != nil:
		m, err := readYAML(ctx, r.Config)
		errs = append(errs, err, flat.file(r.Config.Name(), "", m))
		r.fill(cluster(m))
	case r.at.cbt:
		errs = append(errs, fmt.Errorf("read %s: %w", path.Join(r.at.config, configName), fs.ErrNotExist))
	}
	if r.ArchiveConfig != nil {
		m, err := readYAML(ctx, r.ArchiveConfig)
		c := mapping(m["cluster"])
		errs = append(errs, err, flat.file(r.ArchiveConfig.Name(), "cbt", c))
		r.fillCluster(c)
	}
	return flat.into, errors.Join(errs...)
}

// cluster is the flat configuration in benchmark_config.yaml, which has it under one key.
func cluster(m map[string]any) map[string]any {
	if c := mapping(m["cluster"]); c != nil {
		return c
	}
	return m
}

// fill completes the settings from benchmark_config.yaml.
func (r *Run) fill(c map[string]any) {
	c = r.ofWorkload(c)
	r.Benchmark = cmp.Or(text(c["benchmark"]), r.Benchmark)
	r.Mode = cmp.Or(r.Mode, text(c["mode"]))
	r.OpSize = cmp.Or(r.OpSize, opSize(c, r.Benchmark))
	r.NumJobs = cmp.Or(r.NumJobs, number(c["numjobs"]))
	r.Procs = cmp.Or(r.Procs, number(c["concurrent_procs"]), number(c["procs_per_volume"]), number(c["procs_per_endpoint"]))
	r.Volumes = number(c["volumes_per_client"])
	r.RWMixRead = number(c["rwmixread"])
	r.Runtime = number(c["time"])
	r.Ramp = number(c["ramp"])
	r.OSDRA = cmp.Or(r.OSDRA, number(c["osd_ra"]))
	r.ClientRA = cmp.Or(r.ClientRA, number(c["client_ra"]))
	r.Pool = text(c["pool_profile"])
	r.CephVersion = text(c["ceph_version"])
	if n, ok := whole(c["iteration"]); ok && r.Iteration < 0 {
		r.Iteration = int(n)
	}
	r.fillDepth(c)
}

// fillDepth completes the depths. Where total_iodepth is set it counts for CBT, and
// iodepth does not; a folder MODE_OPSIZE/iodepth-N then has the total in its name.
func (r *Run) fillDepth(c map[string]any) {
	if _, ok := c["total_iodepth"]; !ok {
		if r.TotalIODepth == 0 {
			r.IODepth = cmp.Or(r.IODepth, number(c["iodepth"]))
		}
		return
	}
	if r.at.modeSize && r.TotalIODepth == 0 {
		r.TotalIODepth, r.IODepth = r.IODepth, 0
	}
	r.TotalIODepth = cmp.Or(r.TotalIODepth, number(c["total_iodepth"]))
}

// ofWorkload gives a configuration with the options of the run's own workload on top.
// Where the path does not say which it was, and more than one could be, what any of them
// sets is unknown.
func (r *Run) ofWorkload(c map[string]any) map[string]any {
	all := mapping(c["workloads"])
	if len(all) == 0 {
		return c
	}
	var fits []string
	for name, own := range all {
		if r.mayBe(name, c, mapping(own)) {
			fits = append(fits, name)
		}
	}
	if len(fits) == 1 {
		if r.at.modeSize || r.Workload == "" {
			r.Workload = fits[0]
		}
		return overlay(c, mapping(all[fits[0]]))
	}
	if r.Workload != "" && !r.at.modeSize { // one that the configuration does not have
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

// mayBe reports whether the run may be of that workload, which has own options on top of c.
func (r *Run) mayBe(name string, c, own map[string]any) bool {
	if r.at.modeSize {
		const usual = 4 << 20                                                        // CBT's op_size where none is set
		options := overlay(pick(c, "mode", "op_size"), pick(own, "mode", "op_size")) // c whole takes too long for thousands
		return r.Mode == cmp.Or(text(options["mode"]), "write") && r.OpSize == cmp.Or(opSize(options, ""), usual)
	}
	return r.Workload == "" || r.Workload == name
}

// pick is a part of a configuration.
func pick(c map[string]any, keys ...string) map[string]any {
	part := make(map[string]any, len(keys))
	for _, k := range keys {
		if v, ok := c[k]; ok {
			part[k] = v
		}
	}
	return part
}

func overlay(c, own map[string]any) map[string]any {
	c = maps.Clone(c)
	maps.Copy(c, own)
	return c
}

// opSize is the size of requests, of which CBT's fio class has several spellings.
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
