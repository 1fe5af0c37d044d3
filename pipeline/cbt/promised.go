package cbt

import "slices"

// VolumesPerClient returns in how many volumes, 0 … n-1, each client ran fio, or 0 if the configuration does not say it. A total
// I/O depth of less than the volumes leaves the last ones out, as CBT does. [Run.Configure] must have been called.
func (r *Run) VolumesPerClient() int {
	if r.Config == nil || r.Benchmark != librbdfio {
		return 0
	}
	n := r.Volumes
	if r.TotalIODepth > 0 {
		n = min(n, r.TotalIODepth)
	}
	return int(min(n, 1<<16))
}

// EmptyReports returns the files of fio's output that CBT named after a host and a volume and that are empty: fio was killed
// before it wrote them.
func (r *Run) EmptyReports() []Report {
	return slices.DeleteFunc(slices.Clone(r.Reports), func(f Report) bool {
		return r.at.layout != ofCBT && r.Workload == "" || !f.Named || !f.File.Look().IsEmpty
	})
}

// IsTimed reports whether fio's jobs run for the configured time, and not for their sizes: time_based, or a recovery test, for which
// CBT sets it. [Run.Configure] must have been called.
func (r *Run) IsTimed() bool { return r.isTimed }

// IsUnlisted reports whether the run is of a workload that its configuration does not have, so that only fio's report knows
// what it did. [Run.Configure] must have been called.
func (r *Run) IsUnlisted() bool { return r.isUnlisted }
