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
)

// BenchmarkIndexer stores runs of 5,409 documents in the Elasticsearch that the environment names, in turns: one as Put and Finish do, and one
// as three workers send bodies that are ready and then make them visible, the least that a client can do. (esutil.BulkIndexer, which does
// the same, would bring a type for each of 500 requests.) It reports medians of the time of each and of their ratio. A stand-in would not
// do: it takes ten times the processor time of the client.
func BenchmarkIndexer(b *testing.B) {
	_, prefix := realServer(b, 1)
	config := estest.NewReal(b).Config
	client, err := es.New(config)
	must(b, err)
	docs := historytest.Intervals("a", "1", 5409)
	for i, d := range docs {
		h := hist.New(hist.Fio3(0))
		for bin := range 100 {
			h.AddAt(850+bin, float64(1+(bin*bin*31+i*7)%900))
		}
		d.Latency = mapping.NewLatency(h, nil)
		d.DocCount = d.Latency.Bins.Total()
	}
	post := func(path, kind string, body []byte) {
		answer, err := http.Post(config.Addresses[0]+path, kind, bytes.NewReader(body))
		must(b, err)
		text, err := io.ReadAll(answer.Body)
		must(b, err)
		must(b, answer.Body.Close())
		if answer.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"errors":true`)) {
			b.Fatalf("%s: %.300s", answer.Status, text)
		}
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
	var stored, ready, times []float64 // milliseconds, and the first by the second
	cpu := time.Duration(0)
	for b.Loop() {
		run := historytest.NewRun("a", "1")
		run.Run.ID = next()
		began, before := time.Now(), memtest.CPUTime()
		store := elastic.New(client, prefix)
		for some := range slices.Chunk(docs, 500) {
			must(b, store.Put(b.Context(), some))
		}
		must(b, store.Finish(b.Context(), run))
		must(b, store.Close())
		stored = append(stored, milliseconds(time.Since(began)))
		cpu += memtest.CPUTime() - before

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
		began = time.Now()
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				for k := i; k < len(bodies); k += 3 {
					post("/_bulk", "application/x-ndjson", bodies[k])
				}
			})
		}
		all.Wait()
		post("/"+prefix+"-latency.*/_refresh", "application/json", nil)
		ready = append(ready, milliseconds(time.Since(began)))
		times = append(times, stored[len(stored)-1]/ready[len(ready)-1])
	}
	for unit, list := range map[string][]float64{"fio2es-ms": stored, "ready-ms": ready, "times-ready": times} {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], unit)
	}
	b.ReportMetric(milliseconds(cpu)/float64(b.N), "fio2es-cpu-ms")
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
