package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Machine is what notes depend on besides options of fio. A zero value is one of which nothing is known.
type Machine struct {
	Memory  int64                      // in bytes; 0: unknown
	Mounted func(path string) []string // what is in use on the block device with this path; nil: unknown
}

// Here returns the machine that this program runs on. Outside Linux nothing is known of it.
func Here() *Machine {
	root := os.DirFS("/")
	return &Machine{Memory: memory(root), Mounted: func(path string) []string { return inUse(root, blockDevice, path) }}
}

// memory returns the size of the memory, from a root with /proc.
func memory(root fs.FS) (bytes int64) {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	_, _ = fmt.Sscanf(string(text), "MemTotal: %d kB", &bytes)
	return bytes << 10
}

// inUse returns what would be destroyed on a block device: where its file systems are mounted, "swap" for swap space, and the
// same for its partitions and for devices made from it (LVM, RAID, encryption); of such a device that is not mounted, its
// name. root has /proc and /sys. number returns the number of the block device at a path, such as "8:0", or "".
func inUse(root fs.FS, number func(path string) string, device string) (found []string) {
	start := number(device)
	if start == "" {
		return nil
	}
	uses := map[string][]string{}
	mounts, _ := fs.ReadFile(root, "proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		// such as: 36 35 8:2 / /mnt rw,noatime shared:1 - ext4 /dev/sda2 rw
		left, right, _ := strings.Cut(line, " - ")
		mount, source := strings.Fields(left), strings.Fields(right)
		if len(mount) < 5 || len(source) < 2 {
			continue
		}
		at := strings.ReplaceAll(mount[4], `\040`, " ")
		uses[mount[2]] = append(uses[mount[2]], at)
		if strings.HasPrefix(source[1], "/") { // btrfs has a number of its own
			of := number(source[1])
			uses[of] = append(uses[of], at)
		}
	}
	swaps, _ := fs.ReadFile(root, "proc/swaps")
	for line := range strings.Lines(string(swaps)) {
		of := number(strings.Fields(line + " -")[0])
		uses[of] = append(uses[of], "swap")
	}
	var add func(of string) (isUsed bool)
	add = func(of string) (isUsed bool) {
		for _, use := range uses[of] {
			if isUsed = true; !slices.Contains(found, use) {
				found = append(found, use)
			}
		}
		for _, pattern := range []string{"/*/partition", "/holders/*/dev"} {
			files, _ := fs.Glob(root, "sys/dev/block/"+of+pattern)
			for _, file := range files {
				part := path.Dir(file)
				text, _ := fs.ReadFile(root, part+"/dev")
				isPartUsed := add(strings.TrimSpace(string(text)))
				if !isPartUsed && strings.HasSuffix(path.Dir(part), "/holders") {
					found, isPartUsed = append(found, path.Base(part)), true
				}
				isUsed = isUsed || isPartUsed
			}
		}
		return isUsed
	}
	add(start)
	return found
}
