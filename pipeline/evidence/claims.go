package evidence

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Claims has what a report or a job file says about logs.
type Claims struct {
	IsReport  bool // it begins as fio's reports do
	IsParsed  bool // a report could be read
	IsListed  bool // a report lists the options of its jobs; one of fio --client may leave out the global ones
	HasHist   bool // log_hist_msec is set, or the options are not listed
	NamesLogs bool // an option names the logs of a job

	Jobs   [][]string      // of each job the prefixes of its logs, as written
	Values map[string]bool // these prefixes, cleaned, and the names of jobs that have an option without a value

	Format   fiolog.Format     // of the last report
	Numbers  string            // see [fiolog.Report.Numbers]
	Measured [sha256.Size]byte // of the options of its jobs that decide what fio measures, without those that name files

	Span        // in which fio ran, by the reports that were read
	IsCut  bool // there may be later reports
	Client bool // written by fio --client, whose reports have the time of its start
}

var logOptions = []string{"write_hist_log", "write_lat_log", "write_bw_log", "write_iops_log"}

// add adds the prefixes of one job. If isBare is true, an option has no value. Then the job's name is a prefix.
func (c *Claims) add(name string, prefixes []string, isBare bool) {
	c.Jobs = append(c.Jobs, prefixes)
	c.NamesLogs = c.NamesLogs || len(prefixes) > 0
	for _, v := range prefixes {
		c.Values[path.Clean(filepath.ToSlash(v))] = true
	}
	if isBare {
		c.Values[path.Base(path.Clean(name))] = true
	}
}

// claimCounter makes claims of reports.
type claimCounter struct {
	*Claims
	seen     map[string]bool // names and prefixes of jobs
	measured hash.Hash
}

// add adds a report. All jobs of the first report count, and only new jobs of later ones, because two runs of fio may have been
// written to one file.
func (c *claimCounter) add(r *fiolog.Report) {
	const (
		longest = 10 * 366 * 24 * time.Hour
		most    = 24 * longest // no fio runs longer than ten years, and no report is from after 2200
	)
	if c.seen == nil {
		c.seen, c.measured = map[string]bool{}, sha256.New()
	}
	isFirst, isListed, ran := !c.IsParsed, len(r.GlobalOptions) > 0, time.Duration(0)
	c.Format, c.Numbers = r.Format, r.Numbers()
	c.IsParsed = true
	for i := range r.Jobs {
		j := &r.Jobs[i]
		var prefixes []string
		for _, option := range logOptions {
			if value, _ := r.Option(i, option); value != "" && !slices.Contains(prefixes, value) {
				prefixes = append(prefixes, value)
			}
		}
		prefix, _ := r.Option(i, "write_hist_log")
		interval, _ := r.Option(i, "log_hist_msec")
		isListed = isListed || len(j.Options) > 0 && r.Format == fiolog.JSON
		c.HasHist = c.HasHist || interval != ""
		if key := j.Name + "\x00" + path.Join(prefixes...); isFirst || !c.seen[key] {
			c.seen[key] = true
			c.Claims.add(j.Name, prefixes, prefix == "") // fio lists no option without a value
		}
		if c.Client = c.Client || j.Host != ""; isFirst {
			options := map[string]string{}
			maps.Copy(options, r.GlobalOptions)
			maps.Copy(options, j.Options)
			fmt.Fprintln(c.measured, fioargs.Measured(options, true)) // it sorts a map
		}
		ran = max(ran, time.Duration(min(j.Elapsed, int64(longest/time.Second)))*time.Second)
	}
	c.HasHist = c.HasHist || !isListed
	c.IsListed = isListed && !c.Client
	if at := time.UnixMilli(r.Timestamp); r.Timestamp > 0 && r.Timestamp <= most.Milliseconds() && !r.IsLocal {
		if c.Client {
			c.Span.Add(Span{at, at.Add(ran)})
		} else {
			c.Span.Add(Span{at.Add(-ran), at})
		}
	}
	c.measured.Sum(c.Measured[:0])
}

// claimsOf returns what a job file says about logs.
func claimsOf(job *fioargs.Command) *Claims {
	c := &Claims{IsParsed: true, Values: map[string]bool{}}
	for _, section := range job.Jobs {
		var prefixes []string
		isBare := false
		for _, option := range logOptions {
			o, ok := section.Get(option)
			if isBare = isBare || ok && o.Value == ""; o.Value != "" && !slices.Contains(prefixes, o.Value) {
				prefixes = append(prefixes, o.Value)
			}
		}
		for range section.Jobs() {
			c.add(section.Name, prefixes, isBare)
		}
	}
	return c
}
