package facts

import (
	"strconv"
	"time"

	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Settings are the settings of the benchmark, by their fields in documents. Unknown settings are empty.
var Settings = []table.Column[*mapping.Run]{
	setting("benchmark", "Benchmark", func(c *mapping.CBT) string { return c.Benchmark }, plain),
	setting("workload", "Workload", func(c *mapping.CBT) string { return c.Workload }, plain),
	setting("mode", "Mode", func(c *mapping.CBT) string { return c.Mode }, plain),
	setting("rwmixread", "Reads", func(c *mapping.CBT) int64 { return c.RWMixRead }, func(n int64) string { return number(n) + " %" }),
	setting("op_size", "Op size", func(c *mapping.CBT) int64 { return c.OpSize }, unit.WholeBytes),
	setting("iodepth", "I/O depth", func(c *mapping.CBT) int64 { return c.IODepth }, number),
	setting("total_iodepth", "Total I/O depth", func(c *mapping.CBT) int64 { return c.TotalIODepth }, number),
	setting("numjobs", "Jobs a volume", func(c *mapping.CBT) int64 { return c.NumJobs }, number),
	setting("concurrent_procs", "Processes", func(c *mapping.CBT) int64 { return c.Procs }, number),
	setting("volumes", "Volumes a client", func(c *mapping.CBT) int64 { return c.Volumes }, number),
	setting("clients", "Clients", func(c *mapping.CBT) int { return c.Clients }, strconv.Itoa),
	setting("osds", "OSDs", func(c *mapping.CBT) int { return c.OSDs }, strconv.Itoa),
	setting("osd_hosts", "OSD hosts", func(c *mapping.CBT) int { return c.OSDHosts }, strconv.Itoa),
	setting("pool_profile", "Pool", func(c *mapping.CBT) string { return c.Pool }, plain),
	setting("ceph_version", "Ceph", func(c *mapping.CBT) string { return c.CephVersion }, plain),
	setting("osd_ra", "OSD read-ahead", func(c *mapping.CBT) int64 { return c.OSDReadAhead }, kibibytes),
	setting("client_ra", "Client read-ahead", func(c *mapping.CBT) int64 { return c.ReadAhead }, kibibytes),
	setting("time", "Time", func(c *mapping.CBT) int64 { return c.RunSeconds }, seconds),
	setting("ramp", "Ramp", func(c *mapping.CBT) int64 { return c.RampSeconds }, seconds),
	{
		Name: "iteration", Heading: "Iteration", // counts from 0
		Value: func(r *mapping.Run) any {
			if r.CBT.Iteration == nil {
				return nil
			}
			return *r.CBT.Iteration
		},
	},
}

// interval is the column of the length of a run's windows.
var interval = []table.Column[*mapping.Run]{{
	Name: "interval", Unit: "ms", Heading: ">Windows", Sparse: true,
	Value: func(r *mapping.Run) any {
		if r.IntervalMS > 0 {
			return r.IntervalMS
		}
		return nil
	},
	Text: windowLength,
}}

// setting returns a column of a setting, which is unknown if it is empty or 0.
func setting[V string | int | int64](name, heading string, of func(*mapping.CBT) V, text func(V) string) table.Column[*mapping.Run] {
	var none V
	return table.Column[*mapping.Run]{
		Name: name, Heading: heading, Sparse: true,
		Value: func(r *mapping.Run) any {
			if v := of(&r.CBT); v != none {
				return v
			}
			return nil
		},
		Text: func(r *mapping.Run) string {
			if v := of(&r.CBT); v != none {
				return text(v)
			}
			return ""
		},
	}
}

func plain(text string) string { return text }

func number(n int64) string { return strconv.FormatInt(n, 10) }

func kibibytes(n int64) string { return unit.WholeBytes(n * 1024) }

func seconds(n int64) string { return unit.Elapsed(time.Duration(n) * time.Second) }
