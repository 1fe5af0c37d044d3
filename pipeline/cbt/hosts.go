package cbt

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
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
// here. [sorter.uniteHosts] does so only if all of this is true:
//
//   - the paths of the runs differ in one word, and all files of a run have it;
//   - these words are names of hosts, and not of repetitions, settings or devices;
//   - each run has a report of its own, and the reports have the same sections with the same options;
//   - by their reports, fio ran at the same time.
//
// Requests of two executions in one percentile are a wrong number that is not seen, and two runs in place of one are
// not. So whenever one of these is not known, the runs stay apart, and a doubt says that the user may join them.

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

// notHosts are words that people number and that are not hosts: repetitions, parts of a test, settings, devices.
var notHosts = strings.Fields(`run runs iter iteration rep repeat repetition sample test tests try trial attempt pass loop round cycle
	step phase stage set series take day night week case variant version ver gen exp experiment bench benchmark perf workload
	scenario conf config cfg setup profile mode option group kernel job jobs fio result results out output log logs report hist
	clat lat bw iops data bs qd depth iodepth iod numjobs njobs nj threads thread proc procs size rate rw mix read write randread
	randwrite randrw trim disk dev device drive nvme ssd hdd sd hd vd xvd vol volume lun osd pool img image rbd mnt mount fs ext xfs
	raid md part partition file files dir path target zone ns namespace queue num nr no tmp copy backup old new`)

// hostWords are words that surely name hosts, also where fio wrote to files with the same words in their names.
var hostWords = strings.Fields(`node host client server srv worker vm machine compute box`)

// stemOf returns what names of hosts of one kind have in common: of addresses that they are, of other names all but the
// number or letter at the end. It is "" for a word that is not the name of a host. isSure means that it can be nothing else.
func stemOf(name string) (stem string, isSure bool) {
	if _, err := netip.ParseAddr(name); err == nil {
		return "address", true
	}
	name, _, _ = strings.Cut(name, ".") // without the domain
	if name == "" {
		return "", false
	}
	if stem = strings.ToLower(strings.TrimRight(name, "0123456789")); len(stem) == len(name) {
		stem = stem[:len(stem)-1] // nodea, host-b
	}
	last := strings.TrimRight(stem, "-_.0123456789")
	last = last[strings.LastIndexFunc(last, func(r rune) bool { return r < 'a' || r > 'z' })+1:]
	if len(last) < 2 || slices.Contains(notHosts, last) {
		return "", false
	}
	return stem, slices.Contains(hostWords, last)
}

// hostRun is a run that may be a part of one with several hosts.
type hostRun struct {
	*Run
	word
	at     int    // in the order of the runs
	stem   string // see stemOf
	isHost bool
	ran    span    // by its reports or, if report is nil, by its logs
	report *Report // the one that says what ran; nil if there is none
	jobDone
}

// jobDone is what a report says of its jobs.
type jobDone struct {
	job      string // its sections with the options that decide what fio measures
	general  string // the same with * for the word
	totals   string // those of two executions are not equal
	isPlaced bool   // the word is in an option, such as the name of a file: it may be a device, and no host
}

// uniteHosts makes one run of the runs of several hosts, if there is no doubt that they are.
func (s *sorter) uniteHosts() {
	type place struct{ argument, archive, shape string }
	var all []hostRun
	for i, r := range s.inOrder(present(s.runs)) {
		if r.at.layout != ofPeople || len(r.HostNames()) > 0 {
			continue
		}
		for _, w := range wordsOf(r.Path) {
			h := hostRun{Run: r, word: w, at: i}
			h.stem, h.isHost = stemOf(w.text)
			all = append(all, h)
		}
	}
	var hosts, likely [][]hostRun
	for _, of := range groups(all, func(h hostRun) place { return place{h.argument, h.Archive, h.shape} }) {
		if len(of) < 2 || s.ctx.Err() != nil {
			continue
		}
		of = slices.DeleteFunc(of, func(h hostRun) bool { return !h.isInAll() })
		count := map[string]int{}
		for _, h := range of {
			count[h.stem]++
		}
		for i := range of {
			h := &of[i]
			if h.ran, h.report = s.ranBy(h.Run); h.report == nil && h.stem != "" && count[h.stem] > 1 {
				h.ran = s.writtenIn(h.logs())
			}
		}
		slices.SortStableFunc(of, func(a, b hostRun) int { return a.ran.start.Compare(b.ran.start) })
		for len(of) > 0 {
			first, n := of[0], 1
			var together, later []hostRun
			for together = of[:1:1]; n < len(of) && !of[n].ran.start.After(first.ran.end); n++ {
				if of[n].ran.isWith(first.ran) {
					together = append(together, of[n])
				} else {
					later = append(later, of[n])
				}
			}
			if of = of[n:]; len(later) > 0 {
				of = append(later, of...)
			}
			slices.SortFunc(together, func(a, b hostRun) int { return a.at - b.at })
			if len(together) > 1 {
				sure, unsure := s.ofOneJob(together)
				hosts, likely = append(hosts, sure...), append(likely, unsure...)
			}
		}
	}
	in := map[*Run]int{} // a path may have two words that may be hosts: rack1/node1
	for _, h := range slices.Concat(hosts...) {
		in[h.Run]++
	}
	for _, of := range hosts {
		if slices.ContainsFunc(of, func(h hostRun) bool { return in[h.Run] > 1 }) {
			likely = append(likely, of)
			continue
		}
		var runs []*Run
		var names []string
		for _, h := range of {
			h.SetHost(h.text)
			runs, names = append(runs, h.Run), append(names, h.text)
		}
		absorbAll(runs, withoutStar(of[0].shape)).doubt(fmt.Sprintf("read as one run of the hosts %s: their files differ only in "+
			"these names, and by their reports they ran the same jobs at the same time; to keep them apart, pass the files of each host "+
			"in a call of their own", strings.Join(names, ", ")))
	}
	for _, of := range likely {
		if slices.ContainsFunc(of, func(h hostRun) bool { return h.into != nil }) {
			continue // another word in its path is the host
		}
		var names []string
		why := "had the same jobs and overlap in time"
		for _, h := range of {
			names = append(names, h.Path)
			if h.report == nil {
				why = "may have run at the same time, but not all of them have a report that says so"
			}
		}
		const most = 5
		if n := len(names) - most; n > 0 {
			names = append(names[:most], fmt.Sprintf("and %d more", n))
		}
		of[0].doubt(fmt.Sprintf("%s %s: if these are the hosts of one run, pass --one-run with HOST=PATH of each", strings.Join(names, ", "), why))
	}
}

// isInAll reports whether all files of the run have the word in their paths. The job file may be that of all hosts.
func (h *hostRun) isInAll() bool {
	return !slices.ContainsFunc(h.Files(), func(f *source.File) bool {
		return f != h.Job && !slices.ContainsFunc(wordsOf(f.Path), func(w word) bool { return w.text == h.text })
	})
}

// ofOneJob divides runs that overlap in time by their jobs: into those that are the hosts of one run, and those that may be.
func (s *sorter) ofOneJob(together []hostRun) (sure, likely [][]hostRun) {
	var reported, others []hostRun
	for _, h := range together {
		if h.report != nil {
			h.jobDone = jobOf(h.report.File, h.text)
		}
		if h.job != "" {
			reported = append(reported, h)
		} else {
			others = append(others, h)
		}
	}
	count := map[string]int{}
	for _, h := range reported {
		count[h.job]++
	}
	for i := range reported {
		h := &reported[i]
		if h.isPlaced = count[h.job] == 1 && h.general != h.job; h.isPlaced { // the files have the names of hosts, too
			h.job = h.general
		}
	}
	ofJob := groups(reported, func(h hostRun) string { return h.job })
	if len(reported) == 0 {
		ofJob = [][]hostRun{nil}
	}
	for _, of := range ofJob {
		isSure, isOneJob, areHosts := len(others) == 0, len(others) == 0, true
		isCopy := func(h hostRun) bool {
			return slices.ContainsFunc(of, func(o hostRun) bool { return o.at < h.at && o.totals == h.totals })
		}
		of = append(without(of, isCopy), others...)
		for i, h := range of {
			areHosts = areHosts && h.stem != "" && h.stem == of[0].stem
			isSure = isSure && (h.isHost || !h.isPlaced)
			for _, o := range of[:i] {
				isOneJob = isOneJob && h.text != o.text && ranTogether(h.ran, o.ran)
			}
		}
		switch {
		case len(of) < 2:
		case isSure && isOneJob && areHosts:
			sure = append(sure, of)
		case areHosts || isOneJob:
			likely = append(likely, of)
		}
	}
	return sure, likely
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
func jobOf(f *source.File, host string) (of jobDone) {
	in, err := f.Open()
	if err != nil {
		return of
	}
	defer in.Close()
	for r, err := range ReadReports(in, f) {
		if err != nil {
			continue
		}
		of.totals = fmt.Sprint(r.Timestamp)
		for i := range r.Jobs {
			j := &r.Jobs[i]
			options := map[string]string{}
			maps.Copy(options, r.GlobalOptions)
			maps.Copy(options, j.Options)
			name := strings.ReplaceAll(j.Name, host, "*")
			of.job += fmt.Sprintln(name, fioargs.Measured(options, false)) // it sorts a map
			for _, d := range j.All() {
				of.totals += fmt.Sprint(" ", d.TotalIOs, " ", d.Runtime)
			}
		}
		of.general = strings.ReplaceAll(of.job, host, "*")
		break
	}
	return of
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
