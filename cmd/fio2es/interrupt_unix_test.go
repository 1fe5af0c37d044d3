//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
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
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	path := filepath.Join(t.TempDir(), name)
	all := append(pack([]byte(begin)), bytes.Repeat(pack(bytes.Repeat([]byte{piece}, 16<<20)), times)...)
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInterruptedAnywhere interrupts a program while it reads input that takes minutes, or that never comes.
func TestInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "x_clat_hist.1.log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
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
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(100 * time.Millisecond) // it is reading now, or it will notice the signal at its start
				check(t, p.Process.Signal(os.Interrupt))
				if err := p.Wait(); err == nil {
					t.Error("it read all, in spite of the signal")
				}
			})
		}
	}
}
