package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/internal/unit"
)

// openHistory opens the history for reading: the cluster if the settings name one, otherwise the embedded history. Runs that several
// hosts send read like any others.
func (e *env) openHistory(ctx context.Context) (history.Store, error) {
	store, err := e.openStored(ctx)
	if err != nil {
		return nil, err
	}
	return shared.Store{Store: store}, nil
}

// openStored opens the history as it is stored.
func (e *env) openStored(ctx context.Context) (history.Store, error) {
	e.noteInterrupted()
	if e.cfg.Elasticsearch.Enabled() {
		return e.cluster(ctx)
	}
	return e.readEmbedded(ctx)
}

// readEmbedded opens the embedded history for reading. It creates nothing.
func (e *env) readEmbedded(ctx context.Context) (*sqlite.Store, error) {
	store, err := sqlite.OpenReadOnly(ctx, e.cfg.History)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no history at %s: store runs with fio2es ingest PATH, or correct --history", shortHome(e.cfg.History))
	}
	return store, err
}

// openWaiting opens the history for a command that waits for runs, which a service does from the start of a machine. So the
// embedded history begins empty, unless the user named its file, which may be mistyped.
func (e *env) openWaiting(ctx context.Context) (history.Store, error) {
	if !e.hasHistory() && e.cfg.History == config.Default().History {
		store, err := sqlite.Open(ctx, e.cfg.History)
		if err != nil {
			return nil, err
		}
		if err := store.Close(); err != nil {
			return nil, err
		}
	}
	return e.openHistory(ctx)
}

// toChange opens the history for reading, or to change what it has. It creates nothing.
func (e *env) toChange(ctx context.Context, change bool) (history.Store, error) {
	if !change || !e.hasHistory() {
		return e.openStored(ctx)
	}
	if e.cfg.Elasticsearch.Enabled() {
		return e.cluster(ctx)
	}
	return sqlite.Open(ctx, e.cfg.History)
}

// mostChecked is the largest file, in bytes, that is checked before it is written: that takes a quarter of a second.
const mostChecked = 256 << 20

// target opens the history in the settings to store runs. Each stored run gets the rules that it meets.
func (e *env) target(ctx context.Context, rules []slo.Rule) (ingest.Target, error) {
	if e.cfg.Elasticsearch.Enabled() {
		store, err := e.cluster(ctx)
		return ingest.Target{Sink: ingest.Annotate(store, rules), Store: shared.Store{Store: store}, IsCluster: true}, err
	}
	store, err := e.writeEmbedded(ctx)
	return ingest.Target{Sink: ingest.Annotate(store, rules), Store: shared.Store{Store: store}}, err
}

// writeEmbedded opens the embedded history to store runs. If the user named the file and it is new, a note says so,
// because the name may be mistyped.
func (e *env) writeEmbedded(ctx context.Context) (*sqlite.Store, error) {
	isNew := !e.hasHistory() && e.cfg.History != config.Default().History
	store, err := sqlite.Open(ctx, e.cfg.History)
	if err != nil {
		return nil, err
	}
	if isNew {
		e.log.Info("note: new history " + shortHome(e.cfg.History))
	}
	if err := store.QuickCheck(ctx, mostChecked); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

func (e *env) historyName() string {
	if !e.cfg.Elasticsearch.Enabled() {
		return shortHome(e.cfg.History)
	}
	return e.cfg.Elasticsearch.Name() + ", indices " + e.cfg.Prefix + "-*"
}

// folders returns where the folders of runs are: beside the embedded history, even if the history is in a cluster.
func (e *env) folders() record.Folders {
	folder := filepath.Join(filepath.Dir(e.cfg.History), "runs")
	// absolute, because the program that starts fio may change the working directory
	if absolute, err := filepath.Abs(folder); err == nil {
		folder = absolute
	}
	return record.Folders(folder)
}

// interrupted calls do with the entry of each run whose command was killed before it stored the run in this history.
func (e *env) interrupted(do func(*record.Entry) error) error {
	paths, err := e.folders().Unfinished()
	for _, path := range paths {
		entry, claimed := record.Claim(path)
		switch {
		case errors.Is(claimed, record.ErrRunning):
		case claimed != nil:
			err = errors.Join(err, claimed)
		case entry.History != e.historyName():
			e.log.Debug(entry.Folder + " is for " + entry.History)
			err = errors.Join(err, entry.Release())
		default:
			err = errors.Join(err, do(entry))
		}
	}
	return err
}

// noteInterrupted says which runs the history lacks, because the command that ran them was killed.
func (e *env) noteInterrupted() {
	err := e.interrupted(func(entry *record.Entry) error {
		e.log.Info(fmt.Sprintf("note: the run in %s is not stored yet: fio2es ingest %[1]s stores it", shortHome(entry.Folder)))
		return entry.Release()
	})
	if err != nil {
		e.log.Debug("interrupted runs: " + err.Error()) // for example without write access, and so no business of this user
	}
}

func (e *env) hasHistory() bool {
	if e.cfg.Elasticsearch.Enabled() {
		return true
	}
	info, err := os.Stat(e.cfg.History)
	return err == nil && info.Size() > 0
}

// logWait logs which server the program waits for, why, and until when.
func (e *env) logWait(w es.Wait) {
	cause := "it does not answer"
	if w.Cause != nil {
		cause = w.Cause.Error()
	}
	e.log.Warn(fmt.Sprintf("waiting for %s, for %v so far, until %s (elasticsearch.give_up_after): %s",
		w.Server, w.For.Round(time.Second), unit.Time(w.Until, unit.OfDay+unit.InZone), cause))
}

// connect makes a client of the cluster in the settings, and checks that Elasticsearch answers.
func (e *env) connect(ctx context.Context) (*es.Client, es.Info, error) {
	cfg, err := e.cfg.Elasticsearch.Client()
	if err != nil {
		return nil, es.Info{}, usageError{Err: err}
	}
	cfg.Waiting, cfg.Dial = e.logWait, e.dial
	client, err := es.New(cfg)
	if err != nil {
		return nil, es.Info{}, usageError{Err: err}
	}
	info, err := client.Check(ctx)
	if err != nil {
		client.Close()
		return nil, es.Info{}, err
	}
	e.log.Debug("connected", "cluster", info.Cluster, "version", info.Version)
	return client, info, nil
}

// clusterStore is a history in a cluster with its own connection.
type clusterStore struct {
	*elastic.Store
	close func() error
}

// Close closes the history and the connection.
func (c *clusterStore) Close() error { return c.close() }

// cluster opens the history in the cluster of the settings. If runs were stored or removed, Close also marks the
// changes for Kibana.
func (e *env) cluster(ctx context.Context) (*clusterStore, error) {
	client, _, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	store := elastic.New(client, e.cfg.Prefix)
	return &clusterStore{store, func() error {
		defer client.Close()
		return errors.Join(e.markNews(ctx, store), store.Close())
	}}, nil
}

// markNews finds the changes again in the workloads that have new or removed runs. Otherwise Kibana would show outdated changes.
func (e *env) markNews(ctx context.Context, store *elastic.Store) error {
	if ctx.Err() != nil {
		return nil
	}
	of := store.News()
	if len(of) == 0 {
		return nil
	}
	if slices.Contains(of, nil) {
		of = nil // all
	}
	m, err := tidy.Mark(ctx, store, of, time.Now())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, history.ErrNoIndex):
		return nil // there is no index yet, because every run was refused
	case err != nil:
		e.leaveOut(fmt.Sprintf("runs are stored, but changes are not marked for Kibana; fio2es trend --mark does that: %v", err))
		return nil
	}
	e.log.Debug("marked changes", "changes", m.Changes, "runs", m.Runs, "updated", m.Updated)
	return nil
}
