package layout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// Settings are what is known of a run of CBT besides its files.
type Settings struct {
	mapping.CBT          // from the path and the configuration; zero is unknown
	Hosts       []string // the clients that the configuration names

	// IsTimed means that fio's jobs run for the configured time, and not for their sizes: time_based, or a recovery test, for which CBT
	// sets it.
	IsTimed bool
	// IsUnlisted means that the run is of a workload that its configuration does not have, so that only fio's report knows what it did.
	IsUnlisted bool
}

// Configure completes the settings of a run in a place from its configuration files, either of which may be nil. Settings in the path
// have precedence. It returns the whole configuration with dotted names, for searching. With an error it returns what could be read.
func Configure(ctx context.Context, at *Place, known mapping.CBT, config, archiveConfig *evidence.File) (Settings, map[string]any, error) {
	s, flat := Settings{CBT: known}, flattener{into: map[string]any{}}
	var errs []error
	switch {
	case config != nil:
		m, err := config.YAML(ctx)
		errs = append(errs, err, flat.file(config.Name(), "", m))
		s.fill(cluster(m), at.ModeSize)
	case at.Config != "":
		errs = append(errs, fmt.Errorf("read %s: %w", path.Join(at.Config, ConfigName), fs.ErrNotExist))
	}
	if archiveConfig != nil {
		m, err := archiveConfig.YAML(ctx)
		c := asMap(m["cluster"])
		errs = append(errs, err, flat.file(archiveConfig.Name(), "cbt", c))
		s.fillCluster(c)
	}
	return s, flat.into, errors.Join(errs...)
}

// fill completes the settings from benchmark_config.yaml.
func (r *Settings) fill(c map[string]any, isModeSize bool) {
	c = r.ofWorkload(c, isModeSize)
	r.IsTimed = text(c["time_based"]) == "true"
	r.Benchmark = cmp.Or(text(c["benchmark"]), r.Benchmark)
	r.Mode = cmp.Or(r.Mode, text(c["mode"]))
	for _, n := range numbers {
		to := n.of(&r.CBT)
		for _, key := range n.keys {
			value, _ := whole(c[key])
			*to = cmp.Or(*to, value)
		}
	}
	if r.OpSize == 0 { // CBT's fio class has several names for it
		isFio := r.Benchmark == "fio"
		if n := size(c["bs"]); isFio && n > 0 {
			r.OpSize = n
		} else {
			r.OpSize = size(c["op_size"])
		}
		if isFio && (c["bssplit"] != nil || c["bsrange"] != nil) {
			r.OpSize = 0
		}
	}
	if mode, _ := fioargs.ParseMode(r.Mode); mode != "" && !fioargs.Mixes(mode) { // fio ignores it then
		r.RWMixRead = 0
	}
	r.Pool = text(c["pool_profile"])
	r.CephVersion = text(c["ceph_version"])
	if n, ok := whole(c["iteration"]); ok && r.Iteration == nil {
		r.Iteration = new(int(n))
	}
	// If total_iodepth is set, CBT uses it and ignores iodepth. A folder MODE_OPSIZE/iodepth-N has the total in its name
	// then.
	depth, _ := whole(c["iodepth"])
	total, _ := whole(c["total_iodepth"])
	switch _, hasTotal := c["total_iodepth"]; {
	case hasTotal && isModeSize && r.TotalIODepth == 0:
		r.TotalIODepth, r.IODepth = cmp.Or(r.IODepth, total), 0
	case hasTotal:
		r.TotalIODepth = cmp.Or(r.TotalIODepth, total)
	case r.TotalIODepth == 0:
		r.IODepth = cmp.Or(r.IODepth, depth)
	}
}

// fillCluster completes the settings from cbt_config.yaml.
func (r *Settings) fillCluster(c map[string]any) {
	r.IsTimed = r.IsTimed || c["recovery_test"] != nil
	r.Hosts = hosts(c["clients"])
	r.Clients = len(r.Hosts)
	r.OSDHosts = len(hosts(c["osds"]))
	if each, _ := whole(c["osds_per_node"]); each < 1<<20 {
		r.OSDs = r.OSDHosts * int(each)
	}
	r.CephVersion = cmp.Or(r.CephVersion, text(c["ceph_version"]), text(c["version_compat"]))
}

// ofWorkload returns a configuration in which the options of the run's own workload replace the others. If the path
// does not say which workload it was, and several are possible, the options that any of them sets are unknown. If the configuration
// does not have the workload of the path, it does not say what that did.
func (r *Settings) ofWorkload(c map[string]any, isModeSize bool) map[string]any {
	const usual = 4 << 20 // CBT's op_size where none is set
	all := asMap(c["workloads"])
	var fits []string
	for name, own := range all {
		fit := r.Workload == "" || r.Workload == name
		if isModeSize { // the path has the mode and the size
			mode, opSize := c["mode"], c["op_size"]
			if v, ok := asMap(own)["mode"]; ok {
				mode = v
			}
			if v, ok := asMap(own)["op_size"]; ok {
				opSize = v
			}
			fit = r.Mode == cmp.Or(text(mode), "write") && r.OpSize == cmp.Or(size(opSize), usual)
		}
		if fit {
			fits = append(fits, name)
		}
	}
	if r.IsUnlisted = r.Workload != "" && !isModeSize && len(fits) != 1; r.IsUnlisted {
		c = maps.Clone(c)
		for _, k := range []string{"mode", "op_size", "bs", "rwmixread"} { // those of all workloads, which this one may have apart
			delete(c, k)
		}
		return c
	}
	if len(all) == 0 {
		return c
	}
	c = maps.Clone(c)
	if len(fits) == 1 {
		r.Workload = fits[0]
		maps.Copy(c, asMap(all[fits[0]]))
		return c
	}
	for _, own := range all {
		for k := range asMap(own) {
			delete(c, k)
		}
	}
	return c
}
