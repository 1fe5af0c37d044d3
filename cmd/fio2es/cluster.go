package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history/elastic"
)

// logWait logs which server the program waits for, why, and until when.
func (h histories) logWait(w es.Wait) {
	cause := "it does not answer"
	if w.Cause != nil {
		cause = w.Cause.Error()
	}
	h.log.Warn(fmt.Sprintf("waiting for %s, for %v so far, until %s (elasticsearch.give_up_after): %s",
		w.Server, w.For.Round(time.Second), w.Until.Format(time.TimeOnly), cause))
}

// connect makes a client of the cluster in the settings, and checks that Elasticsearch answers.
func (h histories) connect(ctx context.Context) (*es.Client, es.Info, error) {
	cfg, err := h.Elasticsearch.Client()
	if err != nil {
		return nil, es.Info{}, usageError{Err: err}
	}
	cfg.Waiting, cfg.Dial = h.logWait, h.dial
	client, err := es.New(cfg)
	if err != nil {
		return nil, es.Info{}, usageError{Err: err}
	}
	info, err := client.Check(ctx)
	if err != nil {
		client.Close()
		return nil, es.Info{}, err
	}
	h.log.Debug("connected", "cluster", info.Cluster, "version", info.Version)
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
// changes for Kibana. Close fails with errLeftOut if documents were rejected, or if changes could not be marked.
func (h histories) cluster(ctx context.Context) (*clusterStore, error) {
	client, _, err := h.connect(ctx)
	if err != nil {
		return nil, err
	}
	store := elastic.New(client, elastic.Options{Prefix: h.Prefix, RejectFile: h.Elasticsearch.Rejects})
	return &clusterStore{store, func() error {
		defer client.Close()
		err := errors.Join(h.markNews(ctx, store), store.Close())
		if n := store.Rejected(); n > 0 {
			h.log.Warn(fmt.Sprintf("%d documents were refused: %s has them with the reasons", n, h.Elasticsearch.Rejects))
			if err == nil {
				err = errLeftOut
			}
		}
		return err
	}}, nil
}
