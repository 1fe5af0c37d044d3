package pipeline

import (
	"context"
	"errors"
	"testing"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/mapping"
)

// failingSink fails at its first documents.
type failingSink struct{ err error }

func (s failingSink) Put(context.Context, []*mapping.Interval) error { return s.err }

func (s failingSink) Finish(context.Context, *mapping.Run) error { return nil }

// TestIngestFails: the error of a sink is that of the ingest, also while further documents are made.
func TestIngestFails(t *testing.T) {
	dir := t.TempDir()
	spec := fiotest.ArchiveSpec{Runs: 1, Hosts: 1, Jobs: 2, Seconds: 2*batch/3 + 10, Coarseness: 6, IOPS: 20, Seed: 5}
	if _, err := spec.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), []string{dir}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	full := errors.New("the disk is full")
	res, err := Ingest(t.Context(), a.Runs[0], Options{Levels: mapping.Levels[:]}, failingSink{full}, nil)
	if !errors.Is(err, full) || res != nil {
		t.Errorf("result %v, error %v", res, err)
	}
}
