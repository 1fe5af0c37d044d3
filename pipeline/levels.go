package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// The largest numbers of hosts and jobs of a run that get documents of their own. Some twenty
// windows of each are in memory, with 15 KB of bins in each direction.
const (
	mostHosts = 256
	mostJobs  = 5000
)

// mostLogs is the largest number of logs of one kind in a run. All logs that rows are read from
// are open at the same time, with buffers of 50 KB.
const mostLogs = 8000

// checkLogs fails if the run has too many logs.
func (b *planner) checkLogs() error {
	count := map[fiolog.Kind]int{fiolog.ClatHist: len(b.run.Logs)}
	for _, l := range b.run.Others {
		count[l.Kind]++
	}
	if n := slices.Max(slices.Collect(maps.Values(count))); n > mostLogs {
		return fmt.Errorf("%d logs of one run, want at most %d: ingest the folders of fewer hosts", n, mostLogs)
	}
	return nil
}

// limitLevels leaves out levels with too many hosts or jobs. It fails if no level remains.
func (b *planner) limitLevels() error {
	hosts := map[string]bool{}
	for _, j := range b.jobs {
		hosts[j.host] = true
	}
	var last error
	b.opt.Levels = slices.DeleteFunc(b.opt.levels(), func(l mapping.Level) bool {
		n, most := 1, 1
		switch l {
		case mapping.Host:
			n, most = len(hosts), mostHosts
		case mapping.Job:
			n, most = len(b.jobs), mostJobs
		}
		if n <= most {
			return false
		}
		last = fmt.Errorf("%s: %d documents of level %s in each window, want at most %d: use --levels cluster, which has all requests, or ingest the folders of fewer hosts",
			b.title, n, l, most)
		b.skip(last)
		return true
	})
	if len(b.opt.Levels) == 0 {
		return last
	}
	return nil
}
