package assign

import (
	"slices"

	"github.com/fio2es/fio2es/pipeline/layout"
)

// VolumesPerClient returns in how many volumes, 0 … n-1, each client ran fio, or 0 if the configuration does not say it. A total
// I/O depth of less than the volumes leaves the last ones out, as CBT does. [Run.Configure] must have been called.
func (r *Run) VolumesPerClient() int {
	if r.Config == nil || r.Benchmark != layout.LibRBDFio {
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
		return r.at.Program != layout.OfCBT && r.Workload == "" || !f.Named || !f.File.IsEmpty()
	})
}
