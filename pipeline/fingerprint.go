package pipeline

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

// used is a file of a run with its role. The path does not identify it.
type used struct {
	file         *source.File
	role         string // such as mapping.RoleReport
	host, volume string
	job          int
}

// fingerprint hashes the files that identify a run and the files that its documents are made of. The hash of contents,
// roles and settings identifies one version of the run. Each document has it, so it must be known before the first
// document. The hash is XXH64, which is as fast as memory. It does not protect against forgery, and need not.
func (p *input) fingerprint(ctx context.Context) (src mapping.Source, err error) {
	files := p.used()
	list := make([]mapping.SourceFile, len(files))
	each(p.opt.workers(), len(files), func(i int) {
		if ctx.Err() != nil {
			return
		}
		list[i] = hashFile(files[i].file)
		if list[i].Role = files[i].role; list[i].Role == mapping.RoleLog || list[i].Role == mapping.RoleRaw {
			list[i].Begin = hashBegin(files[i].file)
		}
	})
	if err := ctx.Err(); err != nil {
		return src, err
	}
	src = mapping.Source{Files: len(list), List: list}
	lines := make([]string, len(list))
	for i, f := range list {
		src.Bytes += f.Bytes
		u := &files[i]
		lines[i] = fmt.Sprintf("%s %q %q %d %d %s\n", u.role, u.host, u.volume, u.job, f.Bytes, f.Hash)
	}
	if p.Run.MayLackFiles() {
		lines = append(lines, "torn\n") // a complete archive may later have the same files of the run
	}
	slices.Sort(lines)
	sum := xxhash.New()
	for _, line := range lines {
		fmt.Fprint(sum, line)
	}
	src.Hash = hex.EncodeToString(sum.Sum(nil))
	return src, nil
}

// used returns the files that identify the run or that its documents are made of, by path. Histogram logs identify the
// run even if its rows come from other files.
func (p *input) used() []used {
	byFile := map[*source.File]used{}
	add := func(role string, logs ...cbt.Log) {
		for _, l := range logs {
			byFile[l.File] = used{l.File, role, l.Host, l.Volume, l.Job}
		}
	}
	for _, j := range p.Jobs {
		if j.HasHist() {
			add(mapping.RoleLog, j.Log.Log)
		} else {
			add(mapping.RoleRaw, j.Log.Log)
		}
	}
	add(mapping.RoleRaw, p.Averages...)
	add(mapping.RoleLog, p.Run.Logs...)
	for _, o := range p.Outputs {
		role := mapping.RoleOther
		if len(o.Entries) > 0 {
			role = mapping.RoleReport
		}
		byFile[o.File] = used{o.File, role, o.Host, o.Volume, 0}
	}
	for _, f := range []*source.File{p.Run.Config, p.Run.ArchiveConfig} {
		if f != nil {
			byFile[f] = used{file: f, role: mapping.RoleConfig}
		}
	}
	return slices.SortedFunc(maps.Values(byFile), func(a, b used) int {
		return cmp.Or(cmp.Compare(a.file.Path, b.file.Path), cmp.Compare(a.file.Name(), b.file.Name()))
	})
}

// copyBuffers are for [copyAll].
var copyBuffers = sync.Pool{New: func() any { return new([128 << 10]byte) }}

// hashFile hashes the readable part of a file. Errors are reported when the file is parsed.
func hashFile(f *source.File) mapping.SourceFile {
	out := mapping.SourceFile{Path: f.Path}
	if size, sum, ok := f.Sum(); ok {
		out.Bytes, out.Hash = size, fmt.Sprintf("%016x", sum)
		return out
	}
	in, err := f.Open()
	if err != nil {
		return out
	}
	defer in.Close()
	sum := xxhash.New()
	out.Bytes, _ = copyAll(sum, in)
	out.Hash = hex.EncodeToString(sum.Sum(nil))
	return out
}

// hashBegin returns [mapping.SourceFile].Begin of a log. It reads at most mostBegin bytes.
func hashBegin(f *source.File) string {
	const mostBegin = 256 << 10
	in, err := f.Open()
	if err != nil {
		return ""
	}
	defer in.Close()
	sum, buf, digits := xxhash.New(), make([]byte, 8<<10), 0
	for range mostBegin / len(buf) {
		n, err := io.ReadFull(in, buf)
		for i, c := range buf[:n] {
			if '1' <= c && c <= '9' {
				if digits++; digits == mapping.BeginDigits {
					sum.Write(buf[:i+1])
					return hex.EncodeToString(sum.Sum(nil))
				}
			}
		}
		if err != nil {
			break
		}
		sum.Write(buf)
	}
	return ""
}

// copyAll copies the readable part of a content and returns its size in bytes.
func copyAll(to io.Writer, in io.Reader) (size int64, err error) {
	buf := copyBuffers.Get().(*[128 << 10]byte)
	defer copyBuffers.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{to}, in, buf[:])
}
