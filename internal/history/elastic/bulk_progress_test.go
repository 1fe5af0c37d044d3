package elastic_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// TestProgress interrupts an ingest into a slow cluster at several times. Nearly all runs whose documents are stored
// must be finished, because the next ingest sends the others again. Runs are finished many at a time, so on average
// those of up to two and a half seconds may be unfinished.
func TestProgress(t *testing.T) {
	runs := make([][]*mapping.Interval, 120)
	for i := range runs {
		runs[i] = historytest.Intervals(fmt.Sprint(i), "1", 8)
	}
	// time for each byte
	for name, slow := range map[string]time.Duration{"slow": 2 * time.Microsecond, "slower": 5 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			var all []int // finished runs
			left, most := 0.0, 0.0
			for after := 3 * time.Second; after <= 6*time.Second; after += 3 * time.Second {
				taken, finished, requests := progress(t, runs, slow, after)
				t.Logf("after %v: %d runs, %d of them finished, %d requests", after, taken, finished, requests)
				left += float64(taken - finished)
				most += 2.5*float64(taken)/after.Seconds() + 1
				all = append(all, finished)
			}
			if first, last := all[0], all[len(all)-1]; first == 0 || last < first {
				t.Errorf("%d runs are finished, %d after less time", last, first)
			}
			if left > most {
				t.Errorf("%.0f runs are not finished, at all times together, want %.0f at most", left, most)
			}
		})
	}
}

// progress ingests the documents of runs into a cluster that takes some time for each byte, and interrupts the ingest. It
// returns how many runs have all their documents in the cluster, and how many of them are finished.
func progress(t *testing.T, runs [][]*mapping.Interval, slow, after time.Duration) (taken, finished, requests int) {
	synctest.Test(t, func(t *testing.T) {
		server := estest.New(templates.Names("fio")...)
		server.ByteTime = slow
		for _, on := range []string{"_refresh", "_search"} {
			server.Script(estest.Fault{On: on, Kind: estest.Slow, Wait: 50 * time.Millisecond, Times: -1})
		}
		dial, stop := server.Pipe()
		defer stop()
		client := newClient(t, es.Config{Dial: dial, Timeout: 60 * time.Second, NoGzip: true})
		defer client.Close()
		s := elastic.New(client, "fio").Bulk(75_000, 2)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		defer cancel()
		var ends sync.WaitGroup
		room := make(chan struct{}, 256)
		for i, docs := range runs {
			if s.Put(ctx, docs) != nil {
				break
			}
			room <- struct{}{}
			ends.Go(func() {
				_ = s.Finish(ctx, historytest.NewRun(fmt.Sprint(i), "1"))
				<-room
			})
		}
		<-ctx.Done()
		requests = server.Requests("_bulk") + server.Requests("_refresh") + server.Requests("_search")
		finished = len(server.Documents("fio-runs"))
		stored := server.Documents(historytest.Interval("0", "1", 0).Index("fio", mapping.Years))
		for _, docs := range runs {
			n := 0
			for _, d := range docs {
				if stored[d.ID()] != nil {
					n++
				}
			}
			if n == len(docs) {
				taken++
			}
		}
		_ = s.Close()
		ends.Wait()
	})
	return taken, finished, requests
}
