package evidence

import (
	"path"
	"strconv"

	"github.com/fio2es/fio2es/internal/late"
)

// gridName is the part of a name that says that the reports in the file were asked for on a grid: "job.grid1s.json".
var gridName = late.Regexp(`\.grid([1-9]\d{0,4})s(?:\.|$)`)

// Grid returns the time between the edges of a grid in milliseconds, by the name of a file of reports. The edges are the
// multiples of that time since 1970. At each edge fio2es run sends fio a signal, and fio writes a report with the counts
// of that moment. So all hosts cut their counts at the same moments. It is 0 for other files.
func Grid(name string) int64 {
	m := gridName().FindStringSubmatch(path.Base(name))
	if m == nil {
		return 0
	}
	seconds, _ := strconv.ParseInt(m[1], 10, 64) // has at most five digits
	return seconds * 1000
}

// CutGrid takes the part that [Grid] reads out of a name: "job.json".
func CutGrid(base string) string {
	at := gridName().FindStringSubmatchIndex(base)
	if at == nil {
		return base
	}
	return base[:at[0]] + base[at[3]+1:]
}
