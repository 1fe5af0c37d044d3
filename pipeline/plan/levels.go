package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/mapping"
)

// The largest numbers of hosts and jobs with their own documents. About twenty windows of each are in memory, with 15
// KB of bins in each direction.
const (
	mostHosts = 256
	mostJobs  = 5000
)

// limitLevels removes levels with too many hosts or jobs. It fails if no level remains.
func limitLevels(jobs []*Job, opt Options, problems *Remarks) (kept []mapping.Level, err error) {
	hosts := len(HostNames(jobs))
	for _, l := range opt.Levels {
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
			opt.Title, n, l, most)
		problems.skip(err)
	}
	if len(kept) > 0 {
		return kept, nil
	}
	return nil, err
}

// HostNames returns the hosts of some jobs, in order. A host without a name is "".
func HostNames(jobs []*Job) []string {
	hosts := map[string]bool{}
	for _, j := range jobs {
		hosts[j.Host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}
