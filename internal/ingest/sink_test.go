package ingest_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// failing is a sink that fails at its first documents, or at the first run document.
type failing struct{ put, finish error }

func (s failing) Put(context.Context, []*mapping.Interval) error { return s.put }

func (s failing) Finish(context.Context, *mapping.Run) error { return s.finish }

// TestFails: the error of a sink is that of the ingest, also while further documents are made. Nothing counts as stored.
func TestFails(t *testing.T) {
	dir := t.TempDir()
	spec := fiotest.ArchiveSpec{Runs: 2, Hosts: 1, Jobs: 2, Seconds: 700, Coarseness: 6, IOPS: 20, Seed: 5}
	if _, err := spec.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	archive, err := pipeline.Open(t.Context(), []string{dir}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	opt := ingest.Options{Pipeline: pipeline.Options{Levels: mapping.Levels[:]}, Log: slog.New(slog.DiscardHandler)}
	full := errors.New("the disk is full")
	for name, sink := range map[string]failing{"Put": {put: full}, "Finish": {finish: full}} {
		result, err := ingest.Runs(t.Context(), ingest.Target{Sink: sink}, archive.Runs, opt)
		if !errors.Is(err, full) || len(result.Stored) > 0 {
			t.Errorf("%s: %d stored, %v", name, len(result.Stored), err)
		}
	}
}
