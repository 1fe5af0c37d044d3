package doctor

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/fioargs"
)

// TestNotes: of a machine with 8 GiB whose /dev/sda has mounted partitions.
func TestNotes(t *testing.T) {
	m := &Machine{Memory: 8 << 30, Mounted: func(path string) []string {
		if path == "/dev/sda" || path == "/dev/a:b" {
			return []string{"/", "/boot"}
		}
		return nil
	}}
	const (
		good     = " direct=1 ramp_time=10 "
		settled  = good + "time_based runtime=60 "
		mounted  = "writes to /dev/sda destroy what is in use on it (/, /boot): name another device, or unmount it"
		libaio   = "iodepth has no effect, because libaio makes one request at a time without direct=1: add direct=1"
		psync    = "iodepth has no effect, because ioengine=psync makes one request at a time: use one that queues (libaio or io_uring, with direct=1), or numjobs"
		cache    = "without direct=1 the page cache answers requests in place of the device: add it, or direct=0 if this is meant"
		small    = "files of 4.00GiB fit into memory (8.00GiB), so the page cache answers requests in place of the device: add direct=1, or make them larger than memory"
		noRamp   = "the first seconds count, in which caches and queues are not filled: add ramp_time=10, or ramp_time=0 if this is meant"
		tooShort = "5s are too short for caches and queues to settle, and for p99.9: use runtime=60 and ramp_time=10"
		tooSmall = "fio ends before its runtime, once 4.00GiB a job are done (after 8.00s at 1GiB/s): add time_based"
	)
	for _, tt := range []struct{ name, options, want string }{
		{"nothing", settled + "ioengine=libaio iodepth=16", ""},
		{"a device with mounted partitions", settled + "rw=randwrite filename=/dev/sdb:/dev/sda", mounted},
		{"trims", settled + "rw=trim filename=/dev/sda", mounted},
		{"reads", settled + "rw=randread filename=/dev/sda", ""},
		{"a directory", settled + "rw=write directory=/dev filename=sda", mounted},
		{"a name with a colon", settled + `rw=rw filename=/dev/a\:b`, strings.ReplaceAll(mounted, "sda", "a:b")},
		{"parts of a name with a colon", settled + `rw=rw filename=/dev/sda\:b`, ""},
		{"mounted, on other hosts", "--client=h" + settled + "rw=write filename=/dev/sda", ""},
		{"mounted, and nothing written", settled + "rw=write filename=/dev/sda ioengine=null", ""},
		{"libaio without direct", "ramp_time=0 iodepth=16 ioengine=libaio", libaio},
		{"libaio, not direct", "ramp_time=0 iodepth=16 ioengine=libaio direct=0", libaio},
		{"libaio, buffered later", "ramp_time=0 direct=1 iodepth=16 ioengine=libaio buffered=1", libaio},
		{"libaio, direct later", "ramp_time=0 buffered=1 iodepth=16 ioengine=libaio direct=1", ""},
		{"libaio, trims", "ramp_time=0 rw=trim iodepth=16 ioengine=libaio", ""},
		{"io_uring without direct", "iodepth=16 ioengine=io_uring", cache},
		{"depth of a synchronous engine", good + "iodepth=16", psync},
		{"depth by threads", good + "iodepth=16 io_submit_mode=offload", ""},
		{"an engine that joins requests", good + "iodepth=16 ioengine=vsync", ""},
		{"no direct", "size=8g", cache},
		{"no direct, synced writes", "size=1g rw=write fdatasync=1", ""},
		{"no direct, writes that are not synced", "size=8g rw=write fsync=0 sync=none", cache},
		{"no direct, synced reads and writes", "size=8g rw=rw fsync=1", cache},
		{"no direct, meant", "size=8g direct=0", ""},
		{"no direct, meant by another name", "size=8g buffered=1", ""},
		{"no direct, an engine of a library", "size=1g ioengine=rbd", ""},
		{"a file in memory", "size=4g direct=0", small},
		{"files of all jobs in memory", "size=1g numjobs=4", small},
		{"files of all jobs larger than memory", "size=1g numjobs=16 direct=0", ""},
		{"a file of all jobs", "size=4g numjobs=16 filename=x", small},
		{"parts of a file for each job", "size=1g numjobs=4 offset_increment=1g filename=x", small},
		{"several files", "filesize=1g nrfiles=4 size=100g", small},
		{"several names", "filesize=2g filename=x:y", small},
		{"a share of a device", "size=50% filename=/dev/sda direct=0", ""},
		{"short", good + "time_based runtime=5", tooShort},
		{"no ramp", "direct=1 time_based runtime=10", noRamp},
		{"no ramp, meant", "direct=1 time_based runtime=10 ramp_time=0", ""},
		{"no ramp, filling", "direct=1 rw=write size=1t", ""},
		{"ends early", good + "runtime=60 size=4g numjobs=2", tooSmall},
		{"ends early, meant", good + "runtime=60 size=4g numjobs=2 number_ios=1000", ""},
		{"a large file", good + "runtime=60 size=100g", ""},
		{"all of it", "runtime=5 size=4g numjobs=1 iodepth=2 filename=/dev/sda rw=randwrite", strings.Join([]string{mounted, psync, small,
			"fio ends before its runtime, once 4.00GiB a job are done (after 4.00s at 1GiB/s): add time_based", tooShort}, "\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			options, isClient := strings.CutPrefix(tt.options, "--client=h")
			words := []string{"fio", "job.fio"}
			if isClient {
				words = append(words, "--client=h")
			}
			text := "[global]\n" + strings.ReplaceAll(options, " ", "\n") + "\n[a]\n"
			c, err := fioargs.Parse(words, func(string) ([]byte, error) { return []byte(text), nil })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(strings.Join(Notes(c, m), "\n"), "a: ", "")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNotesTogether: an equal sentence is one, and the worst are first.
func TestNotesTogether(t *testing.T) {
	m := &Machine{Mounted: func(path string) []string { return map[string][]string{"/dev/sdz": {"swap"}}[path] }}
	const file = "[global]\ndirect=1\nramp_time=1\nruntime=5m\ntime_based\n[one]\nruntime=5\n[two]\n[/dev/sdz]\nrw=write\n[four]\nruntime=5\n"
	for more, want := range map[string][]string{
		"": {"/dev/sdz: writes to /dev/sdz destroy what is in use on it (swap): name another device, or unmount it",
			"one, four: 5s are too short for caches and queues to settle, and for p99.9: use runtime=60 and ramp_time=10"},
		"--iodepth=2": {"/dev/sdz: writes to /dev/sdz destroy what is in use on it (swap): name another device, or unmount it",
			"all 4 sections: iodepth has no effect, because ioengine=psync makes one request at a time: use one that queues (libaio or io_uring, with direct=1), or numjobs",
			"one, four: 5s are too short for caches and queues to settle, and for p99.9: use runtime=60 and ramp_time=10"},
	} {
		c, err := fioargs.Parse(strings.Fields("fio job.fio "+more), func(string) ([]byte, error) { return []byte(file), nil })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, Notes(c, m)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestInUse: a disk with a partition that is mounted, one for swap, one of btrfs, and two of LVM with a mounted volume on both and
// another one; and a disk of Ceph, on LVM that is not mounted.
func TestInUse(t *testing.T) {
	root := fstest.MapFS{
		"proc/meminfo": {Data: []byte("MemTotal:       24683656 kB\nMemFree: 1 kB\n")},
		"proc/self/mountinfo": {Data: []byte(`22 1 0:21 / /proc rw,relatime shared:5 - proc proc rw
23 1 253:0 / / rw shared:1 - xfs /dev/mapper/vg-root rw
24 23 8:1 / /boot rw shared:1 - ext4 /dev/sda1 rw
25 23 8:1 /sub /bound\040again rw shared:1 - ext4 /dev/sda1 rw
26 23 0:44 /@ /data rw shared:1 - btrfs /dev/sda3 rw
`)},
		"proc/swaps": {Data: []byte("Filename\tType\tSize\n/dev/sda2 partition 1000\n/file file 1000\n")},
	}
	file := func(path, text string) { root[path] = &fstest.MapFile{Data: []byte(text)} }
	for name, number := range map[string]string{"sda1": "8:1", "sda2": "8:2", "sda3": "8:3", "sda4": "8:4", "sda5": "8:5"} {
		file("sys/dev/block/8:0/"+name+"/partition", number[2:]+"\n")
		file("sys/dev/block/8:0/"+name+"/dev", number+"\n")
	}
	file("sys/dev/block/8:0/queue/dev", "none\n")
	for of, holders := range map[string]map[string]string{"8:4": {"dm-0": "253:0", "dm-1": "253:1"}, "8:5": {"dm-0": "253:0"}, "8:16": {"dm-2": "253:2"}} {
		for name, number := range holders {
			file("sys/dev/block/"+of+"/holders/"+name+"/dev", number+"\n")
		}
	}
	number := func(path string) string {
		return map[string]string{
			"/dev/sda": "8:0", "/dev/disk/by-id/x": "8:0", "/dev/sda1": "8:1", "/dev/sda2": "8:2", "/dev/sda3": "8:3", "/dev/sda4": "8:4",
			"/dev/sdb": "8:16", "/dev/sdc": "8:32", "/dev/mapper/vg-root": "253:0", "/dev/mapper/vg-free": "253:1",
		}[path]
	}
	for path, want := range map[string]string{
		"/dev/sda": "/boot, /bound again, swap, /data, /, dm-1", "/dev/disk/by-id/x": "/boot, /bound again, swap, /data, /, dm-1",
		"/dev/sda1": "/boot, /bound again", "/dev/sda2": "swap", "/dev/sda3": "/data", "/dev/sda4": "/, dm-1",
		"/dev/mapper/vg-root": "/", "/dev/mapper/vg-free": "", "/dev/sdb": "dm-2", "/dev/sdc": "", "/file": "", "job.1.0": "",
	} {
		if got := strings.Join(inUse(root, number, path), ", "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := memory(root); got != 24683656<<10 || memory(fstest.MapFS{}) != 0 {
		t.Errorf("%d bytes of memory", got)
	}
	if got := inUse(fstest.MapFS{}, number, "/dev/sda"); got != nil {
		t.Errorf("without /proc and /sys: %s", got)
	}
}
