package nightly

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// grain is the coarsest step of the clocks of file systems: two seconds, on FAT.
const grain = 2 * time.Second

// keyOf returns a hash of some texts. Different lists have different hashes.
func keyOf(texts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", texts))
	return hex.EncodeToString(sum[:16])
}

// list notes the states of all files on disk: their sizes, times and inodes. The change time differs even if somebody
// restored the size and the modification time. A file that was changed less than grain before now has no state, because
// another change might not change its times.
func (n *Night) list(files *source.Listing, now time.Time) {
	n.files = make(map[string]string, len(files.Files))
	limit, isSettled, all := now.Add(-grain), true, sha256.New()
	for _, f := range files.Files {
		changed, number := inode(f.Info)
		state := ""
		if f.Info.ModTime().Before(limit) && changed.Before(limit) {
			state = fmt.Sprint(f.Info.Size(), f.Info.ModTime().UnixNano(), changed.UnixNano(), number)
		}
		n.files[f.Name] = state
		isSettled = isSettled && state != ""
		fmt.Fprintf(all, "%q %s\n", f.Name, state)
	}
	for _, p := range files.Problems {
		fmt.Fprintf(all, "%q\n", p.Error())
	}
	if isSettled {
		n.listing = hex.EncodeToString(all.Sum(nil))
	}
}

// key returns the key of a run, or "" if the run cannot be remembered.
func (n *Night) key(run *cbt.Run) string {
	if key, ok := n.keys[run]; ok || n.files == nil {
		return key
	}
	n.keys[run] = ""
	texts := append([]string{"run", n.Settings, run.Archive, run.Path, run.Name(), run.Unread}, run.Doubts...)
	for _, logs := range [][]cbt.Log{run.Logs, run.Others} {
		for _, g := range logs {
			texts = append(texts, fmt.Sprint("log ", g.Kind, g.Job, g.Stored), g.Host, g.Volume, g.Prefix, g.File.Path)
		}
		texts = append(texts, "")
	}
	for _, r := range run.Reports {
		texts = append(texts, fmt.Sprint("report ", r.Named, r.Found, r.Candidate), r.Host, r.Volume, r.File.Path)
	}
	for i, f := range []*source.File{run.Config, run.ArchiveConfig, run.Job} {
		if f != nil {
			texts = append(texts, fmt.Sprint("other ", i), f.Path)
		}
	}
	for _, f := range run.Files() {
		state := n.files[f.Disk]
		if state == "" {
			return ""
		}
		texts = append(texts, f.Name(), fmt.Sprint(f.Size, f.ModTime.UnixNano()), f.Disk, state)
	}
	n.keys[run] = keyOf(texts...)
	return n.keys[run]
}

// callKey returns the key of ingests with these settings, paths and choice of runs.
func (n *Night) callKey() string {
	texts := []string{"call", n.Settings, n.Choice}
	for _, p := range n.Paths {
		abs, _ := filepath.Abs(p) // "" if there is no folder to begin at
		texts = append(texts, p, abs)
	}
	return keyOf(texts...)
}
