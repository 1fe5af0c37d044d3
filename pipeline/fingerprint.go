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
	"github.com/fio2es/fio2es/pipeline/source"
)

// fingerprint hashes all files that a run's documents are made of. The hash of their contents and
// the settings names one version of the run: a document carries it from the first one
// on, so it must be known before. XXH64 tells contents apart at the speed of memory;
// it is no protection against forgery, and needs to be none.
func (p *plan) fingerprint(ctx context.Context) (mapping.Source, string, error) {
	files := p.files()
	list := make([]mapping.SourceFile, len(files))
	p.each(len(files), func(i int) {
		if ctx.Err() == nil {
			list[i] = hashFile(files[i])
		}
	})
	if err := ctx.Err(); err != nil {
		return mapping.Source{}, "", err
	}
	src := mapping.Source{Files: len(list), List: list}
	sum := xxhash.New()
	for _, f := range list {
		src.Bytes += f.Bytes
		fmt.Fprintf(sum, "%q %d %s\n", f.Path, f.Bytes, f.Hash)
	}
	src.Hash = hex.EncodeToString(sum.Sum(nil))
	fmt.Fprint(sum, p.opt.settings())
	return src, hex.EncodeToString(sum.Sum(nil)), nil
}

// files are those that documents are made of, by path: a run may have other logs, too.
func (p *plan) files() []*source.File {
	used := map[*source.File]bool{}
	for _, j := range p.jobs {
		used[j.log.File] = true
	}
	for _, l := range p.averages {
		used[l.File] = true
	}
	for _, o := range p.outputs {
		used[o.File] = true
	}
	for _, f := range []*source.File{p.run.Config, p.run.Whole} {
		if f != nil {
			used[f] = true
		}
	}
	return slices.SortedFunc(maps.Keys(used), func(a, b *source.File) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name(), b.Name()))
	})
}

// copyBuffers are for hashing files.
var copyBuffers = sync.Pool{New: func() any { return new([128 << 10]byte) }}

// hashFile hashes what of a file can be read; errors are told when it is parsed.
func hashFile(f *source.File) mapping.SourceFile {
	out := mapping.SourceFile{Path: f.Path}
	in, err := f.Open()
	if err != nil {
		return out
	}
	defer in.Close()
	sum := xxhash.New()
	buf := copyBuffers.Get().(*[128 << 10]byte)
	defer copyBuffers.Put(buf)
	out.Bytes, _ = io.CopyBuffer(struct{ io.Writer }{sum}, in, buf[:])
	out.Hash = hex.EncodeToString(sum.Sum(nil))
	return out
}
