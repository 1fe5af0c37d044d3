package doctor

import (
	"strings"
	"testing"

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
		noRamp   = "the first seconds count, in which caches of the device are not filled: add ramp_time=10, or ramp_time=0 if this is meant"
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
		{"no direct, synced reads and writes", "size=8g rw=rw fdatasync=1", cache},
		{"no syncs of reads", good + "size=8g rw=read fdatasync=1", ""},
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
		{"no ramp", "direct=1 rw=randrw time_based runtime=10", noRamp},
		{"no ramp of reads", "direct=1 time_based runtime=10", ""},
		{"no ramp, meant", "direct=1 rw=write time_based runtime=10 ramp_time=0", ""},
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
			if diff := cmp.Diff(tt.want, strings.Join(Notes(c, m), "\n")); diff != "" {
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
			"iodepth has no effect, because ioengine=psync makes one request at a time: use one that queues (libaio or io_uring, with direct=1), or numjobs",
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
