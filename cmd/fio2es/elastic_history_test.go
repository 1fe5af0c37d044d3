package main

import (
	"context"
	"errors"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// flushing is a sink that stores at once, so that a run can be deleted that was never
// finished.
type flushing struct{ *bulk.Writer }

// Put implements history.Writer.
func (f flushing) Put(ctx context.Context, docs []*mapping.Interval) error {
	return errors.Join(f.Writer.Put(ctx, docs), f.Flush(ctx))
}

// TestClusterIsHistory: the history in a real cluster, written through the sink, is one
// like the embedded one.
func TestClusterIsHistory(t *testing.T) {
	real, prefixes := cluster(t, "history")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	prefix := prefixes[0]
	say(t, "setup", "--elasticsearch="+real.Address, "--prefix="+prefix)
	client, err := es.New(real.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	historytest.Run(t, func(t *testing.T) history.Store {
		var indices []struct{ Index string }
		request(t, real, "GET", "/_cat/indices/"+prefix+"-*?format=json&h=index", "", &indices)
		for _, i := range indices {
			request(t, real, "DELETE", "/"+i.Index, "", &struct{}{})
		}
		request(t, real, "PUT", "/"+prefix+"-runs", "", &struct{}{})
		bulk := bulk.New(client, bulk.Options{Prefix: prefix})
		t.Cleanup(func() { _ = bulk.Close() }) // what is under way is of no interest any more
		return elastic.New(client, prefix, flushing{bulk})
	})
}
