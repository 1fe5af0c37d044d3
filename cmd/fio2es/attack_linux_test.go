package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/memtest"
)

// attacks are small files that were made to take much: each gives the arguments of a command that reads them in a
// folder of its own.
var attacks = []struct {
	name  string
	files func(t *testing.T, dir string) (args []string)
	want  string // in the only line on stderr
}{
	{"a count near 2^53", func(t *testing.T, dir string) []string {
		put(t, dir, "x_clat_hist.1.log", histRow(1000, 29, 9007199254740991)+histRow(2000, 29, 1))
		put(t, dir, "x.json", reportOf("a", 11, 64))
		return []string{"percentiles", dir}
	}, "more than any job can make"},
	{"the same without a report", func(t *testing.T, dir string) []string {
		put(t, dir, "x_clat_hist.1.log", histRow(1000, 29, 9007199254740991))
		return []string{"ingest", "--output", "-", dir}
	}, "requests in a row"},
	{"the same with a report that agrees", func(t *testing.T, dir string) []string {
		put(t, dir, "x_clat_hist.1.log", histRow(1000, 29, 1<<53-11)+histRow(2000, 29, 10))
		put(t, dir, "x.json", reportOf("a", 1<<53-1, 29))
		return []string{"ingest", "--output", "-", dir}
	}, tooMuch},
	{"60 streams of bzip2", func(t *testing.T, dir string) []string {
		for i := range 60 {
			put(t, dir, fmt.Sprintf("x_clat_hist.%d.log.bz2", i+1), strings.Repeat(zerosInBzip2, 23))
		}
		return []string{"percentiles", dir}
	}, "begins with zeros"},
	{"60 streams of zstd", func(t *testing.T, dir string) []string {
		text := strings.Repeat(zstdOf(t, strings.Repeat("\x00", 16<<20)), 64)
		for i := range 60 {
			put(t, dir, fmt.Sprintf("x_clat_hist.%d.log.zst", i+1), text)
		}
		return []string{"percentiles", dir}
	}, "begins with zeros"},
	{"60 streams of zstd in one archive", func(t *testing.T, dir string) []string {
		put(t, dir, "a.tar.zst", zstdTar(t, "x_clat_hist.%d.log.zst", 60, strings.Repeat(zstdOf(t, strings.Repeat("0\n", 8<<20)), 64)))
		return []string{"percentiles", dir}
	}, tooMuch},
	{"sparse members", func(t *testing.T, dir string) []string {
		var b bytes.Buffer
		for i := range 60 {
			b.Write(sparseHeader(fmt.Sprintf("x_clat_hist.%d.log", i+1), 1<<30))
		}
		b.Write(make([]byte, 1024))
		put(t, dir, "a.tar.gz", gzipOf(t, b.String()))
		return []string{"percentiles", dir}
	}, "sparse"},
	{"gzip in gzip", func(t *testing.T, dir string) []string {
		memtest.Large(t)
		inner := strings.Repeat(gzipOf(t, strings.Repeat("0", 64<<20)), 320)
		put(t, dir, "x_clat_hist.1.log.gz.gz", gzipOf(t, inner))
		return []string{"percentiles", dir}
	}, tooMuch},
	{"zstd frames with large windows", func(t *testing.T, dir string) []string {
		frames := strings.Repeat(wideFrame, 5000)
		for i := range 20 {
			put(t, dir, fmt.Sprintf("x_clat_hist.%d.log.zst", i+1), frames)
		}
		return []string{"percentiles", dir}
	}, "want a direction"},
	{"zstd files with large windows", func(t *testing.T, dir string) []string {
		memtest.Large(t)
		put(t, dir, "a.tar", tarOfCopies(t, "x_clat_hist.%d.log.zst", 3000, strings.Repeat(wideFrame, 3)))
		return []string{"percentiles", dir}
	}, "want a direction"},
	{"windows of 250 hosts", func(t *testing.T, dir string) []string {
		var rows strings.Builder
		for i := range 20_000 {
			rows.WriteString(histRow(1000*(i+1), 29, 1))
		}
		put(t, dir, "a.tar.zst", zstdTar(t, "output.0_clat_hist.1.log.h%d", 250, rows.String()))
		return []string{"ingest", "--history", filepath.Join(dir, "h.db"), filepath.Join(dir, "a.tar.zst")}
	}, tooMuch},
	{"a spool of a gigabyte", func(t *testing.T, dir string) []string {
		put(t, dir, "a.tar.zst", zstdTar(t, "x_clat_hist.%d.log", 16, strings.Repeat(strings.Repeat("0, ", 20_000)+"\n", 1100)))
		return []string{"percentiles", dir}
	}, tooMuch},
	{"zip entries of one content", func(t *testing.T, dir string) []string {
		memtest.Large(t)
		var rows strings.Builder
		for i := range 3000 {
			rows.WriteString(histRow(1000*(i+1), 1856, 1))
		}
		put(t, dir, "a.zip", zipOfOne(t, "x%03d_clat_hist.1.log", 250, rows.String()))
		return []string{"percentiles", dir}
	}, tooMuch},
	{"slow bins", func(t *testing.T, dir string) []string {
		var rows strings.Builder
		for i := range 60 {
			rows.WriteString(fmt.Sprintf("%d, 0, 4096", 1000*(i+1)) + strings.Repeat(", 1", 40) + "\n")
		}
		put(t, dir, "x_clat_hist.1.log", rows.String())
		return []string{"percentiles", "--config", rebuilt(t, dir), "--interval", "1s", dir}
	}, "start taken from"},
	{"slow bins, fine", func(t *testing.T, dir string) []string {
		put(t, dir, "x_clat_hist.1.log", fmt.Sprintf("%d, 0, 4096", 1000)+strings.Repeat(", 1", 2560)+"\n")
		return []string{"percentiles", "--config", rebuilt(t, dir), "--interval", "1s", dir}
	}, "start taken from"},
	{"slow bins, packed", func(t *testing.T, dir string) []string {
		memtest.Large(t)
		var rows strings.Builder
		for i := range 20_000 {
			rows.WriteString(fmt.Sprintf("%d, 0, 4096", 1000*(i+1)) + strings.Repeat(", 1", 40) + "\n")
		}
		put(t, dir, "x_clat_hist.1.log.zst", zstdOf(t, rows.String()))
		return []string{"percentiles", "--config", rebuilt(t, dir), "--interval", "1s", dir}
	}, tooMuch},
	{"a document of 900 MB in a history", func(t *testing.T, dir string) []string {
		path := filepath.Join(dir, "h.db")
		store, err := sqlite.Open(t.Context(), path)
		check(t, err)
		check(t, store.Finish(t.Context(), historytest.NewRun("a", "1")))
		check(t, store.Close())
		db, err := sql.Open("sqlite", path)
		check(t, err)
		blob := append(binary.AppendUvarint(make([]byte, 8), 900<<20), 0, 'x') // a checksum, and what S2 makes of 900 MB
		for range 57 {
			blob = append(blob, 0x1d, 0, 0xff, 0xff, 0xff) // the same again, 16 MB of it
		}
		binary.LittleEndian.PutUint64(blob, xxhash.Sum64(blob[8:]))
		_, err = db.Exec(`UPDATE runs SET doc = ?; UPDATE summaries SET doc = ?`, blob, blob)
		check(t, err)
		check(t, db.Close())
		return []string{"runs", "--history", path}
	}, "cannot be read"},
	{"1,000 warnings", func(t *testing.T, dir string) []string {
		memtest.Large(t)
		put(t, dir, "a.tar", tarOfCopies(t, "%d/x_clat_hist.1.log", 1000, histRow(1000, 29, 1)+"bad\n"))
		return []string{"percentiles", "--total", "--format", "csv", dir}
	}, "more like this"},
	{"a job name of 900 KB", func(t *testing.T, dir string) []string {
		var rows strings.Builder
		for i := range 1000 {
			rows.WriteString(histRow(1000*(i+1), 29, 1))
		}
		put(t, dir, "x_clat_hist.1.log", rows.String())
		put(t, dir, "x.json", reportOf(strings.Repeat("j", 900_000), 1000, 29))
		return []string{"ingest", "--history", filepath.Join(dir, "h.db"), "--levels", "job", dir}
	}, "more than 1000 bytes"},
	{"many YAML files", func(t *testing.T, dir string) []string {
		memtest.Large(t)
		text := "cluster:\n"
		for i := range 4000 {
			text += fmt.Sprintf(" %d:\n", i)
		}
		put(t, dir, "a.tar.zst", zstdTar(t, "results/00000000/id-%08d/benchmark_config.yaml", 2000, text))
		put(t, dir, "b.tar.zst", zstdTar(t, "results/00000000/id-%08d/output.0_clat_hist.1.log.h", 2000, histRow(1000, 29, 1)))
		return []string{"percentiles", "--total", dir}
	}, "(and 1999 more like this)"}, // each archive costs what its size allows
}

const tooMuch = "too much for its size"

// TestAttacks runs the program on what was made to exhaust a machine: each ends within 15 s of processor time, 500 MB of
// memory and 300 MB of disk, with few lines. Those that take the most of this run in CI.
func TestAttacks(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := a.files(t, dir)
			size := int64(0)
			check(t, filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
				if info, e := e.Info(); e == nil && info.Mode().IsRegular() {
					size += info.Size()
				}
				return err
			}))
			cmd := program(t, args...)
			// A file of more than 300 MB cannot be written, and a process of 60 s ends.
			cmd.Args = append([]string{"sh", "-c", `ulimit -f 600000; ulimit -t 60; exec "$0" "$@"`, cmd.Path}, args...)
			cmd.Path = "/bin/sh"
			cmd.Env = append(cmd.Env, "TMPDIR="+t.TempDir())
			var errs bytes.Buffer
			stdout := &counted{}
			cmd.Stdout, cmd.Stderr = stdout, &errs
			check(t, cmd.Start())
			memory := int64(0) // MB; the resource usage of a child has its parent's peak
			done := make(chan error)
			go func() { done <- cmd.Wait() }()
			var err error
			for running := true; running; {
				select {
				case err = <-done:
					running = false
				case <-time.After(5 * time.Millisecond):
					memory = max(memory, peakOf(cmd.Process.Pid))
				}
			}
			took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			text := errs.String()
			t.Logf("%d bytes: %v of CPU, %d MB, %d KB of output, %v: %.600s", size, took.Round(time.Millisecond), memory, stdout.n>>10, err, text)
			if took > 15*time.Second || memory > 500 || stdout.n > 100<<20 || strings.Contains(text, "no room") || cmd.ProcessState.ExitCode() < 0 || cmd.ProcessState.ExitCode() == 2 && strings.Contains(text, "goroutine") {
				t.Error("it took too much")
			}
			if lines := strings.Count(text, "\n"); !strings.Contains(text, a.want) || lines > 40 || len(text) > 8000 {
				t.Errorf("%d lines, %d bytes, want %q", lines, len(text), a.want)
			}
		})
	}
}

// TestOutputIsNoInput: what a command reads is not replaced by what it writes.
func TestOutputIsNoInput(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "x_clat_hist.1.log", histRow(1000, 29, 1))
	log := filepath.Join(dir, "x_clat_hist.1.log")
	check(t, os.Symlink(log, filepath.Join(dir, "link.ndjson")))
	for _, args := range [][]string{{"ingest", "--output", log, dir}, {"ingest", "--output", filepath.Join(dir, "link.ndjson"), log}} {
		got := call(t, nil, args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, "is read by this command") {
			t.Errorf("%v: %d, %s", args, got.code, got.stderr)
		}
	}
	if text, err := os.ReadFile(log); err != nil || string(text) != histRow(1000, 29, 1) {
		t.Errorf("%q, %v", text, err)
	}
}

// peakOf returns the most memory that a process had so far, in MB.
func peakOf(pid int) (mb int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
		_, _ = fmt.Sscan(after, &mb)
	}
	return mb >> 10
}

type counted struct{ n int64 }

func (c *counted) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(text), 0o644))
}

// rebuilt returns a file of settings for the logs of a fio with 40 groups of bins.
func rebuilt(t *testing.T, dir string) string {
	t.Helper()
	put(t, dir, "settings.yaml", "groups: 40\nunit: ns\n")
	return filepath.Join(dir, "settings.yaml")
}

func histRow(ms, bins int, n uint64) string {
	return fmt.Sprintf("%d, 0, 4096, %d%s\n", ms, n, strings.Repeat(", 0", bins-1))
}

func reportOf(job string, ios uint64, _ int) string {
	return fmt.Sprintf(`{"fio version": "fio-3.33", "timestamp_ms": 1700000002000, "jobs": [{"jobname": %q, "elapsed": 3, "job_runtime": 2000, `+
		`"read": {"total_ios": %d, "runtime": 2000, "clat_ns": {"min": 1, "max": 1, "bins": {"1": %d}}}}]}`, job, ios, ios)
}

// zerosInBzip2 is 45,899,235 zeros.
var zerosInBzip2 = func() string {
	b, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWQ4J4t8BX45AAMAAAAggADCATUZCoCWpCoCXF3JFOFCQDgni3w==")
	if err != nil {
		panic(err)
	}
	return string(b)
}()

// wideFrame is a zstd frame of one byte with a window of 128 MiB.
const wideFrame = "\x28\xb5\x2f\xfd\x00\x88" + "\x0b\x00\x00" + "0"

func gzipOf(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	check(t, err)
	_, err = io.WriteString(w, text)
	check(t, err)
	check(t, w.Close())
	return b.String()
}

func zstdOf(t *testing.T, text string) string {
	t.Helper()
	w, err := encoder()
	check(t, err)
	return string(w.EncodeAll([]byte(text), nil))
}

// encoder returns the only encoder, because each takes hundreds of MB.
var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
})

func tarOfCopies(t *testing.T, name string, n int, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range n {
		check(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf(name, i+1), Size: int64(len(text)), Mode: 0o644}))
		_, err := io.WriteString(w, text)
		check(t, err)
	}
	check(t, w.Close())
	return b.String()
}

// zstdTar is a tar of n files of one text: what follows each header is one frame, packed again.
func zstdTar(t *testing.T, name string, n int, text string) string {
	t.Helper()
	content := zstdOf(t, text+strings.Repeat("\x00", (512-len(text)%512)%512))
	var packed strings.Builder
	for i := range n {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		check(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf(name, i+1), Size: int64(len(text)), Mode: 0o644}))
		packed.WriteString(zstdOf(t, b.String()) + content)
	}
	packed.WriteString(zstdOf(t, strings.Repeat("\x00", 1024)))
	return zstdOf(t, packed.String())
}

// zipOfOne is a zip whose n entries are of one content.
func zipOfOne(t *testing.T, name string, n int, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf(name, 0), Method: zip.Deflate})
	check(t, err)
	_, err = io.WriteString(f, text)
	check(t, err)
	check(t, w.Close())
	one := b.Bytes()
	end := one[len(one)-22:]
	start := binary.LittleEndian.Uint32(end[16:])
	record := one[start : len(one)-22]
	out := bytes.NewBuffer(bytes.Clone(one[:start]))
	for i := range n {
		out.WriteString(strings.Replace(string(record), fmt.Sprintf(name, 0), fmt.Sprintf(name, i), 1))
	}
	binary.LittleEndian.PutUint16(end[8:], uint16(n))
	binary.LittleEndian.PutUint16(end[10:], uint16(n))
	binary.LittleEndian.PutUint32(end[12:], uint32(n*len(record)))
	out.Write(end)
	return out.String()
}

// sparseHeader is the header of a member, in the old form of GNU tar, that has only holes.
func sparseHeader(name string, size int64) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x000000000\x000000000\x0000000000000\x0014000000000\x00")
	copy(h[148:], "        ")
	h[156] = 'S'
	copy(h[257:], "ustar  \x00")
	copy(h[386:], fmt.Sprintf("%011o\x00%011o\x00", size, 0))
	copy(h[483:], fmt.Sprintf("%011o\x00", size))
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}
