package rule

import (
	"maps"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/mapping"
)

func runOf(cbt mapping.CBT, jobs int, options string) *mapping.Run {
	run := &mapping.Run{CBT: cbt, Fio: mapping.FioInfo{Jobs: jobs, Options: map[string]string{}}}
	for _, option := range strings.Fields(options) {
		name, value, _ := strings.Cut(option, "=")
		run.Fio.Options[name] = value
	}
	return run
}

// TestRule pins the rule: stored documents have its ids. If a change makes others, raise version, and renew what is here.
func TestRule(t *testing.T) {
	night := mapping.CBT{Benchmark: "librbdfio", Workload: "seq", Mode: "write", OpSize: 4 << 20, TotalIODepth: 3, IODepth: 1, Volumes: 2, Clients: 4, Iteration: new(1), CephVersion: "19"}
	mixed := runOf(mapping.CBT{}, 3, "direct=1")
	for _, text := range []string{"randread", "write"} {
		mixed.Sections = append(mixed.Sections, mapping.RunSection{Name: text, Jobs: 1, CBT: mapping.CBT{Mode: text, OpSize: 4096, IODepth: 8}, Options: map[string]string{"rw": text, "iodepth": "8"}})
	}
	Set(mixed)
	for want, run := range map[string]*mapping.Run{
		"1-97eed06fbb11c148 read 4K qd1 #": runOf(mapping.CBT{}, 1, "size=1g"),
		"1-978d176e25aadcf6 randread 4K qd16 libaio direct rate_iops=400 jobs=4 /dev/nvme0n1 #": runOf(mapping.CBT{Mode: "randread", OpSize: 4096, IODepth: 16}, 4, "rw=randread bs=4k iodepth=16 ioengine=libaio direct=1 rate_iops=400 filename=/dev/nvme0n1 numjobs=4"),
		"1-d8b53bb794040b0d write 4M total-qd3 librbdfio seq rbd direct clients=4 volumes=2 #":  runOf(night, 8, "rw=write bs=4m iodepth=2 rbdname=x direct=1 ioengine=rbd"),
		"1-c5f83ac3c0a8816a randread 4K qd8 + write 4K qd8 #":                                   mixed,
		"1-89c702c517f0209d 0/log #": {Run: mapping.RunInfo{Name: "0/log"}},
	} {
		w := Of(run)
		got, want := w.ID+" "+w.Name, strings.TrimSuffix(want, "#")+"#"+w.ID[2:6]
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if s := mixed.Sections[1].Workload; !strings.HasPrefix(s.Name, "write 4K qd8 beside randread 4K qd8 #") || s.ID == mixed.Workload.ID {
		t.Errorf("a section: %+v", s)
	}
}

// TestNames: names of hosts, and of CBT's volumes, files, pools and clients, are in no workload, nor is the depth of a volume where
// there is a total. Their numbers are, and in a plain run of fio what it measured.
func TestNames(t *testing.T) {
	cbt := mapping.CBT{Workload: "4krandread", TotalIODepth: 3}
	run := func(change func(*mapping.Run)) string {
		r := runOf(cbt, 4, "rw=randread iodepth=2 rbdname=v1 filename=/mnt/h1/f directory=/h1 pool=p-1 clientname=admin name=a write_lat_log=/h1")
		r.Hosts = []mapping.RunHost{{Name: "h1"}, {Name: "h2"}}
		change(r)
		return Of(r).ID
	}
	set := func(options ...string) func(*mapping.Run) {
		return func(r *mapping.Run) { maps.Copy(r.Fio.Options, runOf(cbt, 1, strings.Join(options, " ")).Fio.Options) }
	}
	first := run(func(*mapping.Run) {})
	for name, change := range map[string]func(*mapping.Run){
		"other names":       set("rbdname=v2", "filename=/mnt/h2/f", "directory=/h2", "pool=p-2", "clientname=b", "name=c", "write_lat_log=x"),
		"depths of volumes": func(r *mapping.Run) { r.CBT.IODepth, r.Fio.Options["iodepth"] = 1, "1 | 2" },
		"hosts":             func(r *mapping.Run) { r.Hosts = []mapping.RunHost{{Name: "g1"}, {Name: "g2"}} },
		"place and time":    func(r *mapping.Run) { r.Run.Name, r.Run.Archive, r.Run.Path, r.CBT.Iteration = "x", "y", "z", new(4) },
	} {
		if got := run(change); got != first {
			t.Errorf("%s make another workload", name)
		}
	}
	for name, change := range map[string]func(*mapping.Run){
		"the total depth":   func(r *mapping.Run) { r.CBT.TotalIODepth = 4 },
		"number of clients": func(r *mapping.Run) { r.Hosts = r.Hosts[:1] },
		"number of volumes": func(r *mapping.Run) { r.Fio.Jobs = 8 },
		"an option":         set("rate_iops=400"),
		"no CBT":            func(r *mapping.Run) { r.CBT = mapping.CBT{} },
	} {
		if got := run(change); got == first {
			t.Errorf("%s makes no other workload", name)
		}
	}
	stored := runOf(cbt, 4, "")
	for id, isKept := range map[string]bool{version + "a": true, "0-a": false, "": false} {
		stored.Workload = mapping.Workload{ID: id, Name: "b"}
		if got := Of(stored); (got == stored.Workload) != isKept {
			t.Errorf("stored as %q: %+v", id, got)
		}
	}
}
