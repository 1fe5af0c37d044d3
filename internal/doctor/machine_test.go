package doctor

import (
	"strings"
	"testing"
	"testing/fstest"
)

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
