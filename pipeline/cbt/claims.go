package cbt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// claims has what a report or a job file says about logs.
type claims struct {
	isReport bool // it begins as fio's reports do
	isParsed bool // a report could be read
	isListed bool // a report lists the options of its jobs; one of fio --client may leave out the global ones
	hasHist  bool // log_hist_msec is set, or the options are not listed
	jobs     []jobClaims

	span        // in which fio ran, by the reports that were read
	isCut  bool // there may be later reports
	client bool // written by fio --client, whose reports have the time of its start
}

// jobClaims has what is said about one job.
type jobClaims struct {
	name     string
	prefixes []string // prefixes of its logs, as written; none if no option has a value
	isBare   bool     // an option without a value: its prefix is the job's name
}

// addPrefix takes in the value of an option.
func (j *jobClaims) addPrefix(value string) {
	if value != "" {
		j.prefixes = addNew(j.prefixes, value)
	}
}

// namesLogs reports whether an option names the logs of any job.
func (c *claims) namesLogs() bool {
	return slices.ContainsFunc(c.jobs, func(j jobClaims) bool { return len(j.prefixes) > 0 })
}

// prefixes returns the prefixes of logs, without folders, that options name.
func (c *claims) prefixes() map[string]bool {
	all := map[string]bool{}
	for v := range c.values() {
		all[path.Base(v)] = true
	}
	return all
}

// logOptions are the options that name logs.
var logOptions = []string{"write_hist_log", "write_lat_log", "write_bw_log", "write_iops_log"}

const (
	// usualReports is how much of a file of many reports is read: all of them have the
	// same jobs.
	usualReports = 1 << 20
	// largestReport bounds the memory of one, with thousands of jobs.
	largestReport = 64 << 20
)

// Prices of reading reports, for [source.Budget]. A job or a report of ten bytes of text costs as much time and memory
// as one of fio, which has 5 KB.
const (
	fullText        = 1 << 10 // bytes: a job, or a report, of more text than that costs what its text does
	priceOfLacking  = 256     // for each byte that it has less
	priceOfText     = 2       // for each byte of packed text
	priceOfCount    = 1 << 10 // for each document that a count takes in Elasticsearch
	longestJobsName = 1000    // bytes; documents and their ids have it
)

// ReadReports reads the reports of a file from in, as [fiolog.ReadReports] does, and charges them to the file's budget.
func ReadReports(in io.Reader, f *source.File) iter.Seq2[*fiolog.Report, error] {
	return func(yield func(*fiolog.Report, error) bool) {
		for r, err := range fiolog.ReadReports(in, f.Name()) {
			lacking, text := 0, 0
			var bad *fiolog.SyntaxError
			switch {
			case err == nil:
				lacking, text = max((len(r.Jobs)+1)*fullText-r.Bytes, 0), r.Bytes
			case errors.As(err, &bad):
				lacking = fullText
			}
			if !f.Packed {
				text = 0
			}
			many := int64(0)
			if err == nil {
				for i := range r.Jobs {
					for _, s := range r.Jobs[i].All() {
						bins := s.TotalIOs
						for _, b := range s.Clat.Bins {
							bins = max(bins, b.Count)
						}
						many += int64(bins / mapping.MaxCount)
					}
				}
			}
			if why := f.Budget().Spend(int64(priceOfLacking*lacking+priceOfText*text) + priceOfCount*many); why != nil {
				yield(nil, fmt.Errorf("%s: %w", f.Name(), why))
				return
			}
			if err == nil {
				isLong := func(j fiolog.Job) bool { return max(len(j.Name), len(j.Host)) > longestJobsName }
				if i := slices.IndexFunc(r.Jobs, isLong); i >= 0 {
					r, err = nil, fmt.Errorf("%s:%d: the name of job %d has more than %d bytes: not read", f.Name(), r.Line, i+1, longestJobsName)
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// claimsOf returns what fio's output says about logs: in the first report that can be read, and in the reports right
// after it.
func claimsOf(f *source.File) *claims {
	out := &claims{}
	if f.Budget().Err() != nil {
		return out // with this error the scan ends
	}
	in, err := f.Open()
	if err != nil {
		return out
	}
	defer in.Close()
	text := bufio.NewReaderSize(io.LimitReader(in, largestReport), peekLen)
	first, _ := text.Peek(peekLen) // reading meets an error again
	if out.isReport = hasReport(first); !out.isReport {
		return out
	}
	seen := map[string]bool{}
	bytes := 0
	for r, err := range ReadReports(text, f) {
		if err != nil {
			continue
		}
		out.add(r, seen)
		if bytes += r.Bytes; bytes > usualReports {
			out.isCut = true
			break
		}
	}
	return out
}

// add adds the jobs of one report: all jobs of the first report, and only new jobs of later ones, because two runs of
// fio may have been written to one file.
func (c *claims) add(r *fiolog.Report, seen map[string]bool) {
	c.addTime(r)
	first, isListed := !c.isParsed, len(r.GlobalOptions) > 0
	c.isParsed = true
	for i, j := range r.Jobs {
		one := jobClaims{name: j.Name}
		for _, option := range logOptions {
			value, _ := r.Option(i, option)
			one.addPrefix(value)
		}
		prefix, _ := r.Option(i, "write_hist_log")
		interval, _ := r.Option(i, histInterval)
		one.isBare = prefix == "" // fio lists no option without a value
		isListed = isListed || len(j.Options) > 0
		c.hasHist = c.hasHist || interval != ""
		key := one.name + "\x00" + path.Join(one.prefixes...)
		if first || !seen[key] {
			c.jobs = append(c.jobs, one)
		}
		seen[key] = true
	}
	c.hasHist = c.hasHist || !isListed
	c.isListed = isListed && !c.client
}

// addTime adds the time from the start of fio to a report.
func (c *claims) addTime(r *fiolog.Report) {
	const most = 10 * 366 * 24 * 3600 * 1000 // ms; no fio runs longer, and no report is from after 2200
	ran := int64(0)
	for i := range r.Jobs {
		j := &r.Jobs[i]
		c.client = c.client || j.Host != ""
		ran = max(ran, min(j.Elapsed, most/1000)*1000)
	}
	if r.Timestamp <= 0 || r.Timestamp > 24*most {
		return
	}
	at := time.UnixMilli(r.Timestamp)
	if ran := time.Duration(ran) * time.Millisecond; c.client {
		c.span.add(span{at, at.Add(ran)})
	} else {
		c.span.add(span{at.Add(-ran), at})
	}
}

// agreesWith reports whether the modification time of a report's file may be the time at which fio wrote the report.
func (c *claims) agreesWith(modified time.Time) bool {
	const coarse = 2500 * time.Millisecond // some archives store times in steps of two seconds
	return c.end.IsZero() || c.isCut || c.client || modified.Sub(c.end).Abs() < coarse
}

const histInterval = "log_hist_msec"

// claimsOfJob returns what a job file says about logs.
func claimsOfJob(f *fiolog.JobFile) *claims {
	out := &claims{isParsed: true}
	for _, section := range f.Sections {
		one := jobClaims{name: section.Name}
		for _, option := range logOptions {
			value, ok := section.Options[option]
			one.isBare = one.isBare || ok && value == ""
			one.addPrefix(value)
		}
		out.hasHist = out.hasHist || section.Options[histInterval] != ""
		for range numJobs(section.Options) {
			out.jobs = append(out.jobs, one)
		}
	}
	return out
}

func numJobs(options map[string]string) int {
	const most = 1 << 16 // more than fio starts
	n, err := strconv.Atoi(options["numjobs"])
	if err != nil || n < 1 || n > most {
		return 1
	}
	return n
}

// values returns the values of options that name logs, cleaned and without duplicates: most jobs of a report have the
// same.
func (c *claims) values() map[string]bool {
	all := map[string]bool{}
	for _, j := range c.jobs {
		for _, v := range j.prefixes {
			all[path.Clean(filepath.ToSlash(v))] = true
		}
		if j.isBare {
			all[path.Base(path.Clean(j.name))] = true
		}
	}
	return all
}

func readJobFile(f *source.File) (*fiolog.JobFile, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return fiolog.ReadJobFile(in, f.Name())
}

// describe gives runs their job files. Job files of no run go to the leftovers.
func (a *attribution) describe() {
	byDir := map[string][]*clue{}
	for _, p := range a.jobs {
		byDir[p.dir] = append(byDir[p.dir], p)
	}
	used := map[*clue]bool{}
	for _, r := range a.runs.present() {
		if r.at.layout == ofCBT {
			continue
		}
		if p := a.jobOf(r, byDir); p != nil {
			if r.Job = p.file; !p.job.Includes {
				r.Sections = p.job.Sections
			}
			used[p] = true
		}
	}
	for _, p := range a.jobs {
		if p.isJob() && !used[p] && !p.file.Beside {
			a.runs.left.add(p.file, "is a job file, but no run here belongs to it")
		}
	}
}

// jobOf returns the job file of a run. In a folder of its logs, this is the file that names the logs, or has their name
// or a report's, or is the only one. In the folder above, it is the file that names the logs.
func (a *attribution) jobOf(r *draft, byDir map[string][]*clue) *clue {
	if r.at.layout == ofSample { // newer versions of pbench-fio keep one for all samples
		files := slices.Concat(byDir[r.base], byDir[path.Dir(r.base)])
		if i := slices.IndexFunc(files, (*clue).isJob); i >= 0 {
			return files[i]
		}
		return nil
	}
	describes := func(p *clue) bool { return slices.Contains(p.options, r) }
	for _, dir := range a.places.dirsOf(r) {
		here, above := byDir[dir], byDir[path.Dir(dir)]
		if i := slices.IndexFunc(here, func(p *clue) bool { return p.isJob() && (describes(p) || r.isNamed(p.name)) }); i >= 0 {
			return here[i]
		}
		if len(here) == 1 && here[0].isJob() && a.index.isOnly(r, dir) && !here[0].claims.namesLogs() {
			return here[0]
		}
		if i := slices.IndexFunc(above, describes); i >= 0 {
			return above[i]
		}
	}
	return nil
}

// isNamed reports whether a run's logs or reports have that name.
func (r *draft) isNamed(name string) bool {
	return r.hasPrefix(name) || slices.ContainsFunc(r.Reports, func(f Report) bool { return stem(path.Base(f.File.Path)) == name })
}
