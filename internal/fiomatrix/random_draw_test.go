//go:build linux

package fiomatrix

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// random is what a random execution has besides its processes.
type random struct {
	form     string // fio's --output-format; empty: no report
	logs     bool   // it has histogram logs
	periodic bool
	packed   string // as what fio2es gets the files: cp -p, cp, tar or tar.zst
	layout   string // of CBT: flat or workload; empty: a folder
}

// drawExecution draws an execution of fio as people make them. fio writes to folders fio.0, fio.1 and so on, and fio2es gets
// copies. A case depends on nothing but its seed, so one that was kept can be judged again.
func (s *scene) drawExecution() {
	s.histMS = 250 * s.between(1, 12)
	s.coarse = pick(s, 0, 0, 0, 0, 1, 2, 3, 4)
	s.random.packed = pick(s, "cp -p", "cp -p", "cp -p", "cp -p", "cp", "tar", "tar.zst")
	s.random.logs = s.chance(90)
	if s.chance(30) {
		s.drawCBT()
	} else {
		s.drawFolder()
	}
	if !s.random.logs {
		s.coarse = 0
	}
	s.arrange = (*scene).collect
	s.paths = []string{s.folder()}
	if strings.HasPrefix(s.random.packed, "tar") {
		s.paths[0] += "." + s.random.packed
	}
}

// folder is what fio2es reads, unless it is packed.
func (s *scene) folder() string {
	if s.random.layout != "" {
		return "archive"
	}
	return "run"
}

// logOptions are the options of histogram logs.
func (s *scene) logOptions(prefix string) options {
	if !s.random.logs {
		return nil
	}
	return options{"write_hist_log=" + prefix, fmt.Sprintf("log_hist_msec=%d", s.histMS), fmt.Sprintf("log_hist_coarseness=%d", s.coarse)}
}

// drawFolder draws a fio of up to four sections.
func (s *scene) drawFolder() {
	n := pick(s, 1, 1, 2, 2, 3, 4)
	order := make([]string, n) // how each section follows the one before
	stages := 1
	for i := 1; i < n; i++ {
		order[i] = pick(s, "", "", "new_group", "stonewall", "stonewall", "startdelay=1", "startdelay=2")
		if order[i] == "stonewall" {
			stages++
		}
	}
	p := &process{dir: s.in("fio.0")}
	s.processes = []*process{p}
	p.global = options{"bs=" + pick(s, "4k", "4k", "8k", "64k", "4k,64k")}.with(s.engine(0)...).with(s.logOptions("out")...)
	hang := n == 1 && s.chance(60)
	if hang {
		p.global = options{"bs=4k", "ioengine=null", "size=1t", "norandommap"}.with(s.logOptions("out")...)
	}
	ownPrefixes := s.chance(20)
	for _, o := range []struct {
		option  string
		percent int
	}{{"group_reporting", 25}, {"log_unix_epoch=1", 30}, {"disable_lat=1", 70}, {"per_job_logs=0", 10}} {
		if s.chance(o.percent) && (o.option != "per_job_logs=0" || !ownPrefixes) {
			p.global = p.global.with(o.option)
		}
	}
	for i, follows := range order {
		x := s.drawSection(p, fmt.Sprint("s", string(rune('a'+i))), n, stages)
		if hang {
			x.runtime += time.Second * 3
		}
		if follows != "" {
			x.options = x.options.with(follows)
		}
		if ownPrefixes && s.random.logs {
			x.options = x.options.with("write_hist_log=" + x.name)
		}
		p.sections = append(p.sections, x)
		s.adopt(p, i, x)
	}
	if hang {
		p.signals = []signal{{
			after: time.Duration(s.between(300, 2500)) * time.Millisecond, name: "stall",
			length: time.Duration(s.between(1000, 3500)) * time.Millisecond, jobs: pick(s, 0, 0, 1),
		}}
	}
	s.random.form = pick(s, "json+", "json+", "json+", "json+", "json+", "json+,normal", "json+,normal", "json", "json", "json,normal", "normal", "terse", "")
	if !s.random.logs && s.random.form == "" {
		s.random.form = "json+"
	}
	if s.random.form != "" {
		p.report = pick(s, "out.json", "out.json", "fio.txt", "result")
		p.args = []string{"--output-format=" + s.random.form}
		if s.chance(20) {
			p.redirect = ">"
		}
	}
	if strings.HasPrefix(s.random.form, "json") && s.chance(25) {
		s.random.periodic = true
		p.args = append(p.args, fmt.Sprintf("--status-interval=%d", s.between(1, 2)))
	}
	p.jobFile = pick(s, "", s.in("truth", "job.fio"), s.in("fio.0", "job.fio"))
}

// drawSection draws a section. The jobs of an execution make 100 to 2,000 requests a second together.
func (s *scene) drawSection(p *process, name string, sections, stages int) *section {
	jobs := pick(s, 1, 1, 1, 2, 2, 3, 4) // each takes processor time while it waits
	most := 2000 / sections / jobs
	rate := func() int { return s.between(min(100, most), most) }
	x := &section{name: name, jobs: jobs, timed: true}
	x.runtime = map[int]time.Duration{1: 3 * time.Second, 2: 2 * time.Second}[stages]
	x.runtime = max(x.runtime, 1500*time.Millisecond) + time.Duration(s.between(0, 4)*250)*time.Millisecond
	switch x.rw = pick(s, "randread", "randread", "randwrite", "write", "randtrim", "randrw", "randrw", "rw"); x.rw {
	case "randread":
		x.rate = fmt.Sprint(rate())
	case "randwrite", "write":
		x.rate = fmt.Sprintf(",%d", rate())
		if s.chance(25) {
			x.options = options{
				"ioengine=psync", "filename=" + s.in("data", fmt.Sprintf("file.%d", p.number)), "size=4m",
				pick(s, "fsync=8", "fdatasync=1", "fdatasync=4"),
			}
		}
	case "randtrim":
		x.rate = fmt.Sprintf(",,%d", rate())
	default:
		x.rate = fmt.Sprintf("%d,%d", rate(), rate())
		if s.chance(50) {
			x.options = options{fmt.Sprintf("rwmixread=%d", 10*s.between(1, 9))}
		}
	}
	if s.chance(15) {
		x.options = x.options.with("bssplit=" + pick(s, "4k/60:64k/40", "512/10:4k/90"))
	}
	if ends := s.between(1, 100); ends <= 10 {
		x.options = x.options.with("ramp_time=1")
	} else if ends <= 18 {
		x.timed = false
		x.options = x.options.with(fmt.Sprintf("number_ios=%d", min(100, most)*s.between(2, 3)))
	}
	return x
}

// drawCBT draws a fio for each volume of each host, as CBT runs them.
func (s *scene) drawCBT() {
	s.random.layout = pick(s, "flat", "workload")
	s.random.form = pick(s, "json+,normal", "json+,normal", "json+,normal", "json,normal")
	hosts, volumes := s.between(2, 3), s.between(1, 2)
	first := &process{}
	base := options{"bs=4k"}.with(s.logOptions("")...)
	engine := s.engine(0)
	if s.chance(30) {
		base = base.with("log_unix_epoch=1")
	}
	load := s.drawSection(first, "job", hosts*volumes, 1)
	load.options = load.options.without("ioengine", "filename", "size", "bssplit", "ramp_time", "number_ios", "fsync", "fdatasync")
	load.timed = true
	stall := s.chance(15)
	if stall {
		load.runtime += 2 * time.Second
	}
	for h := range hosts {
		delay := time.Duration(h*s.between(0, 1200)) * time.Millisecond
		for v := range volumes {
			x := *load
			x.name = fmt.Sprintf("cbt-fio-host%c-%d", 'A'+h, v)
			p := &process{number: len(s.processes), host: "host" + string(rune('A'+h)), delay: delay, sections: []*section{&x}}
			p.dir = s.in(fmt.Sprintf("fio.%d", p.number))
			p.report, p.redirect, p.args = fmt.Sprint("output.", v), ">", []string{"--output-format=" + s.random.form}
			p.global = base.with(engine...)
			if s.random.logs {
				p.global = p.global.with("write_hist_log=" + p.report)
			}
			if kind, _ := p.global.value("ioengine"); kind != "null" {
				p.global = p.global.with("filename=" + s.in("data", fmt.Sprintf("file.%d", p.number)))
			}
			x.raw = ""
			s.processes = append(s.processes, p)
			s.adopt(p, 0, &x)
			if stall && p.number == 0 {
				p.signals = []signal{{after: time.Second, name: "stall", length: time.Duration(s.between(1000, 2000)) * time.Millisecond}}
			}
		}
	}
}

// stage returns the number of a job's stage: the stonewalls up to its section. All of CBT's jobs run together.
func stage(j *truthJob) int {
	n := 0
	for i := range j.section + 1 {
		if _, ok := j.process.sections[i].options.value("stonewall"); ok {
			n++
		}
	}
	return n
}

// byStage makes a run of each stage.
func byStage(s *scene) [][]*truthJob {
	return groupBy(s, func(j *truthJob) string { return fmt.Sprint(stage(j)) })
}

// collect copies what fio wrote to where fio2es reads it.
func (s *scene) collect() error {
	for _, p := range s.processes {
		if err := s.copyFiles(p, s.in(s.folder())); err != nil {
			return err
		}
	}
	if s.paths[0] == s.folder() {
		return nil
	}
	cmd := exec.Command("tar", "--auto-compress", "-cf", s.paths[0], s.folder())
	cmd.Dir = s.root
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %w: %s", cmd.Args, err, text)
	}
	return os.RemoveAll(s.in(s.folder()))
}

// copyFiles copies the files of a process, and does what CBT does with them.
func (s *scene) copyFiles(p *process, to string) error {
	name := func(n string) string { return n }
	switch s.random.layout {
	case "flat":
		to = filepath.Join(to, "results", "00000000", "id-7c1f03ab")
		name = func(n string) string { return n + "." + p.host }
	case "workload":
		to = filepath.Join(to, "results", "00000000", "id-7c1f03ab", "w."+p.host, fmt.Sprintf("numjobs-%03d", p.sections[0].jobs), "total_iodepth-4", "iodepth-000004")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		from, dest := filepath.Join(p.dir, e.Name()), filepath.Join(to, name(e.Name()))
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(dest, text, 0o644)
		}
		if err == nil && s.random.packed != "cp" {
			err = keepTime(from, dest)
		}
		if err == nil && s.random.layout != "" && e.Name() == p.report {
			// CBT cuts the report out of the file when fio has ended.
			begin, end := bytes.Index(text, []byte("{\n")), bytes.LastIndex(text, []byte("\n}\n"))
			if begin >= 0 && end > begin {
				dest = filepath.Join(to, name("json_"+e.Name()))
				err = os.WriteFile(dest, text[begin:end+3], 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
	if s.random.layout == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(s.in("archive"), "results", "00000000", "id-7c1f03ab", "benchmark_config.yaml"), []byte(s.benchmark()), 0o644)
}

// benchmark is the configuration that CBT writes beside the results.
func (s *scene) benchmark() string {
	x := s.processes[0].sections[0]
	text := "cluster:\n  benchmark: librbdfio\n  iteration: 0\n  fio_out_format: " + s.random.form + "\n"
	if s.random.layout == "flat" {
		return text + fmt.Sprintf("  mode: %s\n  op_size: 4096\n  iodepth: 4\n  numjobs: %d\n", x.rw, x.jobs)
	}
	return text + fmt.Sprintf("  workloads:\n    w:\n      mode: %s\n      op_size: 4096\n      numjobs:\n      - %d\n      total_iodepth:\n      - 4\n", x.rw, x.jobs)
}
