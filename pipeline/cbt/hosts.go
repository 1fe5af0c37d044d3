package cbt

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/source"
)

// A loop over ssh runs fio on many hosts and leaves a folder for each of them, or files with the host in their names:
// node01/out.json, or out-node01.json. What is known of CBT and of fio --client, that these are one run, has to be shown
// here. [sorter.uniteHosts] makes one run of them only if all of this is true:
//
//   - the paths of the runs differ in one word, and all files of a run have it;
//   - these words can only be names of hosts ([hostName]): lab1 and lab2 may be two machines with an execution each;
//   - each run has a report of its own, and the reports have the same sections with the same options;
//   - by their reports, fio ran at the same time.
//
// Requests of two executions in one percentile are a wrong number that is not seen, and two runs in place of one are
// not. So if only the first is known, and that they ran at the same time, a doubt says how to join them.

// word is a part of a run's path that may be the name of a host.
type word struct {
	shape string // the path with * in its place
	text  string
}

var wordForm = regexp.MustCompile(`[^/]+/|\d+(?:\.\d+){3}|[^-_./]+`)

// wordsOf returns the words of a path: its folders, and parts of the name at its end. There a number or a letter belongs to
// the word before it: node-01, host_a, ip-10-0-0-1.
func wordsOf(name string) (all []word) {
	var spans [][]int
	for i, at := range wordForm.FindAllStringIndex(name, -1) {
		text, isFolder := strings.CutSuffix(name[at[0]:at[1]], "/")
		isNamed := isFolder || len(strings.Trim(text, "0123456789")) > 1 || strings.Contains(text, ".")
		if start := at[0]; isNamed || i == 0 || name[start-1] == '/' {
			spans = append(spans, []int{start, start + len(text)})
		} else {
			spans = append(spans, []int{spans[i-1][0], at[1]})
		}
	}
	for _, of := range spans {
		text, shape, last := name[of[0]:of[1]], "", 0
		for _, at := range spans { // node01/out-node01.json has it twice
			if name[at[0]:at[1]] == text {
				shape, last = shape+name[last:at[0]]+"*", at[1]
			}
		}
		all = addNew(all, word{shape + name[last:], text})
	}
	return all
}

// hostName are names that can only be those of hosts: addresses, and node01, ceph-node-1, hostA or server2.example.com.
var hostName = regexp.MustCompile(`(?i)^(?:[0-9a-f:]*::?[0-9a-f:]+|(?:ip-)?\d+(?:[.-]\d+){3}` +
	`|(?:.*[^a-z])?[a-z]*(?:node|host|client|server|srv|worker|machine|compute|vm)[-_]?(?:\d+|[a-rt-z])(?:\..+)?)$`)

// hostRun is a run that may be a part of one with several hosts.
type hostRun struct {
	*Run
	word
	ran    span    // by its reports or, if report is nil, by its logs
	report *Report // the one that says what ran; nil if there is none
	job    string  // what it says of its sections: the options that decide what fio measures, with * for the names of hosts
	totals string  // what it says of requests and times; those of two executions are not equal
}

// uniteHosts makes one run of the runs of several hosts, if there is no doubt that they are.
func (s *sorter) uniteHosts() {
	type place struct{ argument, archive, shape string }
	var all []hostRun
	for _, r := range s.inOrder(present(s.runs)) {
		if r.at.layout == ofPeople && len(r.HostNames()) == 0 {
			for _, w := range wordsOf(r.Path) {
				all = append(all, hostRun{Run: r, word: w})
			}
		}
	}
	var likely [][]hostRun
	for _, of := range groups(all, func(h hostRun) place { return place{h.argument, h.Archive, h.shape} }) {
		if of = without(of, func(h hostRun) bool { return h.into != nil || !h.isInAll() }); len(of) < 2 || s.ctx.Err() != nil {
			continue
		}
		for i := range of {
			h := &of[i]
			if h.ran, h.report = s.ranBy(h.Run); h.report == nil && hostName.MatchString(h.text) {
				h.ran = s.writtenIn(h.logs())
			}
		}
		of = slices.DeleteFunc(of, func(h hostRun) bool { return h.ran.end.IsZero() }) // these ran with no other
		slices.SortStableFunc(of, func(a, b hostRun) int { return a.ran.start.Compare(b.ran.start) })
		for len(of) > 0 {
			isLater := func(h hostRun) bool { return h.Run != of[0].Run && !h.ran.isWith(of[0].ran) }
			together, later := without(of, isLater), without(of, func(h hostRun) bool { return !isLater(h) })
			if of = later; len(together) > 1 {
				likely = append(likely, s.uniteSame(together)...)
			}
		}
	}
	for _, of := range likely {
		if slices.ContainsFunc(of, func(h hostRun) bool { return h.into != nil || len(h.HostNames()) > 0 }) {
			continue // another word in its path is the host
		}
		why := "ran the same jobs at the same time"
		var hosts, paths []string
		for _, h := range of {
			if hosts, paths = append(hosts, h.text), append(paths, h.text+"="+h.pathOfHost()); h.job == "" {
				why = "may have run at the same time, but not all of them have a report that says so"
			}
		}
		const most = 5
		if n := len(hosts) - most; n > 0 {
			hosts, paths = append(hosts[:most], fmt.Sprintf("and %d more", n)), append(paths[:most], "...")
		}
		of[0].doubt(fmt.Sprintf("%s %s: if they are the hosts of one run, pass --one-run %s", strings.Join(hosts, ", "), why, strings.Join(paths, " ")))
	}
}

// uniteSame makes one run of those that ran the same jobs, of some that overlap in time. It returns those that may be one, but
// are not surely.
func (s *sorter) uniteSame(together []hostRun) (likely [][]hostRun) {
	var names []string
	slices.SortFunc(together, func(a, b hostRun) int { return len(b.text) - len(a.text) })
	for _, h := range together {
		if hostName.MatchString(h.text) {
			names = append(names, h.text, "*")
		}
	}
	slices.SortFunc(together, func(a, b hostRun) int { return s.first(a.Run) - s.first(b.Run) })
	isHost, areReported := strings.NewReplacer(names...), true
	for i := range together {
		h := &together[i]
		if h.report != nil {
			h.job, h.totals = jobOf(h.report.File, isHost)
		}
		areReported = areReported && h.job != ""
	}
	ofJob := [][]hostRun{together} // a run without a report may be of any of the others
	if areReported {
		ofJob = groups(together, func(h hostRun) string { return h.job })
	}
	for _, same := range ofJob {
		same = slices.CompactFunc(same, func(a, b hostRun) bool { return a.totals != "" && a.totals == b.totals }) // copies
		areHosts, areOne := true, true
		var hosts []string
		var runs []*Run
		for i, h := range same {
			runs, hosts = append(runs, h.Run), append(hosts, h.text)
			areHosts = areHosts && hostName.MatchString(h.text)
			areOne = areOne && !slices.ContainsFunc(same[:i], func(o hostRun) bool { return !ranTogether(h.ran, o.ran) })
		}
		switch {
		case len(runs) < 2:
		case areReported && areHosts && areOne:
			for _, h := range same {
				h.SetHost(h.text)
			}
			absorbAll(runs, withoutStar(same[0].shape)).doubt(fmt.Sprintf("read as one run of the hosts %s: their files differ only in "+
				"these names, and by their reports they ran the same jobs at the same time; to keep them apart, pass the files of each host "+
				"in a call of their own", strings.Join(hosts, ", ")))
		case areHosts || areOne:
			likely = append(likely, same)
		}
	}
	return likely
}

// pathOfHost returns the path that --one-run needs: the folder with the host's name, or the first file.
func (h *hostRun) pathOfHost() string {
	name := h.Files()[0].Name()
	if i := strings.Index("/"+name, "/"+h.text+"/"); i >= 0 {
		return name[:i+len(h.text)]
	}
	return name
}

// isInAll reports whether all files of the run have the word in their paths. The job file may be that of all hosts.
func (h *hostRun) isInAll() bool {
	return !slices.ContainsFunc(h.Files(), func(f *source.File) bool {
		return f != h.Job && !slices.ContainsFunc(wordsOf(f.Path), func(w word) bool { return w.text == h.text })
	})
}

// ranBy finds out when a run was by its reports, and which of them says what ran. Reports that may be of another execution
// say nothing.
func (s *sorter) ranBy(r *Run) (ran span, report *Report) {
	for i := range r.Reports {
		f := &r.Reports[i]
		if c := s.claimsOf(f.File); !f.Candidate && c.isListed && !c.isCut && !c.end.IsZero() {
			ran.add(c.span)
			report = cmp.Or(report, f)
		}
	}
	return ran, report
}

// jobOf returns what the first report in a file says of its jobs.
func jobOf(f *source.File, isHost *strings.Replacer) (job, totals string) {
	in, err := f.Open()
	if err != nil {
		return "", ""
	}
	defer in.Close()
	for r, err := range ReadReports(in, f) {
		if err != nil {
			continue
		}
		totals = fmt.Sprint(r.Timestamp)
		for i := range r.Jobs {
			j := &r.Jobs[i]
			options := map[string]string{}
			maps.Copy(options, r.GlobalOptions)
			maps.Copy(options, j.Options)
			job += fmt.Sprintln(j.Name, fioargs.Measured(options, false)) // it sorts a map
			for _, d := range j.All() {
				totals += fmt.Sprint(" ", d.TotalIOs, " ", d.Runtime)
			}
		}
		break
	}
	return isHost.Replace(job), totals
}

// ranTogether reports whether two executions have at least three quarters of the longer one in common. Reports have their
// length in whole seconds, so executions of less than two seconds may have been one after the other.
func ranTogether(a, b span) bool {
	both := span{a.start, a.end}
	if b.start.After(a.start) {
		both.start = b.start
	}
	if b.end.Before(a.end) {
		both.end = b.end
	}
	return both.length() >= max(2*time.Second, a.length()*3/4, b.length()*3/4)
}

func (s span) length() time.Duration { return s.end.Sub(s.start) }

// withoutStar removes the * from a shape, and what separated it from the rest.
func withoutStar(shape string) string {
	parts := strings.Split(shape, "/")
	for i, part := range parts {
		for _, mark := range []string{"-*", "_*", ".*", "*-", "*_", "*.", "*"} {
			part = strings.ReplaceAll(part, mark, "")
		}
		parts[i] = part
	}
	return path.Join(append([]string{"."}, parts...)...)
}

// absorbAll makes one run of several, the first of them.
func absorbAll(runs []*Run, name string) *Run {
	one := runs[0]
	for _, r := range runs[1:] {
		one.absorb(r)
	}
	one.Path = name
	return one
}

// SetHost sets the host of all files that do not name their host.
func (r *Run) SetHost(host string) {
	r.setHosts(func(_ *source.File, known string) string { return cmp.Or(known, host) })
}

// setHosts sets the host of each file to what hostOf returns for the file and its host so far.
func (r *Run) setHosts(hostOf func(f *source.File, known string) string) {
	for _, logs := range [][]Log{r.Logs, r.Others} {
		for i := range logs {
			logs[i].Host = hostOf(logs[i].File, logs[i].Host)
		}
	}
	for i := range r.Reports {
		r.Reports[i].Host = hostOf(r.Reports[i].File, r.Reports[i].Host)
	}
}

// HostPath is a path that has files of one host.
type HostPath struct{ Host, Path string }

// oneRun makes one run of what was found under several paths, because the user says so. If there are several runs of each
// host, those with the same path below the hosts' folders are one.
func (s *sorter) oneRun(paths []HostPath) error {
	var names []string
	byHost := map[string][]*Run{}
	all := s.inOrder(present(s.runs))
	for _, p := range paths {
		isUnder := func(f *source.File) bool {
			isMatch, err := filepath.Match(p.Path, f.Root) // a pattern
			return !f.Beside && (f.Root == p.Path || err == nil && isMatch)
		}
		known, n := map[string]bool{}, 0
		for _, r := range all {
			if !slices.ContainsFunc(r.Files(), isUnder) {
				continue
			}
			n++
			byHost[p.Host] = addNew(byHost[p.Host], r)
			r.setHosts(func(f *source.File, host string) string {
				if known[host] = known[host] || isUnder(f); isUnder(f) || f.Beside {
					return p.Host
				}
				return host
			})
		}
		maps.DeleteFunc(known, func(host string, isHere bool) bool { return host == "" || !isHere })
		if len(known) > 1 {
			return fmt.Errorf("--one-run %s=%s: want files of one host: these are of %s", p.Host, p.Path,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if n == 0 {
			return fmt.Errorf("--one-run %s=%s: no fio logs (such as *_clat_hist.*.log) or reports of a run there", p.Host, p.Path)
		}
		names = addNew(names, p.Host)
	}
	first := byHost[names[0]]
	for _, r := range first {
		var runs []*Run
		for _, name := range names {
			of := byHost[name]
			i := slices.IndexFunc(of, func(o *Run) bool { return len(of) == 1 || o.Path == r.Path })
			if i < 0 || len(of) != len(first) {
				return fmt.Errorf("--one-run: want the same runs of each host: %s has %s, and %s has %s; pass the files of one run of each",
					names[0], pathsOf(first), name, pathsOf(of))
			}
			runs = addNew(runs, of[i])
		}
		archive := s.archiveOf(runs)
		absorbAll(runs, commonPath(runs)).Archive = archive
	}
	return nil
}

// commonPath returns the path that runs have in common without a word that differs, or the path of the first.
func commonPath(runs []*Run) string {
	for _, w := range wordsOf(runs[0].Path) {
		isOther := func(r *Run) bool {
			return !slices.ContainsFunc(wordsOf(r.Path), func(o word) bool { return o.shape == w.shape && (r == runs[0] || o.text != w.text) })
		}
		if len(runs) > 1 && !slices.ContainsFunc(runs, isOther) {
			return withoutStar(w.shape)
		}
	}
	return runs[0].Path
}

// archiveOf returns the name of the archive of runs that were found under several paths: of the folder that all are in.
func (s *sorter) archiveOf(runs []*Run) string {
	if !slices.ContainsFunc(runs, func(r *Run) bool { return r.Archive != runs[0].Archive || r.argument != runs[0].argument }) {
		return runs[0].Archive
	}
	dir := ""
	for i, r := range runs {
		root := s.rootOf(r.Files()[0])
		if i == 0 {
			dir = root
		}
		for dir != root && !strings.HasPrefix(root, strings.TrimSuffix(dir, "/")+"/") {
			dir = path.Dir(dir)
		}
	}
	if name := path.Base(dir); name != "/" {
		return name
	}
	return runs[0].Archive
}

// pathsOf lists the paths of runs for people.
func pathsOf(runs []*Run) string {
	var all []string
	for _, r := range runs {
		all = append(all, r.Path)
	}
	return strings.Join(all, ", ")
}
