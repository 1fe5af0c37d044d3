package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/mapping/templates"
)

// TestRejectedRun: if the cluster rejects a document, its run is left out, and the others are stored. When the reason
// is gone, the same command stores it. The memory of ingests does not hide it.
func TestRejectedRun(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	archive := filepath.Join("..", "..", "examples", "cbt-archive")
	embedded := filepath.Join(t.TempDir(), "h.db")
	if got := call(t, nil, "ingest", "--history", embedded, archive); got.code != 0 {
		t.Fatal(got.stderr)
	}
	for command, args := range map[string][]string{"ingest": {archive}, "push": {"--history", embedded}} {
		t.Run(command, func(t *testing.T) {
			server := estest.New(templates.Names("fio")...)
			address, stop := server.Start()
			defer stop()
			var heals atomic.Bool
			server.Refuse = func(_, _ string, source []byte) string {
				if !heals.Load() && bytes.Contains(source, []byte("5be8a100")) {
					return "failed to parse"
				}
				return ""
			}
			args = append([]string{command, "--elasticsearch", address}, args...)
			for range 2 {
				got := call(t, nil, args...)
				if got.code != exitLeftOut || strings.Count(got.stderr, "failed to parse") != 1 {
					t.Fatalf("exit code %d: %s", got.code, got.stderr)
				}
				if n := len(server.Documents("fio-runs")); n != 2 {
					t.Fatalf("%d runs are stored", n)
				}
			}
			heals.Store(true)
			if got := call(t, nil, args...); got.code != 0 || len(server.Documents("fio-runs")) != 3 {
				t.Errorf("exit code %d, %d runs: %s", got.code, len(server.Documents("fio-runs")), got.stderr)
			}
			if got := call(t, nil, "check", "--elasticsearch", address); got.code != 0 {
				t.Error(got.stderr)
			}
		})
	}
}
