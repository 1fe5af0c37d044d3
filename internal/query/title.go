package query

import (
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// Title is a run's archive and name, with the settings that distinguish it most.
func Title(r *mapping.Run) string {
	parts := []string{r.Run.Archive + ":" + shortName(r)}
	if r.CBT.Mode != "" {
		parts = append(parts, r.CBT.Mode)
	}
	if r.CBT.OpSize > 0 {
		parts = append(parts, strings.TrimSuffix(strings.Replace(unit.Bytes(r.CBT.OpSize), ".00", "", 1), "iB"))
	}
	if r.CBT.IODepth > 0 {
		parts = append(parts, "qd"+strconv.Itoa(r.CBT.IODepth))
	}
	return strings.Join(parts, " ")
}

// shortName leaves out folders of CBT whose names repeat the settings.
func shortName(r *mapping.Run) string {
	parts := strings.SplitN(r.Run.Name, "/", 3)
	if r.CBT.Benchmark == "" || r.CBT.Benchmark == cbt.Pbench || len(parts) < 3 {
		return r.Run.Name
	}
	name := parts[0] + "/" + parts[1]
	if r.CBT.Workload != "" {
		name += "/" + r.CBT.Workload
	}
	return name
}
