package elastic_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// BenchmarkIndexer stores a run of 5,409 documents: as Put and Finish do, and as three workers send bodies that are ready and then make them
// visible, the least that a client can do. (esutil.BulkIndexer, which does the same, would bring a type for each of 500 requests.) The
// server is a stand-in that answers after 2 ms, or the Elasticsearch that the environment names.
func BenchmarkIndexer(b *testing.B) {
	b.Run("2ms", func(b *testing.B) {
		benchmarkIndexer(b, "fio", func() es.Config {
			server := estest.New(templates.Names("fio")...)
			server.Before = func(http.ResponseWriter, *http.Request, []byte) bool {
				time.Sleep(2 * time.Millisecond)
				return false
			}
			address, stop := server.Start()
			b.Cleanup(stop)
			return es.Config{Addresses: []string{address}}
		})
	})
	b.Run("server", func(b *testing.B) {
		_, prefix := realServer(b, 1)
		benchmarkIndexer(b, prefix, func() es.Config { return estest.NewReal(b).Config })
	})
}

func benchmarkIndexer(b *testing.B, prefix string, server func() es.Config) {
	docs := historytest.Intervals("a", "1", 5409)
	for i, d := range docs {
		h := hist.New(hist.Fio3(0))
		for bin := range 100 {
			h.AddAt(850+bin, float64(1+(bin*bin*31+i*7)%900))
		}
		d.Latency = mapping.NewLatency(h, nil)
		d.DocCount = d.Latency.Bins.Total()
	}
	runs := 0
	next := func() string { // another run
		runs++
		id := historytest.ID(fmt.Sprint("run", runs))
		for _, d := range docs {
			d.Run.ID = id
		}
		return id
	}
	report := func(b *testing.B, began time.Duration) {
		b.ReportMetric(float64(memtest.CPUTime()-began)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op")
	}
	b.Run("fio2es", func(b *testing.B) {
		client, err := es.New(server())
		must(b, err)
		began := memtest.CPUTime()
		for b.Loop() {
			run := historytest.NewRun("a", "1")
			run.Run.ID = next()
			store := elastic.New(client, prefix)
			for some := range slices.Chunk(docs, 500) {
				must(b, store.Put(b.Context(), some))
			}
			must(b, store.Finish(b.Context(), run))
			must(b, store.Close())
		}
		report(b, began)
	})
	b.Run("ready bodies", func(b *testing.B) {
		config := server()
		began := memtest.CPUTime()
		for b.Loop() {
			b.StopTimer()
			next()
			bodies := [][]byte{nil}
			for _, d := range docs {
				last := &bodies[len(bodies)-1]
				if len(*last) > 5<<20 {
					bodies = append(bodies, nil)
					last = &bodies[len(bodies)-1]
				}
				*last = append(mapping.AppendAction(*last, "create", d.Index(prefix, mapping.Years), d.ID()), '\n')
				*last = append(d.AppendJSON(*last), '\n')
			}
			b.StartTimer()
			var all sync.WaitGroup
			for i := range 3 {
				all.Go(func() {
					for k := i; k < len(bodies); k += 3 {
						answer, err := http.Post(config.Addresses[0]+"/_bulk", "application/x-ndjson", bytes.NewReader(bodies[k]))
						must(b, err)
						text, err := io.ReadAll(answer.Body)
						must(b, err)
						if !bytes.Contains(text, []byte(`"errors":false`)) {
							b.Errorf("%.300s", text)
						}
						must(b, answer.Body.Close())
					}
				})
			}
			all.Wait()
			answer, err := http.Post(config.Addresses[0]+"/"+prefix+"-latency.*/_refresh", "", nil)
			must(b, err)
			must(b, answer.Body.Close())
		}
		report(b, began)
	})
}
