//go:build linux

package fiomatrix

import (
	"fmt"
	"slices"
	"time"
)

// way is a way to run fio.
type way struct {
	name string
	draw func(*scene) error
}

// since are the ways that need a later fio 3, with its minor version. One needs a new
// option, and one crashes with 3.1. With lat_percentiles, logs have total latencies up to 3.17, so raw logs of
// completion latencies are not the truth.
var since = map[string]int{"monotonic-epoch": 30, "no-clat-percentiles": 2, "lat-percentiles": 18}

// ways are all ways, in the order of the table.
var ways = slices.Concat(simpleWays, orderWays, reportWays, periodicWays, lossWays, placeWays)

// simply returns a way of one process with these additional options.
func simply(more ...string) func(*scene) error {
	return func(s *scene) error {
		p := s.process(s.loads()...)
		p.global = p.global.with(more...)
		if s.chance(15) {
			s.stall(p)
		}
		return nil
	}
}

// simpleWays have jobs that run at the same time.
var simpleWays = []way{
	{"plain", simply()},
	{"stall", func(s *scene) error {
		s.stall(s.process(s.loads()...))
		// If fio was stopped, a late first row looks like that of a direction that began late, by up to an interval.
		s.wants = []want{{tolerance: time.Duration(s.histMS/2+150) * time.Millisecond}}
		return nil
	}},
	{"group", simply("group_reporting")},
	{"new-group", func(s *scene) error {
		runtime := s.seconds(3, 5)
		first, second := s.load("first", s.between(1, 3), runtime), s.load("second", s.between(1, 3), runtime)
		second.options = options{"new_group"}
		p := s.process(first, second)
		p.global = p.global.with("group_reporting")
		return nil
	}},
	{"one-log", simply("per_job_logs=0")},
	{"epoch", simply("log_unix_epoch=1")},
	{"monotonic-epoch", simply("log_alternate_epoch=1", "log_alternate_epoch_clock_id=1")},
	{"threads", simply("thread")},
	{"short-run", func(s *scene) error {
		runtime := time.Duration(s.between(2, 12)) * 100 * time.Millisecond
		s.process(s.load("job", s.between(1, 3), runtime))
		return nil
	}},
	{"ramp", simply("ramp_time=1")},
	{"fixed-size", func(s *scene) error {
		x := s.load("job", s.between(1, 4), 0)
		x.timed = false
		p := s.process(x)
		p.global = p.global.with(fmt.Sprintf("number_ios=%d", s.between(800, 2000)))
		return nil
	}},
	{"default-name", func(s *scene) error {
		p := s.process(s.loads()...)
		p.jobFile = s.in("truth", "job.fio") // on a command line it would take the next option as its value
		p.global = p.global.with("write_hist_log")
		s.wants = []want{{}, {groups: bySection}}
		return nil
	}},
}

// orderWays have jobs that wait for others, or for a time.
var orderWays = []way{
	{"stonewall", func(s *scene) error { stonewalled(s, 2); return nil }},
	{"startdelay", func(s *scene) error { delayed(s); return nil }},
	{"stonewall-startdelay", func(s *scene) error {
		p := stonewalled(s, 2)
		p.sections[1].options = p.sections[1].options.with(fmt.Sprintf("startdelay=%d", s.between(1, 2)))
		return nil
	}},
	{"stonewall-group", func(s *scene) error {
		p := stonewalled(s, 3)
		p.global = p.global.with("group_reporting")
		return nil
	}},
	{"stonewall-epoch", func(s *scene) error {
		p := stonewalled(s, 2)
		p.global = p.global.with("log_unix_epoch=1")
		return nil
	}},
	{"stonewall-one-log", func(s *scene) error {
		p := stonewalled(s, 1)
		p.global = p.global.with("per_job_logs=0", "log_unix_epoch=1")
		s.wants = []want{{
			kind: short, says: []string{"those at the ends of its stages", "per_job_logs=1"}, counted: true, noShape: true, oneLog: true,
		}}
		return nil
	}},
}

// stonewalled adds sections that run one after another, each of which is a run.
func stonewalled(s *scene, maxJobs int) *process {
	sections := s.sequence(maxJobs)
	for _, x := range sections[1:] {
		x.options = options{"stonewall"}
	}
	s.wants = []want{{groups: bySection}}
	return s.process(sections...)
}

// delayed adds two sections. The second begins later.
func delayed(s *scene) *process {
	first, second := s.load("first", s.between(1, 3), s.seconds(3, 4)), s.load("second", s.between(1, 3), s.seconds(3, 4))
	second.options = options{fmt.Sprintf("startdelay=%d", s.between(1, 3))}
	return s.process(first, second)
}
