package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// The largest numbers of hosts and jobs with their own documents. About twenty windows of each are in memory, with 15
// KB of bins in each direction.
const (
	mostHosts = 256
	mostJobs  = 5000
)

// mostLogs is the largest number of logs of one kind in a run. All logs with rows are open at the same time, with
// buffers of 130 or 30 KB.
const mostLogs = 8000

func checkLogs(run *cbt.Run) error {
	count := map[fiolog.Kind]int{fiolog.ClatHist: len(run.Logs)}
	for _, l := range run.Others {
		count[l.Kind]++
	}
	if n := slices.Max(slices.Collect(maps.Values(count))); n > mostLogs {
		return fmt.Errorf("%d logs of one run, want at most %d: ingest the folders of fewer hosts", n, mostLogs)
	}
	return nil
}

// limitLevels removes levels with too many hosts or jobs. It fails if no level remains.
func limitLevels(jobs []*job, opt planOptions, problems *Problems) (kept []mapping.Level, err error) {
	hosts := len(hostNames(jobs))
	for _, l := range opt.levels {
		n, most := 1, 1
		switch l {
		case mapping.Host:
			n, most = hosts, mostHosts
		case mapping.Job:
			n, most = len(jobs), mostJobs
		}
		if n <= most {
			kept = append(kept, l)
			continue
		}
		err = fmt.Errorf("%s: %d documents of level %s in each window, want at most %d: use --levels cluster, which has all requests, or ingest the folders of fewer hosts",
			opt.title, n, l, most)
		problems.skip(err)
	}
	if len(kept) > 0 {
		return kept, nil
	}
	return nil, err
}

// hostNames returns the hosts of some jobs, in order. A host without a name is "".
func hostNames(jobs []*job) []string {
	hosts := map[string]bool{}
	for _, j := range jobs {
		hosts[j.host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}
