package report

import (
	"fmt"
	"strconv"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// maxCurves is how many runs are drawn in one chart: the number of colours.
const maxCurves = 8

// summaryColumns are the numbers in the summary.
var summaryColumns = table.Pick(facts.Numbers, "requests", "iops", "bandwidth", "mean", "p50", "p95", "p99", "p99_9", "max")

// runClass returns the class of the colour of run i, or "" for runs that are not drawn.
func runClass(i int) string {
	if i >= maxCurves {
		return ""
	}
	return "run" + strconv.Itoa(i+1)
}

// Overlays returns a chart of the distributions of all runs for each direction that at least two of them have.
func (v *pageView) Overlays() []figure {
	var list []figure
	for _, direction := range mapping.Directions {
		var curves []*curve
		for i, r := range v.Runs[:min(len(v.Runs), maxCurves)] {
			for _, c := range r.curves {
				if c.name == direction {
					one := *c
					one.name, one.class = fmt.Sprintf("%d %s", i+1, facts.Title(r.Doc)), runClass(i)
					curves = append(curves, &one)
				}
			}
		}
		if len(curves) > 1 {
			label := fmt.Sprintf("Latency of %ss by percentile, of %d runs", direction, len(curves))
			list = append(list, figure{direction, drawCurves(curves, label)})
		}
	}
	return list
}
