//go:build linux

package fiomatrix

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// newScene draws what all ways need.
func newScene(way string, seed uint64) *scene {
	s := &scene{way: way, seed: seed, rnd: rand.New(rand.NewPCG(seed, 0x66696f))}
	s.histMS = pick(s, 200, 250, 400, 500, 500, 700, 1000, 1000)
	s.coarse = pick(s, 0, 0, 0, 0, 1, 2)
	s.paths = []string{"run"}
	s.wants = []want{{}}
	return s
}

func pick[T any](s *scene, from ...T) T { return from[s.rnd.IntN(len(from))] }

// between draws a number from lo to hi, both included.
func (s *scene) between(lo, hi int) int { return lo + s.rnd.IntN(hi-lo+1) }

func (s *scene) chance(percent int) bool { return s.rnd.IntN(100) < percent }

// process adds a fio with the usual options.
func (s *scene) process(sections ...*section) *process {
	p := &process{
		number: len(s.processes), dir: s.in("run"), report: "out.json", sections: sections,
		args: []string{"--output-format=" + pick(s, "json+", "json+", "json+,normal")},
	}
	p.global = options{"bs=" + pick(s, "4k", "8k", "64k"), "write_hist_log=out", fmt.Sprintf("log_hist_msec=%d", s.histMS)}
	if s.chance(70) {
		p.global = p.global.with("disable_lat=1") // fewer raw logs to write when a job ends
	}
	if s.coarse > 0 {
		p.global = p.global.with(fmt.Sprintf("log_hist_coarseness=%d", s.coarse))
	}
	p.global = p.global.with(s.engine(p.number)...)
	p.jobFile = pick(s, "", s.in("truth", "job.fio"), s.in("run", "job.fio"))
	s.processes = append(s.processes, p)
	for i, x := range sections {
		s.adopt(p, i, x)
	}
	return p
}

// engine draws how requests are made. Only the engine null can trim.
func (s *scene) engine(process int) options {
	file := options{"filename=" + s.in("data", fmt.Sprintf("file.%d", process)), "size=4m", "norandommap", "randrepeat=0"}
	switch s.rnd.IntN(6) {
	case 0:
		return append(file, "ioengine=psync")
	case 1:
		return append(file, "ioengine=libaio", "iodepth=4")
	case 2:
		return append(file, "ioengine=psync", fmt.Sprintf("thinktime=%dus", s.between(100, 1500)))
	}
	return options{"ioengine=null", "size=1g", "norandommap", "randrepeat=0"}
}

// adopt records the place of a section for the truth.
func (s *scene) adopt(p *process, i int, x *section) {
	if x.raw == "" {
		x.raw = s.in("truth", fmt.Sprintf("%d.%d", p.number, i))
	}
	if engine, _ := p.global.value("ioengine"); engine != "null" && x.rw == "randtrim" {
		x.options = x.options.with("ioengine=null", "size=1g")
	}
}

// load draws a section with jobs, directions and rates.
func (s *scene) load(name string, jobs int, runtime time.Duration) *section {
	x := &section{name: name, jobs: jobs, runtime: runtime, timed: true}
	read, write := s.between(150, 600), s.between(150, 600)
	switch s.rnd.IntN(5) {
	case 0:
		x.rw, x.rate = "randread", fmt.Sprint(read)
	case 1:
		x.rw, x.rate = "randwrite", fmt.Sprint(write)
	case 2:
		x.rw, x.rate = "randtrim", fmt.Sprintf(",,%d", read)
	default:
		x.rw, x.rate = "randrw", fmt.Sprintf("%d,%d", read, write)
	}
	return x
}

func (s *scene) seconds(lo, hi int) time.Duration {
	return time.Duration(s.between(lo, hi)) * time.Second
}

// loads draws sections that run at the same time: one, or two with up to three directions.
func (s *scene) loads() []*section {
	runtime := s.seconds(3, 6)
	if s.chance(75) {
		return []*section{s.load("job", s.between(1, 6), runtime)}
	}
	second := s.load("trims", s.between(1, 2), runtime)
	second.rw, second.rate = "randtrim", fmt.Sprintf(",,%d", s.between(100, 300))
	return []*section{s.load("job", s.between(1, 4), runtime), second}
}

// sequence draws two or three sections of different lengths for stonewall.
func (s *scene) sequence(maxJobs int) []*section {
	names := []string{"first", "second", "third"}[:s.between(2, 3)]
	var out []*section
	for i, name := range names {
		x := s.load(name, s.between(1, maxJobs), time.Duration(s.between(2, 3))*time.Second+time.Duration(i%2)*time.Second/2)
		out = append(out, x)
	}
	return out
}

// stall stops the jobs of a process for a while.
func (s *scene) stall(p *process) {
	// Not in the first interval, because this would look like a direction that began late.
	at := time.Duration(s.histMS*3/2+s.between(300, 1200)) * time.Millisecond
	p.signals = append(p.signals, signal{after: at, name: "stall", length: time.Duration(s.between(300, 1600)) * time.Millisecond})
}
