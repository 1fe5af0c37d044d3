package mapping

import "strings"

// pbench is the benchmark of runs of pbench-fio. Names of its folders do not have the settings.
const pbench = "pbench-fio"

// ShortName returns the run's name without the folders of CBT that are named after settings.
func (r *Run) ShortName() string {
	parts := strings.SplitN(r.Run.Name, "/", 3)
	if r.CBT.Benchmark == "" || r.CBT.Benchmark == pbench || len(parts) < 3 {
		return r.Run.Name
	}
	name := parts[0] + "/" + parts[1]
	if r.CBT.Workload != "" {
		name += "/" + r.CBT.Workload
	}
	return name
}
