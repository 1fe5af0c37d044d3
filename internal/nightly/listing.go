package nightly

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// grain is the coarsest step of the clocks of file systems: two seconds, on FAT.
const grain = 2 * time.Second

// listing is the state of the files of one ingest before it reads them.
type listing struct {
	*source.Listing
	at     time.Time
	byName map[string]fs.FileInfo // made when needed; nil for files that were changed lately
}

// isSettled reports whether a file was last changed long enough ago: another change would then change its times.
func (l *listing) isSettled(info fs.FileInfo) bool {
	changed, _ := inode(info)
	limit := l.at.Add(-grain)
	return info.ModTime().Before(limit) && changed.Before(limit)
}

// key returns a hash of all files, or "" if a file was changed lately.
func (l *listing) key() string {
	k := newKey("listing")
	for _, f := range l.Files {
		if !l.isSettled(f.Info) {
			return ""
		}
		k.file(f.Name, f.Info)
	}
	for _, p := range l.Problems {
		k.text(p.Error())
	}
	return k.sum()
}

// of returns a file on disk, or nil if it was changed lately. ok is false if it did not exist.
func (l *listing) of(name string) (info fs.FileInfo, ok bool) {
	if l.byName == nil {
		l.byName = make(map[string]fs.FileInfo, len(l.Files))
		for _, f := range l.Files {
			if l.byName[f.Name] = nil; l.isSettled(f.Info) {
				l.byName[f.Name] = f.Info
			}
		}
	}
	info, ok = l.byName[name]
	return info, ok
}

// problemKey returns a key of a problem and of the file on disk that has it. In a name inside an archive, this file
// comes before the "!". The key is "" if that file was changed lately.
func (l *listing) problemKey(p *source.Problem) string {
	k := newKey("problem")
	k.text(p.Error())
	for end := len(p.Name); end >= 0; end = strings.LastIndexByte(p.Name[:end], '!') {
		info, ok := l.of(p.Name[:end])
		if ok && info == nil {
			return ""
		}
		if ok {
			k.file(p.Name[:end], info)
			break
		}
	}
	return k.sum()
}

// runKey returns the key of a run, or "" if it cannot be remembered.
func (l *listing) runKey(run *cbt.Run, settings string) string {
	k := newKey("run")
	k.text(settings, run.Archive, run.Path, run.Name(), run.Unread)
	k.text(run.Doubts...)
	for _, logs := range [][]cbt.Log{run.Logs, run.Others} {
		for _, g := range logs {
			k.text(fmt.Sprint(g.Kind, g.Job, g.Stored), g.Host, g.Volume, g.Prefix, g.File.Path)
		}
		k.text("")
	}
	for _, r := range run.Reports {
		k.text(fmt.Sprint(r.Named, r.Found, r.Candidate), r.Host, r.Volume, r.File.Path)
	}
	for i, f := range []*source.File{run.Config, run.ArchiveConfig, run.Job} {
		if f != nil {
			k.text(fmt.Sprint(i), f.Path)
		}
	}
	for _, f := range run.Files() {
		info, _ := l.of(f.Disk)
		if info == nil {
			return ""
		}
		k.text(f.Name())
		k.number(f.Size, f.ModTime.UnixNano())
		k.file(f.Disk, info)
	}
	return k.sum()
}

// key hashes texts, numbers and files. Different sequences have different hashes.
type key struct {
	hash.Hash
	buf []byte
}

func newKey(kind string) *key {
	k := &key{Hash: sha256.New()}
	k.text(kind)
	return k
}

func (k *key) text(all ...string) {
	for _, s := range all {
		k.buf = append(binary.AppendUvarint(k.buf[:0], uint64(len(s))), s...)
		k.Write(k.buf)
	}
	k.number(int64(len(all)))
}

func (k *key) number(all ...int64) {
	k.buf = k.buf[:0]
	for _, n := range all {
		k.buf = binary.LittleEndian.AppendUint64(k.buf, uint64(n))
	}
	k.Write(k.buf)
}

// file adds the name, size, times and inode of a file. The change time differs even if size and modification time
// were restored.
func (k *key) file(name string, info fs.FileInfo) {
	changed, number := inode(info)
	k.text(name)
	k.number(info.Size(), info.ModTime().UnixNano(), changed.UnixNano(), int64(number))
}

func (k *key) sum() string { return hex.EncodeToString(k.Sum(nil)[:16]) }
