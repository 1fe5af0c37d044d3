package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping/templates"
)

// logWait logs which server is waited for, why, and until when.
func (e *env) logWait(w es.Wait) {
	cause := "it does not answer"
	if w.Cause != nil {
		cause = w.Cause.Error()
	}
	e.log.Warn(fmt.Sprintf("waiting for %s, for %v so far, until %s (elasticsearch.give_up_after): %s",
		w.Server, w.For.Round(time.Second), w.Until.Format(time.TimeOnly), cause))
}

// connect makes a client of the cluster that the settings name, and checks that Elasticsearch answers.
func (e *env) connect(ctx context.Context) (*es.Client, error) {
	cfg, err := e.cfg.Elasticsearch.Client()
	if err != nil {
		return nil, usageError{Err: err}
	}
	cfg.Waiting, cfg.Dial = e.logWait, e.dial
	client, err := es.New(cfg)
	if err != nil {
		return nil, usageError{Err: err}
	}
	info, err := client.Check(ctx)
	if err != nil {
		client.Close()
		return nil, err
	}
	e.log.Debug("connected", "cluster", info.Cluster, "version", info.Version)
	return client, nil
}

// openHistory opens the history for reading: the cluster's if the settings name one, else
// the embedded one. The function returned closes it.
func (e *env) openHistory(ctx context.Context) (history.Store, func() error, error) {
	if !e.cfg.Elasticsearch.Enabled() {
		store, err := e.readEmbedded(ctx)
		if err != nil {
			return nil, nil, err
		}
		return store, store.Close, nil
	}
	client, err := e.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elastic.New(client, bulk.Options{Prefix: e.cfg.Prefix}), func() error { client.Close(); return nil }, nil
}

// readEmbedded opens the embedded history for reading. It creates nothing.
func (e *env) readEmbedded(ctx context.Context) (*sqlite.Store, error) {
	store, err := sqlite.OpenReadOnly(ctx, e.cfg.History)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no history at %s: store runs with fio2es ingest PATH, or correct --history", shortHome(e.cfg.History))
	}
	return store, err
}

// openEmbedded opens the embedded history for writing. It upgrades one of an older version.
func (e *env) openEmbedded(ctx context.Context) (*sqlite.Store, error) {
	store, err := sqlite.Open(ctx, e.cfg.History)
	if err == nil && store.Upgraded() > 0 {
		e.log.Info(fmt.Sprintf("note: %s was of an older version and is upgraded: its %s are identified by the contents of their files now; "+
			"the older version can no longer open it", shortHome(e.cfg.History), unit.Plural(store.Upgraded(), "run")))
	}
	return store, err
}

// openCluster opens the history in the cluster that the settings name. The function
// returned closes it, and fails with errLeftOut if documents were refused.
func (e *env) openCluster(ctx context.Context) (*elastic.Store, func() error, error) {
	client, err := e.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	store := elastic.New(client, bulk.Options{
		Prefix: e.cfg.Prefix, RejectFile: e.cfg.Elasticsearch.Rejects, TemplateVersion: templates.Version,
	})
	return store, func() error {
		defer client.Close()
		err := store.Close()
		if n := store.Stats().Rejected; n > 0 {
			e.log.Warn(fmt.Sprintf("%d documents were refused: %s has them with the reasons", n, e.cfg.Elasticsearch.Rejects))
			if err == nil {
				err = errLeftOut
			}
		}
		return err
	}, nil
}

// mostChecked is how large a file is checked before it is written to: a quarter of a second.
const mostChecked = 256 << 20

// openTarget opens the history that the settings name, to store runs in it. The function returned
// closes it.
func (e *env) openTarget(ctx context.Context) (ingest.Target, func() error, error) {
	rules, err := e.rules()
	if err != nil {
		return ingest.Target{}, nil, err
	}
	if e.cfg.Elasticsearch.Enabled() {
		store, closeStore, err := e.openCluster(ctx)
		return ingest.Target{Sink: ingest.Annotate(store, rules), Store: store, IsCluster: true}, closeStore, err
	}
	store, err := e.openEmbedded(ctx)
	if err != nil {
		return ingest.Target{}, nil, err
	}
	err = store.QuickCheck(ctx, mostChecked)
	if err == nil {
		err = ingest.RemoveOldDuplicates(ctx, store, e.log)
	}
	if err != nil {
		return ingest.Target{}, nil, errors.Join(err, store.Close())
	}
	return ingest.Target{Sink: ingest.Annotate(store, rules), Store: store}, store.Close, nil
}

// rules are the SLA rules of the settings, any number.
func (e *env) rules() (rules []slo.Rule, err error) {
	source := "sla:"
	if e.flags.Changed("rule") {
		source = "--rule"
	}
	var faults []error
	for _, text := range e.cfg.SLA {
		r, err := slo.Parse(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %w", source, err))
		}
		rules = append(rules, r)
	}
	if len(faults) > 0 {
		return nil, usageError{Err: errors.Join(faults...)}
	}
	return rules, nil
}

// closed closes a store when err is what ended the writing. Documents that the cluster rejected are
// left out.
func closed(closeStore func() error, err error) (leftOut bool, _ error) {
	if failed := closeStore(); errors.Is(failed, errLeftOut) {
		leftOut = true
	} else {
		err = errors.Join(err, failed)
	}
	return leftOut, err
}

// historyName is what messages call the history.
func (e *env) historyName() string {
	if !e.cfg.Elasticsearch.Enabled() {
		return shortHome(e.cfg.History)
	}
	return e.cfg.Elasticsearch.Name() + ", indices " + e.cfg.Prefix + "-*"
}

// historyExists reports whether there is a history to look into.
func (e *env) historyExists() bool {
	if e.cfg.Elasticsearch.Enabled() {
		return true
	}
	info, err := os.Stat(e.cfg.History)
	return err == nil && info.Size() > 0
}
