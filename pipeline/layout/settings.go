package layout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/safeyaml"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// numbers are the settings that are whole numbers, with all names that they have.
var numbers = []struct {
	of      func(*mapping.CBT) *int64
	folders []string // of folders, followed by the number: iodepth-32
	keys    []string // in benchmark_config.yaml, in order of precedence
}{
	{of: func(s *mapping.CBT) *int64 { return &s.OSDReadAhead }, folders: []string{"osd_ra", "raw_ra"}, keys: []string{"osd_ra"}},
	{of: func(s *mapping.CBT) *int64 { return &s.ReadAhead }, folders: []string{"client_ra"}, keys: []string{"client_ra"}},
	{of: func(s *mapping.CBT) *int64 { return &s.OpSize }, folders: []string{"op_size"}},             // its key has units
	{of: func(s *mapping.CBT) *int64 { return &s.TotalIODepth }, folders: []string{"total_iodepth"}}, // see fill
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

// cluster returns the flat configuration in benchmark_config.yaml, which is under one key there.
func cluster(m map[string]any) map[string]any {
	if c := asMap(m["cluster"]); c != nil {
		return c
	}
	return m
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

const (
	maxDepth = 20      // of a configuration when it is flattened; CBT's have four levels
	maxFlat  = 4 << 20 // bytes of the flattened names and values: each name repeats the names above it
)

// flattener gives nested maps and lists dotted names, up to [maxFlat] bytes.
type flattener struct {
	into map[string]any
	size int
	lost error // about the first value whose name another value has
}

// file adds a configuration. Its error names the file if something had to be left out.
func (f *flattener) file(name, prefix string, m map[string]any) error {
	if len(m) == 0 {
		return nil
	}
	f.lost = nil
	f.add(prefix, m, 0)
	err := f.lost
	if f.size > maxFlat {
		err = fmt.Errorf("%w: the run's document has the first %d bytes of its values and of their full names", safeyaml.ErrTooMuch, maxFlat)
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", name, err)
	}
	return err
}

// add adds a value below a name. A list of scalars becomes one text.
func (f *flattener) add(name string, v any, depth int) {
	f.size += len(name) // a name without a value counts, too: it takes as much time
	if depth > maxDepth || f.size > maxFlat {
		return
	}
	below := func(k string, v any) {
		k = strings.ReplaceAll(k, "\x00", "\uFFFD") // which a flattened field refuses in names
		if name != "" {
			k = name + "." + k
		}
		if f.size <= maxFlat {
			f.add(k, v, depth+1)
		}
	}
	m := asMap(v)
	list, isList := v.([]any)
	value := ""
	switch {
	case m != nil:
		for _, k := range slices.Sorted(maps.Keys(m)) {
			below(k, m[k])
		}
		return
	case isList && slices.ContainsFunc(list, isNested):
		for i, e := range list {
			below(strconv.Itoa(i), e)
		}
		return
	case isList:
		parts := make([]string, len(list))
		for i, e := range list {
			parts[i] = scalar(e)
		}
		value = strings.Join(parts, ",")
	case v == nil:
		return
	default:
		value = scalar(v)
	}
	if f.size += len(value); f.size > maxFlat {
		return
	}
	if have, ok := f.into[name]; !ok {
		f.into[name] = value
	} else if have != value && f.lost == nil {
		f.lost = fmt.Errorf("two settings have the name %.200s when dots join their keys: "+
			"the run's document has the value %.40q, not %.40q; rename one", name, have, value)
	}
}

func isNested(v any) bool {
	_, isList := v.([]any)
	return isList || asMap(v) != nil
}

// asMap returns a value that is a map, or nil.
func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// text returns a single scalar as text, or "" for anything else. The only value of a list counts. A longer list has the
// values of several runs, and only the path can say which one is of this run.
func text(v any) string {
	if list, ok := v.([]any); ok && len(list) == 1 {
		v = list[0]
	}
	if isNested(v) {
		return ""
	}
	return scalar(v)
}

func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time: // YAML takes a text that looks like a date for a date
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

// whole returns a single whole number, or false for anything else and for a negative one.
func whole(v any) (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text(v)), 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}

// size is a number of bytes, which may have a unit as fio writes it: 4k is 4096.
func size(v any) int64 {
	if n, ok := whole(v); ok {
		return n
	}
	n, _ := fioargs.ParseSize(text(v))
	return n
}

// hosts are the names in a list of nodes, which may be a map with nodes for keys or a
// single name, without the user to log in as and the port.
func hosts(v any) []string {
	var names []string
	if m := asMap(v); m != nil {
		names = slices.Collect(maps.Keys(m))
	} else if list, ok := v.([]any); ok {
		for _, e := range list {
			names = append(names, text(e))
		}
	} else {
		names = append(names, text(v))
	}
	for i, name := range names {
		if _, after, ok := strings.Cut(name, "@"); ok {
			name = after
		}
		if host, port, ok := strings.Cut(name, ":"); ok && !strings.Contains(port, ":") {
			name = host
		}
		names[i] = name
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}
