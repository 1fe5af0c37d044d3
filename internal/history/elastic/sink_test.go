package elastic_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// sunk is a history whose documents go through the sink, as those of ingest do. Put stores
// at once, so that tests can delete a run that was never finished.
type sunk struct{ *bulk.Writer }

// Put implements [elastic.Writer].
func (s sunk) Put(ctx context.Context, docs []*mapping.Interval) error {
	return errors.Join(s.Writer.Put(ctx, docs), s.Flush(ctx))
}

// TestSinkIsHistory: a history that is written through the sink is like the embedded one.
// TestClusterIsHistory of the command does the same in a real cluster.
func TestSinkIsHistory(t *testing.T) {
	historytest.Run(t, func(t *testing.T) history.Store {
		f := newFake(t)
		f.before = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
			r.URL.RawQuery = known(r.URL.Query()).Encode()
			return false
		}
		if _, err := f.call(t.Context(), http.MethodPut, "/"+testPrefix+"-runs", ""); err != nil {
			t.Fatal(err)
		}
		client, err := es.New(es.Config{Addresses: []string{f.base.String()}, GzipLevel: es.NoGzip})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		w := bulk.New(client, bulk.Options{Prefix: testPrefix, Templates: []string{}})
		t.Cleanup(func() { _ = w.Close() }) // tests abandon what they do not finish
		return elastic.New(client, testPrefix, sunk{w})
	})
}

// known leaves out the parameters that say how missing indices are answered, which the
// fake answers so in any case.
func known(q url.Values) url.Values {
	for _, name := range []string{"ignore_unavailable", "allow_no_indices"} {
		q.Del(name)
	}
	return q
}
