package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/unit"
)

// histories opens the history in the settings, a file or a cluster.
type histories struct {
	config.Config
	log  *slog.Logger
	dial func(ctx context.Context, network, address string) (net.Conn, error) // see env
}

func (e *env) history() histories { return histories{e.cfg, e.log, e.dial} }

// open opens the history for reading: the cluster if the settings name one, otherwise the embedded history.
func (h histories) open(ctx context.Context) (history.Store, error) {
	if !h.Elasticsearch.Enabled() {
		return h.readEmbedded(ctx)
	}
	client, _, err := h.connect(ctx)
	if err != nil {
		return nil, err
	}
	return &clusterStore{elastic.New(client, elastic.Options{Prefix: h.Prefix}), func() error { client.Close(); return nil }}, nil
}

// readEmbedded opens the embedded history for reading. It creates nothing.
func (h histories) readEmbedded(ctx context.Context) (*sqlite.Store, error) {
	store, err := sqlite.OpenReadOnly(ctx, h.History)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no history at %s: store runs with fio2es ingest PATH, or correct --history", shortHome(h.History))
	}
	return store, err
}

// openEmbedded opens the embedded history for writing. It upgrades one of an older version.
func (h histories) openEmbedded(ctx context.Context) (*sqlite.Store, error) {
	store, err := sqlite.Open(ctx, h.History)
	if err == nil && store.Upgraded() > 0 {
		h.log.Info(fmt.Sprintf("note: %s was of an older version and is upgraded: its %s are identified by the contents of their files now; "+
			"the older version can no longer open it", shortHome(h.History), unit.Plural(store.Upgraded(), "run")))
	}
	return store, err
}

// toChange opens the history for reading, or to change what it has. It creates nothing.
func (h histories) toChange(ctx context.Context, change bool) (history.Store, error) {
	if !change || !h.exists() {
		return h.open(ctx)
	}
	if h.Elasticsearch.Enabled() {
		return h.cluster(ctx)
	}
	return h.openEmbedded(ctx)
}

// mostChecked is the largest file, in bytes, that is checked before it is written: that takes a quarter of a second.
const mostChecked = 256 << 20

// target opens the history in the settings to store runs. Each stored run gets the rules that it meets.
func (h histories) target(ctx context.Context, rules []slo.Rule) (ingest.Target, error) {
	if h.Elasticsearch.Enabled() {
		store, err := h.cluster(ctx)
		return ingest.Target{Sink: ingest.Annotate(store, rules), Store: store, IsCluster: true}, err
	}
	store, err := h.writeEmbedded(ctx)
	return ingest.Target{Sink: ingest.Annotate(store, rules), Store: store}, err
}

// writeEmbedded opens the embedded history to store runs. If the user named the file and it is new, a note says so,
// because the name may be mistyped.
func (h histories) writeEmbedded(ctx context.Context) (*sqlite.Store, error) {
	isNew := !h.exists() && h.History != config.Default().History
	store, err := h.openEmbedded(ctx)
	if err != nil {
		return nil, err
	}
	if isNew {
		h.log.Info("note: new history " + shortHome(h.History))
	}
	err = store.QuickCheck(ctx, mostChecked)
	if err == nil {
		err = ingest.RemoveOldDuplicates(ctx, store, h.log)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// closed closes a store after writing has ended with err. leftOut reports whether the cluster rejected documents.
func closed(store history.Store, err error) (leftOut bool, _ error) {
	if failed := store.Close(); errors.Is(failed, errLeftOut) {
		leftOut = true
	} else {
		err = errors.Join(err, failed)
	}
	return leftOut, err
}

// name returns the name of the history for messages.
func (h histories) name() string {
	if !h.Elasticsearch.Enabled() {
		return shortHome(h.History)
	}
	return h.Elasticsearch.Name() + ", indices " + h.Prefix + "-*"
}

// exists reports whether there is a history.
func (h histories) exists() bool {
	if h.Elasticsearch.Enabled() {
		return true
	}
	info, err := os.Stat(h.History)
	return err == nil && info.Size() > 0
}
