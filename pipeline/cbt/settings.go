package cbt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/internal/safeyaml"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
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
	if r.at.modeSize && r.TotalIODepth == 0 {
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
		if r.at.modeSize && r.hasModeSize(c, asMap(own)) || !r.at.modeSize && (r.Workload == "" || r.Workload == name) {
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
	case r.Workload != "" && !r.at.modeSize: // one that the configuration does not have
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

// Configure reads the run's configuration files and completes its settings. Settings in the path have precedence. It
// returns the whole configuration with dotted names, for searching. With an error it returns what could be read.
func (r *Run) Configure(ctx context.Context) (map[string]any, error) {
	flat := flattener{into: map[string]any{}}
	var errs []error
	switch {
	case r.Config != nil:
		m, err := readYAML(ctx, r.Config)
		errs = append(errs, err, flat.file(r.Config.Name(), "", m))
		r.fill(cluster(m))
	case r.at.config != "":
		errs = append(errs, fmt.Errorf("read %s: %w", path.Join(r.at.config, configName), fs.ErrNotExist))
	}
	if r.ArchiveConfig != nil {
		m, err := readYAML(ctx, r.ArchiveConfig)
		c := asMap(m["cluster"])
		errs = append(errs, err, flat.file(r.ArchiveConfig.Name(), "cbt", c))
		r.fillCluster(c)
	}
	return flat.into, errors.Join(errs...)
}

// cluster returns the flat configuration in benchmark_config.yaml, which is under one key there.
func cluster(m map[string]any) map[string]any {
	if c := asMap(m["cluster"]); c != nil {
		return c
	}
	return m
}

const (
	mostYAML    = 1 << 20 // bytes that are read of a configuration; safeyaml takes fewer
	priceOfYAML = 100     // for each byte of a configuration, which takes as long as unpacking so many
)

var errEmpty = errors.New("no configuration in it")

// readYAML reads a whole configuration file. yaml's errors have the line.
func readYAML(ctx context.Context, f *source.File) (map[string]any, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var m map[string]any
	data, err := io.ReadAll(io.LimitReader(in, mostYAML))
	if err = cmp.Or(err, ctx.Err(), f.Budget().Spend(priceOfYAML*int64(len(data)))); err == nil {
		m, err = parseYAML(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return m, nil
}

// keepKeys makes all keys texts as they are written, because YAML takes 1 and 1.0 for two keys, and both print as 1.
func keepKeys(n *yaml.Node) {
	for i, of := range n.Content {
		if key := of; n.Kind == yaml.MappingNode && i%2 == 0 {
			if key.Kind == yaml.AliasNode {
				key = key.Alias
			}
			text := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key.Value, Line: of.Line, Column: of.Column}
			switch {
			case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
				continue
			case key.ShortTag() == "!!null":
				text.Value = "null"
			}
			n.Content[i] = text
			continue
		}
		keepKeys(of)
	}
}

func parseYAML(data []byte) (map[string]any, error) {
	node, _, err := safeyaml.Parse(data)
	if err != nil {
		return nil, err
	}
	var v any
	if node != nil {
		keepKeys(node)
		err = node.Decode(&v)
	}
	m := asMap(v)
	switch {
	case err != nil:
		return nil, err
	case v != nil && m == nil:
		return nil, fmt.Errorf("it is a %T, want a mapping", v)
	case len(m) == 0:
		return nil, errEmpty
	}
	return m, nil
}
