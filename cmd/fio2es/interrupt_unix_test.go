//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// gzipped writes a gzip file: a beginning, then times pieces of 16 MiB.
func gzipped(t *testing.T, name, begin string, piece byte, times int) string {
	t.Helper()
	pack := func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		if _, err := z.Write(b); err != nil {
			t.Fatal(err)
		}
		check(t, z.Close())
		return out.Bytes()
	}
	path := filepath.Join(t.TempDir(), name)
	all := append(pack([]byte(begin)), bytes.Repeat(pack(bytes.Repeat([]byte{piece}, 16<<20)), times)...)
	check(t, os.WriteFile(path, all, 0o600))
	return path
}

// awaitOpen waits until a process has opened a file. It does not wait for a pipe, which a process does not get to open,
// or where the system does not list open files: then the process ends at its start.
func awaitOpen(t *testing.T, pid int, path string) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	for info, err := os.Stat(path); err == nil && info.Mode().IsRegular(); time.Sleep(time.Millisecond) {
		open, err := os.ReadDir(folder)
		if err != nil {
			return
		}
		for _, f := range open {
			if to, err := os.Readlink(filepath.Join(folder, f.Name())); err == nil && to == path {
				return
			}
		}
	}
}

// TestInterruptedAnywhere interrupts a program while it reads input that takes minutes, or that never comes.
func TestInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "x_clat_hist.1.log")
	check(t, syscall.Mkfifo(pipe, 0o600))
	const report = "{\"fio version\": \"fio-3.33\", \"jobs\": [{}]}\n"
	for name, path := range map[string]string{
		"blank lines of a log":    gzipped(t, "x_clat_hist.1.log.gz", "", '\n', 2000),
		"blank lines of a report": gzipped(t, "x.json.gz", report, '\n', 2000),
		"a pipe":                  pipe,
	} {
		for _, command := range []string{"percentiles", "ingest"} {
			t.Run(command+" "+name, func(t *testing.T) {
				t.Parallel()
				p := program(t, command, "--history", filepath.Join(t.TempDir(), "h.db"), path)
				check(t, p.Start())
				awaitOpen(t, p.Process.Pid, path)
				by := map[string]syscall.Signal{"percentiles": syscall.SIGINT, "ingest": syscall.SIGTERM}[command]
				check(t, p.Process.Signal(by))
				if err := p.Wait(); err == nil || p.ProcessState.Exited() && p.ProcessState.ExitCode() != 128+int(by) { // or it came before the program could handle it
					t.Errorf("it read all, in spite of the signal, or does not say so: %v", err)
				}
			})
		}
	}
}
