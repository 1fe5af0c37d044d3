//go:build linux

package fiomatrix

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// reportWays differ in what fio reports, and in where reports and logs are.
var reportWays = []way{
	{"prefixes", func(s *scene) error {
		runtime := s.seconds(3, 4)
		sections := []*section{s.load("first", s.between(1, 3), runtime), s.load("second", s.between(1, 3), runtime)}
		if s.chance(50) {
			sections = s.sequence(2)
			for _, x := range sections[1:] {
				x.options = options{"stonewall"}
			}
			s.note = "stonewall"
		}
		p := s.process(sections...)
		p.global = p.global.without("write_hist_log")
		for _, x := range sections {
			x.options = x.options.with("write_hist_log=" + x.name)
		}
		s.wants = []want{{}, {groups: bySection}}
		return nil
	}},
	{"two-in-a-folder", func(s *scene) error {
		for i, name := range []string{"alpha", "beta"} {
			p := s.process(s.loads()...)
			p.global = p.global.with("write_hist_log=" + name)
			p.report = name + pick(s, ".json", ".out")
			p.delay = time.Duration(i*s.between(0, 1500)) * time.Millisecond
			p.jobFile = ""
		}
		s.wants = []want{{groups: byProcess}}
		return nil
	}},
	{"report-above", func(s *scene) error {
		p := s.process(s.loads()...)
		p.folders = []string{"logs"}
		p.global = p.global.with("write_hist_log=logs/out")
		s.paths = []string{pick(s, "run", "run/logs")}
		s.note = s.paths[0]
		return nil
	}},
	{"odd-name", func(s *scene) error {
		p := s.process(s.loads()...)
		p.report = pick(s, "result.dat", "result", "fio.txt", "2026-11-22.JSON", "report.log")
		s.note = p.report
		return nil
	}},
	{"redirected", func(s *scene) error {
		p := s.process(s.loads()...)
		p.redirect, p.report = ">", "output.txt"
		p.args = []string{"--output-format=" + pick(s, "json+,normal", "normal,json+", "json+")}
		return nil
	}},
	{"unified", func(s *scene) error {
		p := s.process(s.loads()...)
		p.global = p.global.with("unified_rw_reporting=1")
		if s.chance(30) {
			p.global = p.global.with("group_reporting")
			s.note = "group"
		}
		s.wants = []want{{mixed: true}, {}}
		return nil
	}},
	{"disable-clat", func(s *scene) error {
		p := s.process(s.loads()...)
		p.global = p.global.with("disable_clat=1").without("disable_lat")
		s.wants = []want{{kind: totals, says: []string{`clat|completion latenc`}, never: wrongAdvice}}
		return nil
	}},
	{"gtod-reduce", func(s *scene) error {
		p := s.process(s.loads()...)
		p.global = p.global.with("gtod_reduce=1")
		s.wants = []want{{kind: totals, says: []string{`gtod_reduce|clat|latenc`}, never: wrongAdvice}}
		return nil
	}},
	{"no-clat-percentiles", func(s *scene) error {
		p := s.process(s.loads()...)
		p.global = p.global.with("clat_percentiles=0")
		says := []string{`clat_percentiles|clat`}
		s.wants = []want{{kind: totals, says: says, never: wrongAdvice}, {kind: short, says: says, never: wrongAdvice}}
		return nil
	}},
	{"lat-percentiles", func(s *scene) error {
		p := s.process(s.loads()...)
		p.global = p.global.with("lat_percentiles=1").without("disable_lat")
		s.wants = []want{{}, {kind: totals, says: []string{`lat_percentiles|clat`}}, {kind: short, says: []string{`lat_percentiles|clat`}}}
		return nil
	}},
	{"json", func(s *scene) error {
		p := s.process(s.loads()...)
		p.args = []string{"--output-format=json"}
		s.wants = []want{{kind: short, says: []string{`json\+`}, counted: true, exit: []int{0, 3}}}
		return nil
	}},
	{"no-report", func(s *scene) error {
		p := s.process(s.loads()...)
		p.args, p.report = nil, ""
		// The time of a log is the end of its job. Its last row is up to an interval earlier.
		late := time.Duration(s.histMS+150) * time.Millisecond
		s.wants = []want{{kind: short, says: []string{`json`}, tolerance: late, noShape: true, exit: []int{0, 3}}}
		return nil
	}},
	{"no-hist-msec", func(s *scene) error {
		p := s.process(s.loads()...)
		p.global = p.global.without("log_hist_msec")
		s.wants = []want{{kind: totals, says: []string{`log_hist_msec`}}}
		return nil
	}},
	{"no-logs", func(s *scene) error {
		p := s.process(s.loads()...)
		p.global = p.global.without("write_hist_log", "log_hist_msec", "log_hist_coarseness")
		s.wants = []want{{kind: totals, says: []string{`log_hist_msec`}}}
		return nil
	}},
	{"raw-only", func(s *scene) error {
		p := s.process(s.loads()...)
		s.rawInFolder(p)
		p.global = p.global.without("write_hist_log", "log_hist_msec", "log_hist_coarseness")
		s.wants = []want{{source: fromRaw}}
		return nil
	}},
}

// wrongAdvice was already followed, and does not help if latencies are turned off.
var wrongAdvice = []string{`use --output-format=json\+`, `add --output-format=json\+`}

// rawInFolder writes the raw logs where fio2es sees them.
func (s *scene) rawInFolder(p *process) {
	for _, x := range p.sections {
		x.raw = "out"
	}
}

// bySection makes a run of each section.
func bySection(s *scene) [][]*truthJob {
	return groupBy(s, func(j *truthJob) string { return fmt.Sprint(j.process.number, ".", j.section) })
}

// byProcess makes a run of each fio.
func byProcess(s *scene) [][]*truthJob {
	return groupBy(s, func(j *truthJob) string { return fmt.Sprint(j.process.number) })
}

func groupBy(s *scene, of func(*truthJob) string) [][]*truthJob {
	var out [][]*truthJob
	at := map[string]int{}
	for _, j := range s.truth {
		i, ok := at[of(j)]
		if !ok {
			i = len(out)
			at[of(j)] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], j)
	}
	return out
}

// lastPhase makes a run of the last phase.
func lastPhase(s *scene) [][]*truthJob {
	last := s.processes[len(s.processes)-1].phase
	var out []*truthJob
	for _, j := range s.truth {
		if j.process.phase == last {
			out = append(out, j)
		}
	}
	return [][]*truthJob{out}
}

// periodicWays write a report each second while fio runs.
var periodicWays = []way{
	{"periodic", periodic()},
	{"periodic-group", periodic("group_reporting")},
	{"periodic-stonewall", func(s *scene) error {
		p := stonewalled(s, 2)
		p.args = append(p.args, "--status-interval=1")
		s.wants = []want{{groups: bySection}, {groups: bySection, source: fromReports}}
		return nil
	}},
	{"periodic-only", func(s *scene) error {
		p := s.process(s.loads()...)
		p.args = append(p.args, "--status-interval=1")
		p.global = p.global.without("write_hist_log", "log_hist_msec", "log_hist_coarseness")
		s.coarse = 0 // reports have the finest bins
		s.wants = []want{{source: fromReports}}
		return nil
	}},
	{"killed", func(s *scene) error {
		p := s.process(s.loads()...)
		p.args = append(p.args, "--status-interval=1")
		p.signals = []signal{{after: time.Duration(s.between(3200, 3800)) * time.Millisecond, name: "kill"}}
		for _, x := range p.sections {
			x.runtime = 8 * time.Second
		}
		s.wants = []want{{source: fromReports, exit: []int{0, 3}, mayWarn: `.`}}
		return nil
	}},
}

func periodic(more ...string) func(*scene) error {
	return func(s *scene) error {
		p := s.process(s.loads()...)
		p.args = append(p.args, "--status-interval=1")
		p.global = p.global.with(more...)
		s.wants = []want{{}, {source: fromReports}}
		return nil
	}
}

// lossWays end early, lack files, or have too many.
var lossWays = []way{
	{"interrupted", func(s *scene) error {
		p := s.process(s.loads()...)
		p.signals = []signal{{after: time.Duration(s.between(2500, 3900)) * time.Millisecond, name: "interrupt"}}
		for _, x := range p.sections {
			x.runtime = 6 * time.Second
		}
		return nil
	}},
	{"errors", func(s *scene) error {
		p := limited(s, 8<<20, "rw=randwrite", "size=10m", "fallocate=none", "ignore_error=,EFBIG", "rate_iops=300", "filename="+s.in("data", "limited"))
		p.sections[0].timed = true
		s.wants = []want{{exit: []int{0, 3}, mayWarn: `fail|error`}}
		return nil
	}},
	{"disk-full", func(s *scene) error {
		limited(s, 32<<20, "rw=write", "size=100m", "rate_iops=2000", "directory="+s.in("data"), "bs=4k")
		s.wants = []want{{exit: []int{0, 3}, mayWarn: `fail|error`}}
		return nil
	}},
	{"lost-log-raw", func(s *scene) error {
		s.rawInFolder(lossy(s))
		s.wants = []want{{exit: []int{0, 3}, mayWarn: `.`}}
		return nil
	}},
	{"lost-log-periodic", func(s *scene) error {
		p := lossy(s)
		p.args = append(p.args, "--status-interval=1")
		s.wants = []want{{exit: []int{0, 3}, mayWarn: `.`, noShape: true}}
		return nil
	}},
	{"lost-log", func(s *scene) error {
		lossy(s)
		s.wants = []want{{kind: short, says: []string{`not there|missing|no (histogram )?logs?\b|without .*log|has no`}}}
		return nil
	}},
	{"left-over", func(s *scene) error {
		for phase, jobs := range []int{s.between(2, 4), 1} {
			p := s.process(s.load("job", jobs, s.seconds(3, 4)))
			p.phase, p.jobFile = phase, ""
		}
		s.wants = []want{{groups: lastPhase, more: true, exit: []int{3}, says: []string{`_clat_hist\.[234]\.log`}}}
		return nil
	}},
	{"appended", func(s *scene) error {
		jobs := s.between(1, 3)
		for phase := range 2 {
			p := s.process(s.load("job", jobs, s.seconds(3, 4)))
			p.phase, p.jobFile, p.redirect = phase, "", ">>"
		}
		s.wants = []want{{groups: lastPhase, more: true, exit: []int{0, 3}, mayWarn: `.`}}
		s.extra = func(a *said, v *verdict) {
			if len(a.runs) < 2 && !regexp.MustCompile(`(?i)earlier|two|several|another|append|other run`).MatchString(a.ingest.stderr) {
				v.fail("not reported", "the other run of out.json", "%s", firstLine(a.ingest.stderr))
			}
		}
		return nil
	}},
	{"copies", func(s *scene) error {
		s.process(s.loads()...)
		s.arrange = func(s *scene) error {
			for _, name := range []string{"out_clat_hist.1.log", "out.json"} {
				text, err := os.ReadFile(s.in("run", name))
				if err != nil {
					return err
				}
				if err := os.WriteFile(s.in("run", name+pick(s, ".bak", ".orig", "~")), text, 0o644); err != nil {
					return err
				}
			}
			return nil
		}
		s.wants = []want{{exit: []int{0, 3}, mayWarn: `bak|orig|~|cop`}}
		return nil
	}},
	{"again", func(s *scene) error {
		for phase := range 2 {
			p := s.process(s.load("job", s.between(1, 3), s.seconds(3, 4)))
			p.phase, p.jobFile = phase, ""
		}
		s.after = func(phase int) error {
			if phase > 0 {
				return nil
			}
			if err := os.MkdirAll(s.in("first"), 0o755); err != nil {
				return err
			}
			return os.Rename(s.in("run"), s.in("first", "run"))
		}
		s.paths = []string{"first/run", "run"}
		s.wants = []want{{groups: byProcess}}
		return nil
	}},
}

// limited adds a fio whose files cannot grow beyond a size.
func limited(s *scene, size int, more ...string) *process {
	x := s.load("job", s.between(1, 2), s.seconds(3, 5))
	x.rw, x.timed = "randwrite", false
	p := s.process(x)
	const block = 512 // block size of ulimit
	p.shell = fmt.Sprintf("trap '' XFSZ; ulimit -f %d; ", size/block)
	p.global = p.global.without("filename", "iodepth", "thinktime").with("ioengine=psync")
	x.options = options(more)
	return p
}

// lossy adds a fio of two jobs or more that has lost one histogram log.
func lossy(s *scene) *process {
	p := s.process(s.load("job", s.between(2, 5), s.seconds(3, 5)))
	s.arrange = func(s *scene) error {
		j := pick(s, s.truth...)
		j.lost = true
		s.note = fmt.Sprint("without log ", j.number)
		return os.Remove(filepath.Join(p.dir, fmt.Sprintf("out_clat_hist.%d.log", j.number)))
	}
	return p
}
