package assign_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/layout"
	"github.com/fio2es/fio2es/pipeline/source"
)

// tree is files by their path, with content.
type tree map[string]string

// with adds files, empty ones.
func (t tree) with(paths ...string) tree {
	all := maps.Clone(t)
	for _, p := range paths {
		all[p] = ""
	}
	return all
}

func (t tree) under(dir string) tree {
	all := tree{}
	for p, content := range t {
		all[dir+"/"+p] = content
	}
	return all
}

// write makes the files in a folder of that name and gives its path.
func (t tree) write(tb testing.TB, name string) string {
	tb.Helper()
	root := filepath.Join(tb.TempDir(), name)
	for p, content := range t {
		file := filepath.Join(root, filepath.FromSlash(p))
		must(tb, os.MkdirAll(filepath.Dir(file), 0o755))
		must(tb, os.WriteFile(file, []byte(content), 0o644))
	}
	return root
}

// pack makes an archive of the files and gives its path.
func (t tree) pack(tb testing.TB, name string) string {
	tb.Helper()
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	must(tb, err)
	w := tar.NewWriter(z)
	for _, p := range slices.Sorted(maps.Keys(t)) {
		must(tb, w.WriteHeader(&tar.Header{Name: name + "/" + p, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(t[p]))}))
		_, err := w.Write([]byte(t[p]))
		must(tb, err)
	}
	must(tb, w.Close())
	must(tb, z.Close())
	file := filepath.Join(tb.TempDir(), name+".tar.zst")
	must(tb, os.WriteFile(file, packed.Bytes(), 0o644))
	return file
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// scan lists what layout.Wanted wants.
func scan(tb testing.TB, paths ...string) []*evidence.File {
	tb.Helper()
	return scanWith(tb, layout.Options(), paths...)
}

func scanWith(tb testing.TB, opt source.Options, paths ...string) []*evidence.File {
	tb.Helper()
	set, err := source.Scan(tb.Context(), paths, opt)
	must(tb, err)
	tb.Cleanup(func() { must(tb, set.Close()) })
	for _, p := range set.Problems {
		tb.Errorf("scan: %v", p)
	}
	return evidence.All(set.Files)
}

// read makes the files and reads them as a folder named "arch".
func (t tree) read(tb testing.TB) *assign.Archive {
	tb.Helper()
	return read(context.Background(), scan(tb, t.write(tb, "arch")))
}

// inShort is what tests compare of a run. Logs are HOST/VOLUME/JOB.
type inShort struct {
	Path, Name   string
	Logs, Others string
	Reports      string
	Config       bool
}

func short(r *assign.Run) inShort {
	list := func(logs []assign.Log) string {
		var all []string
		for _, l := range logs {
			all = append(all, fmt.Sprintf("%s/%s/%d", l.Host, l.Volume, l.Job))
		}
		return strings.Join(all, " ")
	}
	s := inShort{Path: r.Path, Name: r.Name(), Logs: list(r.Logs), Others: list(r.Others), Config: r.Config != nil}
	var reports []string
	for _, f := range r.Reports {
		text := f.Host + "/" + f.Volume
		if !f.Named {
			text += "?"
		}
		reports = append(reports, text)
	}
	s.Reports = strings.Join(reports, " ")
	return s
}

func shorts(a *assign.Archive) []inShort {
	var all []inShort
	for _, r := range a.Runs {
		all = append(all, short(r))
	}
	return all
}

func reasons(a *assign.Archive) []string {
	var all []string
	for _, l := range a.Left {
		all = append(all, l.File.Path+": "+l.Reason)
	}
	return all
}

// configure is Configure for configurations that are well.
func configure(tb testing.TB, r *assign.Run) map[string]any {
	tb.Helper()
	flat, err := r.Configure(context.Background())
	must(tb, err)
	return flat
}

// yaml is a benchmark_config.yaml with these lines below cluster.
func yamlOf(lines ...string) string {
	return "cluster:\n  " + strings.Join(lines, "\n  ") + "\n"
}

// read reads files without paths that are said to be one run.
func read(ctx context.Context, files []*evidence.File) *assign.Archive {
	a, err := assign.Read(ctx, files, nil)
	if err != nil {
		panic(err)
	}
	return a
}

func logsOf(r *assign.Run) []assign.Log { return slices.Concat(r.Logs, r.Others) }
