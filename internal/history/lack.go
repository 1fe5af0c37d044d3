package history

import (
	"fmt"
	"strings"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// LackText says how many documents of which levels are missing of a run, or nothing where none is.
// No levels are all levels.
func (c Counts) LackText(run *mapping.Run, levels ...mapping.Level) string {
	if len(levels) == 0 {
		levels = []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job}
	}
	lack := c.Lack(run)
	var texts []string
	for _, l := range levels {
		if n := lack.Of(l); n > 0 {
			texts = append(texts, fmt.Sprintf("%s of %s of level %s",
				unit.Count(int64(n)), unit.Plural(run.Documents.Of(l), "document"), l))
		}
	}
	return strings.Join(texts, ", ")
}
