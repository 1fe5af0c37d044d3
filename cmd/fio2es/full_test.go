package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFullDisk: on a full disk, each command that prints fails and says why. Otherwise scripts would take an
// incomplete answer for a complete one.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	settings, archive := ownHistory(t), filepath.Join("..", "..", "examples", "cbt-archive")
	logs := filepath.Join("..", "..", "testdata", "corpus", "status-interval")
	callWith(t, settings, "ingest", archive)
	commands := []string{
		"runs", "runs --format csv", "runs --format json",
		"percentiles latest", "percentiles --format csv latest", "percentiles --format json latest", "percentiles --total latest", "percentiles " + logs,
		"heatmap latest", "heatmap --format svg latest", "heatmap --format csv latest", "heatmap --format json latest",
		"rank --within 1ms latest", "rank --within 1ms --format csv latest", "rank --within 1ms --format json latest",
		"compare latest latest", "compare --format csv latest latest", "compare --format json latest latest",
		"sla --rule p99<=10s latest", "sla --rule p99<=10s --format csv latest", "sla --rule p99<=10s --format json latest",
		"report --output - latest", "export --as openmetrics latest", "export --as hdrlog latest", "export --as csv latest", "export --as json latest",
		"ingest --dry-run " + archive, "ingest --output - " + archive, "check", "config", "version", "kibana export", "completion bash", "help", "runs --help",
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			check(t, err)
			defer full.Close()
			var errs bytes.Buffer
			code := run(context.Background(), append([]string{"--config", settings}, strings.Fields(command)...), nil, full, &errs)
			if code == 0 || !strings.Contains(errs.String(), "no space left on device") {
				t.Errorf("exit code %d\n%s", code, &errs)
			}
		})
	}
}
