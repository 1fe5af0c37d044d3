package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
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

// addClusterFlags adds the settings of the connection to the cluster. Secrets come from the
// environment or from files.
func addClusterFlags(f *pflag.FlagSet) {
	f.StringSlice("elasticsearch", nil, "URL of the cluster with the history, in place of the embedded history (repeatable)")
	f.String("ca", "", "PEM file of certificate authorities to trust for https")
	f.String("fingerprint", "", "SHA-256 fingerprint of a certificate to trust for https")
	f.String("prefix", "fio", "index name prefix")
	addWaitFlags(f)
}

// addWaitFlags adds the settings of how long to wait for a server.
func addWaitFlags(f *pflag.FlagSet) {
	es := config.Default().Elasticsearch
	f.Duration("request-timeout", es.RequestTimeout, "longest time to wait for the answer to one request, of Kibana too")
	f.Duration("give-up-after", es.GiveUpAfter, "longest time to wait while nothing succeeds, because the server is away, too busy, or its disks are full; 0s: fail at once")
}

// logWait logs which server is waited for, why, and until when.
func (a *app) logWait(w es.Wait) {
	cause := "it does not answer"
	if w.Cause != nil {
		cause = w.Cause.Error()
	}
	a.log.Warn(fmt.Sprintf("waiting for %s, for %v so far, until %s (elasticsearch.give_up_after): %s",
		w.Server, w.For.Round(time.Second), w.Until.Format(time.TimeOnly), cause))
}

// connect makes a client of the cluster that the settings name, and checks that Elasticsearch answers.
func (a *app) connect(ctx context.Context) (*es.Client, error) {
	cfg, err := a.cfg.Elasticsearch.Client()
	if err != nil {
		return nil, usageError{err}
	}
	cfg.Waiting, cfg.Dial = a.logWait, a.dial
	client, err := es.New(cfg)
	if err != nil {
		return nil, usageError{err}
	}
	info, err := client.Check(ctx)
	if err != nil {
		client.Close()
		return nil, err
	}
	a.log.Debug("connected", "cluster", info.Cluster, "version", info.Version)
	return client, nil
}

// openHistory opens the history for reading: the cluster's if the settings name one, else
// the embedded one. The function returned closes it.
func (a *app) openHistory(ctx context.Context) (history.Store, func() error, error) {
	if !a.cfg.Elasticsearch.Enabled() {
		store, err := a.readEmbedded(ctx)
		if err != nil {
			return nil, nil, err
		}
		return store, store.Close, nil
	}
	client, err := a.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elastic.New(client, bulk.Options{Prefix: a.cfg.Prefix}), func() error { client.Close(); return nil }, nil
}

// readEmbedded opens the embedded history for reading. It creates nothing.
func (a *app) readEmbedded(ctx context.Context) (*sqlite.Store, error) {
	store, err := sqlite.OpenReadOnly(ctx, a.cfg.History)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no history at %s: store runs with fio2es ingest PATH, or correct --history", shortHome(a.cfg.History))
	}
	return store, err
}

// openEmbedded opens the embedded history for writing. It upgrades one of an older version.
func (a *app) openEmbedded(ctx context.Context) (*sqlite.Store, error) {
	store, err := sqlite.Open(ctx, a.cfg.History)
	if err == nil && store.Upgraded() > 0 {
		a.log.Info(fmt.Sprintf("note: %s was of an older version and is upgraded: its %s are identified by the contents of their files now; "+
			"the older version can no longer open it", shortHome(a.cfg.History), unit.Plural(store.Upgraded(), "run")))
	}
	return store, err
}

// openCluster opens the history in the cluster that the settings name. The function
// returned closes it, and fails with errLeftOut if documents were refused.
func (a *app) openCluster(ctx context.Context) (*elastic.Store, func() error, error) {
	client, err := a.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	store := elastic.New(client, bulk.Options{
		Prefix: a.cfg.Prefix, RejectFile: a.cfg.Elasticsearch.Rejects, TemplateVersion: templates.Version,
	})
	return store, func() error {
		defer client.Close()
		err := store.Close()
		if n := store.Stats().Rejected; n > 0 {
			a.log.Warn(fmt.Sprintf("%d documents were refused: %s has them with the reasons", n, a.cfg.Elasticsearch.Rejects))
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
func (a *app) openTarget(ctx context.Context) (ingest.Target, func() error, error) {
	var rules []slo.Rule
	if len(a.cfg.SLA) > 0 {
		var err error
		if rules, err = parseRules("sla:", a.cfg.SLA); err != nil {
			return ingest.Target{}, nil, err
		}
	}
	if a.cfg.Elasticsearch.Enabled() {
		store, closeStore, err := a.openCluster(ctx)
		if err != nil {
			return ingest.Target{}, nil, err
		}
		return ingest.Target{Sink: ingest.Annotate(store, rules), Store: store, IsCluster: true}, closeStore, nil
	}
	store, err := a.openEmbedded(ctx)
	if err != nil {
		return ingest.Target{}, nil, err
	}
	err = store.QuickCheck(ctx, mostChecked)
	if err == nil {
		err = ingest.RemoveOldDuplicates(ctx, store, a.log)
	}
	if err != nil {
		return ingest.Target{}, nil, errors.Join(err, store.Close())
	}
	return ingest.Target{Sink: ingest.Annotate(store, rules), Store: store}, store.Close, nil
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
func (a *app) historyName() string {
	if !a.cfg.Elasticsearch.Enabled() {
		return shortHome(a.cfg.History)
	}
	return a.cfg.Elasticsearch.Name() + ", indices " + a.cfg.Prefix + "-*"
}

// historyExists reports whether there is a history to look into.
func (a *app) historyExists() bool {
	if a.cfg.Elasticsearch.Enabled() {
		return true
	}
	info, err := os.Stat(a.cfg.History)
	return err == nil && info.Size() > 0
}
