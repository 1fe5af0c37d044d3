package record

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/fioargs"
)

// Plan says how fio is started so that its run can be stored.
type Plan struct {
	Words  []string          // words of the command
	Copies map[string][]byte // by path, files that the command reads: job files with added options
	Output Output
	Every  time.Duration // time between two reports; 0: none before the end
	Grid   bool          // fio writes these when it gets a signal, at multiples of that time since 1970, and not by itself
	Length time.Duration // limit of the time that all jobs run; 0 if options do not say
	Stages []Stage
	Notes  []string // messages for the user
}

// Stage is what runs between two stonewalls.
type Stage struct {
	Length time.Duration // limit of the time that it measures; 0 if options do not say
	Later  time.Duration // limit of the time from its end to that of the last stage; 0 if options do not say
}

// Settings are what a plan depends on besides the command.
type Settings struct {
	Folder  string // of the run, as an absolute path
	Name    string // name of the run, of its report and of its logs: see [NameOf]
	Version fioargs.Version
	CPUs    int
	Reports string // --reports: auto, none, or a time
	Signals bool   // fio can be sent signals: see [CanSignal]
	Quiet   bool   // fio shows no progress line

	ReadFile func(name string) ([]byte, error) // reads job files, see [Files]
}

// Of returns the plan for a command. It fails if the command runs no jobs here, or cannot be recorded.
func Of(c *fioargs.Command, s Settings) (*Plan, error) {
	if err := check(c, s.Version); err != nil {
		return nil, err
	}
	p := &Plan{Copies: map[string][]byte{}, Output: outputOf(c)}
	p.Length, p.Stages = lengthsOf(c.Jobs)
	added := p.jobOptions(c, s)
	p.Words = append(slices.Clone(c.Before), c.Program)
	for _, o := range added {
		p.Words = append(p.Words, "--"+o)
	}
	if err := p.ownOptions(c, s); err != nil {
		return nil, err
	}
	var files []string
	for _, a := range c.Args {
		switch {
		case a.Name == "":
			file, err := p.jobFile(c, a.Value, len(files), added, s)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		case !a.IsOwn || !slices.Contains([]string{"output", "output-format", "minimal", "append-terse"}, a.Name):
			p.Words = append(p.Words, a.Words...)
		}
	}
	if len(files) > 0 {
		p.Words = append(append(p.Words, "--"), files...)
	}
	return p, nil
}

// check refuses commands that run no jobs here, or that cannot be recorded.
func check(c *fioargs.Command, version fioargs.Version) error {
	for _, a := range c.Args {
		if !a.IsOwn {
			continue
		}
		switch a.Name {
		case "client", "remote-config":
			return fmt.Errorf("--%s: fio writes the logs of clients with wrong counts, and reports of several hosts without their "+
				"times: run fio2es on each host, or store the results of fio with fio2es ingest", a.Name)
		case "server", "daemonize":
			return fmt.Errorf("--%s: a server runs no jobs of its own: run fio2es with the fio that runs the jobs", a.Name)
		case "version", "help", "cmdhelp", "enghelp", "showcmd", "parse-only", "inflate-log", "cpuclock-test", "crctest",
			"memcpytest", "merge-blktrace-only":
			return fmt.Errorf("--%s: fio runs no jobs with it: call fio itself", a.Name)
		}
	}
	if _, ok := c.Own("profile"); len(c.Jobs) == 0 && !ok {
		return fmt.Errorf("%s has no jobs: name a job file, or a job with --name", strings.Join(c.Shown(), " "))
	}
	if version.Before(fioargs.HasHistogramLogs) {
		return fmt.Errorf("%s is too old: histogram logs need %s or later (Debian, Ubuntu: apt install fio; Fedora, RHEL: dnf install fio)",
			version, fioargs.HasHistogramLogs)
	}
	return nil
}

// NameOf returns the name of a run: that of its job file, or of its first job.
func NameOf(c *fioargs.Command) string {
	name := ""
	if files := c.Files(); len(files) > 0 && files[0] != Stdin {
		name = strings.TrimSuffix(filepath.Base(files[0]), filepath.Ext(files[0]))
	} else if len(c.Jobs) > 0 {
		name = c.Jobs[0].Name
	}
	const most = 40
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	return cmp.Or(clean[:min(len(clean), most)], "fio")
}

// jobOptions returns the options that all jobs get if the user has not set them.
func (p *Plan) jobOptions(c *fioargs.Command, s Settings) (added []string) {
	with := func(which func(*fioargs.Section) bool) *fioargs.Section {
		if i := slices.IndexFunc(c.Jobs, which); i >= 0 {
			return c.Jobs[i]
		}
		return nil
	}
	if section := with(func(s *fioargs.Section) bool { return s.IsOn("log_store_compressed") }); section != nil {
		o, _ := section.Get("log_store_compressed")
		p.note("%s: log_store_compressed: fio writes compressed histogram logs wrongly, so it writes none", o.At)
	} else {
		rows := fioargs.Rows{Every: time.Second}
		hasOwn := func(s *fioargs.Section) bool {
			return slices.ContainsFunc(s.Options, func(o fioargs.Option) bool { return strings.HasPrefix(o.Name, "log_hist_") })
		}
		if _, isLive := c.Own("status-interval"); !isLive && s.Reports == "none" && with(hasOwn) == nil {
			rows = fioargs.RowsOf(c.Jobs)
		}
		added = append(append(added, "write_hist_log="+filepath.Join(s.Folder, s.Name)), rows.Options()...)
		// fio keeps these logs in memory until its end.
		const much = 1 << 30 // the size from which to warn
		if need := fioargs.BytesOfRow * float64(c.NumJobs()) * p.Length.Seconds() / rows.Every.Seconds(); need > much {
			p.note("fio keeps histogram logs in memory until its end: up to %.0f GiB for %d jobs in %v, twice that if they read and write; "+
				"log_hist_msec=10000 needs a tenth", need/much+0.5, c.NumJobs(), p.Length)
		}
	}
	if s.Version.Before(fioargs.HasJobStart) && with((*fioargs.Section).WritesLogs) == nil {
		added = append(added, "log_unix_epoch=1") // not if it would change the times in the user's logs
	}
	for _, section := range c.Jobs {
		if o, ok := section.NoLatencies(); ok {
			p.note("%s: [%s] has no latencies, because %s is on", o.At, section.Name, o.Name)
		}
	}
	return added
}

func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// ownOptions adds the options of fio itself: the file of its report, the formats, and the time between reports.
func (p *Plan) ownOptions(c *fioargs.Command, s Settings) error {
	// fio writes what the user wants and json+, from which Output.Copy makes json.
	isJSON := func(format string) bool { return format == "json" || format == jsonPlus }
	formats := append(slices.DeleteFunc(slices.Clone(p.Output.Formats), isJSON), jsonPlus)
	p.Words = append(p.Words, "--output-format="+strings.Join(formats, ","))
	if err := p.reports(c, s); err != nil {
		return err
	}
	if p.Output.File != "" {
		p.Words = append(p.Words, "--output="+filepath.Join(s.Folder, reportName(s.Name, p.grid())))
	}
	if _, ok := c.Own("eta"); !ok && s.Quiet {
		p.Words = append(p.Words, "--eta=never")
	}
	if p.Every > 0 && !p.Grid && !p.Output.All {
		p.Words = append(p.Words, fmt.Sprintf("--status-interval=%d", p.Every/time.Second))
	}
	return nil
}

// grid returns the time between the edges of the grid on which fio is asked for reports, or 0.
func (p *Plan) grid() time.Duration {
	if p.Grid {
		return p.Every
	}
	return 0
}

// reports decides how often fio writes periodic reports, and what makes it write them.
func (p *Plan) reports(c *fioargs.Command, s Settings) (err error) {
	if o, ok := c.Own("status-interval"); ok {
		p.Every, p.Output.All = o.Time(), true
		return nil
	}
	if p.Every, err = every(s, c.Jobs, p.Length); err != nil {
		return err
	}
	switch isAuto := s.Reports == "auto"; {
	case isAuto && p.Every == 0:
		p.note("no reports while fio runs, because so many jobs would make them cost more than 1 %% of the processors: all is lost " +
			"if fio is killed, and there is no live view (--reports 30s keeps more)")
	case isAuto && p.Every > time.Second:
		p.note("a report each %v, because more would cost over 1 %% of the processors or take over 1 GiB: if fio is killed, up to the "+
			"last %v are lost (--reports 1s: the last second)", p.Every, p.Every)
	}
	if p.Every == 0 {
		if s.Version.WritesHalf() {
			p.note("%v writes memory in place of the counts of slow requests into histogram logs, so a job with such requests will have "+
				"no latencies over time: install a newer fio, or let this one write periodic reports (--reports 1s)", s.Version)
		}
		return nil
	}
	if p.Grid = s.Signals; !p.Grid {
		p.note("fio2es cannot send signals to this fio, so fio itself times its reports (--status-interval). If several hosts run fio, " +
			"their windows begin at different moments, and percentiles of all of them together are some 7 %% off, and may be 40 %%")
	}
	return nil
}

// every is the time between two reports. A report takes fio and fio2es up to 3.5 ms of processor time for each job: more
// than 1 % of the processors' time would change what is measured. It takes some 18 KB, and all reports of a long run
// 1 GiB, unless that means less than one in 30 s.
func every(s Settings, jobs []*fioargs.Section, length time.Duration) (time.Duration, error) {
	switch s.Reports {
	case "none":
		return 0, nil
	case "auto":
	default:
		d, ok := expr.ParseDuration(s.Reports)
		if !ok || d < time.Second || d%time.Second != 0 {
			return 0, fmt.Errorf("--reports %s: want auto, none, or a number of seconds such as 5s", s.Reports)
		}
		return d, nil
	}
	const cost, share, longest = 3500 * time.Microsecond, 100, 30 * time.Second
	const size, most = 18 << 10, 1 << 30
	entries := 0
	for _, section := range jobs {
		if section.IsOn("group_reporting") {
			entries++
		} else {
			entries += section.Jobs()
		}
	}
	need := time.Duration(entries) * cost * share / time.Duration(max(s.CPUs, 1))
	seconds := max((need+time.Second-1)/time.Second, 1) * time.Second
	if seconds > longest {
		return 0, nil
	}
	bySize := time.Duration(float64(entries) * size * length.Seconds() / most * float64(time.Second)).Truncate(time.Second)
	return max(seconds, min(bySize, longest)), nil
}

// lengthsOf returns the longest time that all jobs together can run, or 0 if options do not limit it, and the same of each
// stage.
func lengthsOf(jobs []*fioargs.Section) (all time.Duration, stages []Stage) {
	var runs []time.Duration
	for _, section := range jobs {
		runs = append(runs, section.Time("runtime"))
	}
	spans := fioargs.Spans(jobs, runs)
	for _, span := range spans {
		all = max(all, span.End)
	}
	for first, next := 0, 0; first < len(spans); first = next {
		begin, end := spans[first].Start, spans[first].End
		for ; next < len(spans) && spans[next].Stage == spans[first].Stage; next++ {
			begin, end = min(begin, spans[next].Start), max(end, spans[next].End)
		}
		var one Stage
		if !slices.Contains(runs[first:next], 0) {
			one.Length = end - begin
		}
		if !slices.Contains(runs[next:], 0) {
			one.Later = all - end
		}
		stages = append(stages, one)
	}
	if slices.Contains(runs, 0) {
		all = 0
	}
	return all, stages
}

// jobFile returns the name of the n-th job file for the command. fio applies options of the command line only to the
// first job file. So the others are replaced by copies that begin with the added options. Options that replace those of
// all jobs need copies, too, because a section has precedence over the command line.
func (p *Plan) jobFile(c *fioargs.Command, name string, n int, added []string, s Settings) (string, error) {
	if n == 0 && name != Stdin && len(c.Set) == 0 {
		return name, nil
	}
	text, err := s.ReadFile(name)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if n > 0 {
		fmt.Fprintf(&b, "[global]\n%s\n", strings.Join(added, "\n"))
	}
	own, err := fioargs.Movable(name, text, c.Set, s.ReadFile)
	if err != nil {
		return "", err
	}
	b.WriteString(own)
	to := filepath.Join(s.Folder, fmt.Sprintf("job-%d.fio", n+1))
	p.Copies[to] = b.Bytes()
	return to, nil
}

// Stdin is the name of a job file that is read from stdin.
const Stdin = "-"

// Files returns a function that reads job files. It reads stdin only once.
func Files(stdin io.Reader) func(name string) ([]byte, error) {
	all := sync.OnceValues(func() ([]byte, error) { return io.ReadAll(stdin) })
	return func(name string) ([]byte, error) {
		if name == Stdin {
			return all()
		}
		return os.ReadFile(name)
	}
}
