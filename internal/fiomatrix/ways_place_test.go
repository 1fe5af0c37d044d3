//go:build linux

package fiomatrix

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// placeWays have several hosts, or files in several folders.
var placeWays = []way{
	{"hosts", func(s *scene) error {
		s.hosts("run")
		return nil
	}},
	{"cbt", func(s *scene) error {
		const at = "archive/results/00000000/id-7c1f03ab"
		s.hosts(at)
		collect := s.arrange
		s.arrange = func(s *scene) error {
			if err := collect(s); err != nil {
				return err
			}
			text := fmt.Sprintf("cluster:\n  benchmark: librbdfio\n  iteration: 0\n  log_hist_msec: %d\n  mode: randrw\n  op_size: 4096\n  iodepth: 1\n", s.histMS)
			return os.WriteFile(s.in(at, "benchmark_config.yaml"), []byte(text), 0o644)
		}
		s.paths = []string{"archive"}
		return nil
	}},
	{"client", func(s *scene) error { return s.clients(1) }},
	{"two-clients", func(s *scene) error { return s.clients(2) }},
	{"pbench", func(s *scene) error {
		s.pbench(s.between(1, 2))
		s.wants = []want{{groups: byProcess, kind: short, says: []string{`json\+`}, counted: true, exit: []int{0, 3}}}
		return nil
	}},
	{"pbench-client", func(s *scene) error {
		if err := s.clients(s.between(1, 2)); err != nil {
			return err
		}
		s.processes[0].report = "fio-result.txt"
		s.processes[0].args = []string{"--output-format=json"}
		s.pbenchFiles()
		says := []string{`client|doubl|twice`}
		// Up to the second row, no row is doubled.
		s.wants = []want{
			{kind: short, says: []string{`json\+`}, counted: true, exit: []int{0, 3}, tolerance: clientLate},
			{kind: totals, says: says, exit: []int{3}, tolerance: clientLate}, {kind: refused, says: says},
		}
		return nil
	}},
	{"named", func(s *scene) error {
		p := s.process(s.loads()...)
		s.paths = nil
		n := 0
		for _, x := range p.sections {
			for range x.jobs {
				n++
				s.paths = append(s.paths, fmt.Sprintf("run/out_clat_hist.%d.log", n))
			}
		}
		return nil
	}},
	{"tar", packed("tar")},
	{"zip", packed("zip")},
}

// hosts adds a fio for each host; they begin one after another. Their files are collected in a folder as CBT does.
func (s *scene) hosts(to string) {
	runtime := s.seconds(3, 5)
	jobs := s.between(1, 3)
	load := s.load("job", jobs, runtime)
	for i := range s.between(2, 3) {
		x := *load
		x.raw = ""
		p := s.process(&x)
		p.host = "host" + string(rune('A'+i))
		p.dir = s.in(p.host)
		p.global = p.global.with("write_hist_log=output.0")
		p.report, p.args = "output.0", []string{"--output-format=json+,normal"}
		p.jobFile = ""
		p.delay = time.Duration(i*s.between(300, 1000)) * time.Millisecond
	}
	for i, p := range s.processes { // hosts of one run have the same options
		p.global = p.global.without("thinktime", "iodepth", "filename", "size").with(s.alike(i)...)
		s.adopt(p, 0, p.sections[0])
	}
	s.arrange = func(s *scene) error {
		for _, p := range s.processes {
			if err := move(p.dir, s.in(to), "output.0", func(name string) string { return name + "." + p.host }); err != nil {
				return err
			}
		}
		return nil
	}
}

// alike returns the engine of the first process, with a file for this process.
func (s *scene) alike(process int) options {
	first := s.processes[0].global
	var out options
	for _, k := range []string{"ioengine", "iodepth", "thinktime", "size"} {
		if v, ok := first.value(k); ok {
			out = append(out, k+"="+v)
		}
	}
	if engine, _ := first.value("ioengine"); engine != "null" {
		out = append(out, "filename="+s.in("data", fmt.Sprintf("file.%d", process)))
	}
	return out
}

// move moves the files of a folder whose names begin with a prefix.
func move(from, to, prefix string, rename func(string) string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && err == nil {
			err = os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, rename(e.Name())))
		}
	}
	return err
}

// clients adds a fio --client with n servers on the loopback interface.
func (s *scene) clients(n int) error {
	p := s.process(s.load("job", s.between(1, 3), s.seconds(3, 5)))
	p.jobFile = s.in("run", "job.fio")
	p.args = []string{"--output-format=json+"}
	for i := range n {
		at, err := address(fmt.Sprintf("127.0.0.%d", i+1))
		if err != nil {
			return err
		}
		p.servers = append(p.servers, at)
	}
	// Rows are corrected if the bins prove how they are doubled, which is always so with json+. The report has no
	// times, so the times of files show when jobs ran: all at the end.
	s.wants = []want{{mayWarn: `client|doubl|twice`, exit: []int{0, 3}, tolerance: clientLate}}
	s.arrange = func(s *scene) error {
		err := s.setGarbled(p)
		if slices.ContainsFunc(s.truth, func(j *truthJob) bool { return j.lost }) {
			s.wants = []want{{kind: short, says: []string{`bins do not prove how`}, counted: true, exit: []int{3}, tolerance: clientLate}}
		}
		return err
	}
	return nil
}

// setGarbled counts logs as lost if they have rows with more requests than their job had: the end of a last row is
// not always what the server sent (see errNoRow). A sum of two rows is never as large.
func (s *scene) setGarbled(p *process) error {
	prefix, _ := p.global.value("write_hist_log")
	for _, j := range s.truth {
		text, err := os.ReadFile(filepath.Join(p.dir, fmt.Sprintf("%s_clat_hist.%d.log.%s", prefix, j.inSection, j.host)))
		if err != nil {
			return err
		}
		rows, err := parseRows(text)
		if err != nil {
			return err
		}
		j.lost = slices.ContainsFunc(rows, func(r logRow) bool { return r.value > int64(len(j.done[r.dir])) })
	}
	return nil
}

// clientLate is how long after the end of its jobs fio --client may write logs and report.
const clientLate = 500 * time.Millisecond

// pbench adds a fio for each sample, without clients, and puts its files where pbench-fio puts them.
func (s *scene) pbench(samples int) {
	load := s.load("job", s.between(1, 3), s.seconds(3, 4))
	for i := range samples {
		x := *load
		x.raw = ""
		p := s.process(&x)
		p.phase = i
		p.dir = s.in(fmt.Sprintf("sample%d", i+1))
		p.global = p.global.with("write_hist_log=fio")
		p.report, p.args = "fio-result.txt", []string{"--output-format=json"}
		p.jobFile = filepath.Join(p.dir, "fio.job")
	}
	s.pbenchFiles()
}

func (s *scene) pbenchFiles() {
	s.arrange = func(s *scene) error {
		for i, p := range s.processes {
			sample := s.in("pbench", "1-randrw-4KiB", fmt.Sprintf("sample%d", i+1))
			if err := move(p.dir, sample, "", func(n string) string { return n }); err != nil {
				return err
			}
			if p.jobFile == filepath.Join(p.dir, "job.fio") {
				os.Rename(filepath.Join(sample, "job.fio"), filepath.Join(sample, "fio.job"))
			}
			hosts := map[string]string{"localhost": ""}
			if len(p.servers) > 0 {
				delete(hosts, "localhost")
			}
			for _, server := range p.servers {
				ip, _, _ := strings.Cut(server, ",")
				hosts[ip] = "." + ip
			}
			prefix, _ := p.global.value("write_hist_log")
			for host, suffix := range hosts {
				for _, j := range s.truth {
					if j.process != p || suffix != "" && j.host != host {
						continue
					}
					j.host = host
					name := fmt.Sprintf("%s_clat_hist.%d.log", prefix, j.number)
					to := filepath.Join(sample, "clients", host)
					if err := os.MkdirAll(to, 0o755); err != nil {
						return err
					}
					if err := os.Rename(filepath.Join(sample, name+suffix), filepath.Join(to, strings.Replace(name, prefix, "fio", 1))); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	s.paths = []string{"pbench"}
}

// packed packs the folder of another way.
func packed(format string) func(*scene) error {
	return func(s *scene) error {
		inner := pick(s, simpleWays[0], simpleWays[2], orderWays[0], placeWaysOf("hosts"))
		if err := inner.draw(s); err != nil {
			return err
		}
		s.note = inner.name
		if inner.name == "stonewall" { // in this format, times of files have whole seconds
			s.wants[0].tolerance = 1150 * time.Millisecond
		}
		arrange := s.arrange
		s.arrange = func(s *scene) error {
			if arrange != nil {
				if err := arrange(s); err != nil {
					return err
				}
			}
			if format == "zip" {
				return zipFolder(s.root, "run", s.in("run.zip"))
			}
			text, err := exec.Command("tar", "czf", s.in("run.tar.gz"), "-C", s.root, "run").CombinedOutput()
			if err != nil {
				return fmt.Errorf("tar: %w: %s", err, text)
			}
			return nil
		}
		s.paths = []string{map[string]string{"tar": "run.tar.gz", "zip": "run.zip"}[format]}
		return nil
	}
}

func placeWaysOf(name string) way {
	return way{name, func(s *scene) error {
		s.hosts("run")
		return nil
	}}
}

// zipFolder packs a folder with the times of its files.
func zipFolder(root, folder, to string) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	err = filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: info.ModTime()})
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}
