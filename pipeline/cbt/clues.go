package cbt

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// clue is a report outside of CBT's layout, or a job file. Its content and its place show which logs one execution of
// fio wrote.
type clue struct {
	file   *evidence.File
	dir    string // see [sorter.dirOf]
	name   string // the file's, without what says that it is a report
	host   string // of a report, if the file's name or folder has it
	claims *claims
	job    *fioargs.Command // nil for a report, and for a file that is not a job file

	prefix  []*Run // with logs in its folder that have its name
	options []*Run // with logs that its options name
	nearby  []*Run // with logs in a folder nearby whose names end like the paths in its options
}

// runs returns the runs with logs that its name or its options name, each once.
func (p *clue) runs() []*Run { return present(slices.Concat(p.prefix, p.options)) }

// claims has what a report or a job file says about logs.
type claims struct {
	isReport  bool // it begins as fio's reports do
	isParsed  bool // a report could be read
	isListed  bool // a report lists the options of its jobs; one of fio --client may leave out the global ones
	hasHist   bool // log_hist_msec is set, or the options are not listed
	namesLogs bool // an option names the logs of a job

	jobs   [][]string      // of each job the prefixes of its logs, as written
	values map[string]bool // these prefixes, cleaned, and the names of jobs that have an option without a value

	format   fiolog.Format     // of the last report
	numbers  string            // see [fiolog.Report.Numbers]
	measured [sha256.Size]byte // of the options of its jobs that decide what fio measures, without those that name files

	span        // in which fio ran, by the reports that were read
	isCut  bool // there may be later reports
	client bool // written by fio --client, whose reports have the time of its start
}

const histInterval = "log_hist_msec"

var logOptions = []string{"write_hist_log", "write_lat_log", "write_bw_log", "write_iops_log"}

// add adds the prefixes of one job. If isBare is true, an option has no value. Then the job's name is a prefix.
func (c *claims) add(name string, prefixes []string, isBare bool) {
	c.jobs = append(c.jobs, prefixes)
	c.namesLogs = c.namesLogs || len(prefixes) > 0
	for _, v := range prefixes {
		c.values[path.Clean(filepath.ToSlash(v))] = true
	}
	if isBare {
		c.values[path.Base(path.Clean(name))] = true
	}
}

// claimsOf returns what fio's output says about logs: in the first report that can be read, and in the reports right
// after it. It reads a file once.
func (s *sorter) claimsOf(f *evidence.File) *claims {
	const (
		usual   = 1 << 20  // bytes that are read of a file of many reports: all of them have the same jobs
		largest = 64 << 20 // bytes of one, with thousands of jobs
		longest = 10 * 366 * 24 * time.Hour
		most    = 24 * longest // no fio runs longer than ten years, and no report is from after 2200
	)
	if known := s.claims[f]; known != nil {
		return known
	}
	c := &claims{values: map[string]bool{}}
	s.claims[f] = c
	in, err := f.Open()
	if err != nil {
		return c
	}
	defer in.Close()
	text := bufio.NewReaderSize(io.LimitReader(in, largest), peekLen)
	first, _ := text.Peek(peekLen) // reading meets an error again
	if c.isReport = hasReport(first); !c.isReport {
		return c
	}
	seen, size, measured := map[string]bool{}, 0, sha256.New()
	defer func() { measured.Sum(c.measured[:0]) }()
	for r, err := range ReadReports(text, f) {
		if err != nil {
			continue
		}
		// All jobs of the first report count, and only new jobs of later ones, because two runs of fio may have been
		// written to one file.
		isFirst, isListed, ran := !c.isParsed, len(r.GlobalOptions) > 0, time.Duration(0)
		c.format, c.numbers = r.Format, r.Numbers()
		c.isParsed = true
		for i := range r.Jobs {
			j := &r.Jobs[i]
			var prefixes []string
			for _, option := range logOptions {
				if value, _ := r.Option(i, option); value != "" {
					prefixes = addNew(prefixes, value)
				}
			}
			prefix, _ := r.Option(i, "write_hist_log")
			interval, _ := r.Option(i, histInterval)
			isListed = isListed || len(j.Options) > 0 && r.Format == fiolog.JSON
			c.hasHist = c.hasHist || interval != ""
			if key := j.Name + "\x00" + path.Join(prefixes...); isFirst || !seen[key] {
				seen[key] = true
				c.add(j.Name, prefixes, prefix == "") // fio lists no option without a value
			}
			if c.client = c.client || j.Host != ""; isFirst {
				options := map[string]string{}
				maps.Copy(options, r.GlobalOptions)
				maps.Copy(options, j.Options)
				fmt.Fprintln(measured, fioargs.Measured(options, true)) // it sorts a map
			}
			ran = max(ran, time.Duration(min(j.Elapsed, int64(longest/time.Second)))*time.Second)
		}
		c.hasHist = c.hasHist || !isListed
		c.isListed = isListed && !c.client
		if at := time.UnixMilli(r.Timestamp); r.Timestamp > 0 && r.Timestamp <= most.Milliseconds() && !r.IsLocal {
			if c.client {
				c.span.add(span{at, at.Add(ran)})
			} else {
				c.span.add(span{at.Add(-ran), at})
			}
		}
		if size += r.Bytes; size > usual {
			c.isCut = true
			break
		}
	}
	return c
}

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
func ReadReports(in io.Reader, f *evidence.File) iter.Seq2[*fiolog.Report, error] {
	return func(yield func(*fiolog.Report, error) bool) {
		for r, err := range fiolog.ReadReports(in, f.Name()) {
			lacking, text, many := 0, 0, int64(0)
			var bad *fiolog.SyntaxError
			switch {
			case err == nil:
				lacking, text = max((len(r.Jobs)+1)*fullText-r.Bytes, 0), r.Bytes
				for i := range r.Jobs {
					for _, s := range r.Jobs[i].All() {
						bins := s.TotalIOs
						for _, b := range s.Clat.Bins {
							bins = max(bins, b.Count)
						}
						many += int64(bins / mapping.MaxCount)
					}
				}
			case errors.As(err, &bad):
				lacking = fullText
			}
			if !f.Packed {
				text = 0
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

// readJobFile reads a job file, and what it says about logs.
func readJobFile(f *evidence.File) (*fioargs.Command, *claims, error) {
	c := &claims{isParsed: true, values: map[string]bool{}}
	in, err := f.Open()
	if err != nil {
		return nil, c, err
	}
	defer in.Close()
	job, err := fioargs.ReadJobFile(in, f.Name())
	if err != nil {
		return nil, c, err
	}
	for _, section := range job.Jobs {
		var prefixes []string
		isBare := false
		for _, option := range logOptions {
			o, ok := section.Get(option)
			if isBare = isBare || ok && o.Value == ""; o.Value != "" {
				prefixes = addNew(prefixes, o.Value)
			}
		}
		for range section.Jobs() {
			c.add(section.Name, prefixes, isBare)
		}
	}
	return job, c, nil
}

// index finds the runs of logs outside CBT's layout.
type index struct {
	byPrefix map[string]map[string][]*Run // by the logs' prefix and folder
	byName   map[[2]string][]*Run         // by the folder, and the prefix with or without the volume
	byDir    map[string][]*Run
	below    map[string][]*Run // by the folder above that of the logs
}

func (s *sorter) newIndex() index {
	x := index{map[string]map[string][]*Run{}, map[[2]string][]*Run{}, map[string][]*Run{}, map[string][]*Run{}}
	add := func(list []*Run, r *Run) []*Run { // the logs of a run come one after another
		if n := len(list); n > 0 && list[n-1] == r {
			return list
		}
		return append(list, r)
	}
	for _, r := range present(s.runs) {
		if r.at.layout != ofPeople {
			continue
		}
		for _, l := range r.logs() {
			dir := s.dirOf(l.File)
			if x.byPrefix[l.Prefix] == nil {
				x.byPrefix[l.Prefix] = map[string][]*Run{}
			}
			x.byPrefix[l.Prefix][dir] = add(x.byPrefix[l.Prefix][dir], r)
			family, _ := splitPrefix(l.Prefix)
			for _, name := range []string{l.Prefix, family} {
				x.byName[[2]string{dir, name}] = add(x.byName[[2]string{dir, name}], r)
			}
			x.byDir[dir] = add(x.byDir[dir], r)
			x.below[path.Dir(dir)] = add(x.below[path.Dir(dir)], r)
		}
	}
	return x
}

// namedBy returns the runs whose logs are named by a file in the folder from. surely are those that it names certainly,
// maybe those in a folder nearby whose prefix is the last part of an option's value. maybe may be incomplete if surely
// is not empty. Values are relative to the folder in which fio was started, which is not recorded, and all files may have
// been moved together since.
func (x *index) namedBy(c *claims, from string) (surely, maybe []*Run) {
	for value := range c.values {
		prefix, dir := path.Base(value), path.Dir(value)
		dirs := x.byPrefix[prefix]
		if here := dirs[from]; len(here) > 0 && dir == "." {
			surely = append(surely, here...)
			continue // other folders would be named weakly, and there may be thousands
		}
		for at, there := range dirs {
			isNamed := from == at || path.Join(from, value) == path.Join(at, prefix)
			switch relative := strings.TrimLeft(dir, "./"); {
			case isNamed:
			case path.IsAbs(value):
				isNamed = at == dir || path.Base(at) == path.Base(dir) && isNear(from, at)
			case dir == "." && isNear(from, at):
				maybe = append(maybe, there...)
			case relative != "":
				// fio was started in the folder that this path leads from.
				started, ok := strings.CutSuffix(at, "/"+relative)
				isNamed = ok && isNear(from, started+"/")
			}
			if isNamed {
				surely = append(surely, there...)
			}
		}
	}
	return present(surely), present(maybe)
}

// isNear reports whether two folders are the same, one is in the other, or both are in one.
func isNear(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || path.Dir(a) == b || path.Dir(b) == a || path.Dir(a) == path.Dir(b)
}

// describe gives runs their job files. Job files of no run go to the leftovers. In a folder of the run's logs, its job
// file is the one that names the logs, or has their name or a report's, or is the only one. In the folder above, it is
// the file that names the logs.
func (s *sorter) describe() {
	byDir := map[string][]*clue{}
	for _, p := range s.jobs {
		byDir[p.dir] = append(byDir[p.dir], p)
	}
	used, reports := map[*clue]bool{}, map[string]int{} // by folder
	for _, p := range s.reports {
		if p.claims.isReport {
			reports[p.dir]++
		}
	}
	for _, r := range present(s.runs) {
		names := func(p *clue) bool { return p.job != nil && slices.Contains(p.options, r) }
		hasName := func(p *clue) bool {
			isOfName := func(f Report) bool { return stem(path.Base(f.File.Path)) == p.name }
			return p.job != nil && (r.hasPrefix(p.name) || slices.ContainsFunc(r.Reports, isOfName))
		}
		var found *clue
		switch r.at.layout {
		case ofCBT:
			continue
		case ofSample: // newer versions of pbench-fio keep one for all samples
			base := path.Join(s.rootOf(r.Files()[0]), r.at.folder)
			files := without(slices.Concat(byDir[base], byDir[path.Dir(base)]), func(p *clue) bool { return p.job == nil })
			if len(files) > 0 {
				found = files[0]
			}
		case ofPeople:
			dirs := s.dirsOf(r)
			if r.isReported() {
				dirs = []string{s.dirOf(r.Reports[0].File)}
			}
			for _, dir := range dirs {
				here, above := byDir[dir], byDir[path.Dir(dir)]
				if i := slices.IndexFunc(here, func(p *clue) bool { return names(p) || hasName(p) }); i >= 0 {
					found = here[i]
				} else if len(here) == 1 && here[0].job != nil && (!r.isReported() && !here[0].claims.namesLogs && len(s.index.byDir[dir]) == 1 ||
					r.isReported() && len(s.index.byDir[dir]) == 0 && reports[dir] == 1) {
					found = here[0]
				} else if i := slices.IndexFunc(above, names); i >= 0 {
					found = above[i]
				}
				if found != nil {
					break
				}
			}
		}
		if found != nil {
			if r.Job = found.file; !found.job.Includes {
				r.Sections = found.job.Jobs
			}
			used[found] = true
		}
	}
	for _, p := range s.jobs {
		if p.job != nil && !used[p] && !p.file.Beside {
			s.leave(p.file, "is a job file, but no run here belongs to it")
		}
	}
}

// dirsOf returns the folders of a run's logs, see [sorter.dirOf].
func (s *sorter) dirsOf(r *Run) []string {
	var dirs []string
	for _, l := range r.logs() {
		if dir := s.dirOf(l.File); len(dirs) == 0 || dirs[len(dirs)-1] != dir {
			dirs = addNew(dirs, dir)
		}
	}
	return dirs
}
