package history_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/pipeline/sink"
)

func TestScratchSink(t *testing.T) {
	server, prefix := realServer(t, 1)
	historytest.Run(t, func(t *testing.T) history.Store {
		dropIndices(t.Context(), t, server, prefix)
		if _, err := server.call(t.Context(), http.MethodPut, "/"+prefix+"-runs", ""); err != nil {
			t.Fatal(err)
		}
		c, err := elastic.New(elastic.Config{Addresses: []string{os.Getenv("FIO2ES_TEST_ELASTICSEARCH")}})
		if err != nil {
			t.Fatal(err)
		}
		if os.Getenv("PLAIN") != "" {
			return history.NewElastic(c, prefix, &writer{server, prefix})
		}
		w := sink.NewElastic(c, sink.Options{Prefix: prefix})
		t.Cleanup(func() { w.Close() })
		return history.NewElastic(c, prefix, w)
	})
}
