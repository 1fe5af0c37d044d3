package bulk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/mapping"
)

// benchDocuments are like real documents in size (about 220 bins, 3.8 KB) and in compression (6:1): a busy middle,
// and tails in which each document has other bins. Only 1000 are different, as many as an ingest puts at once. These
// fit into the cache of the processor, as in an ingest; a list of 200 MB would not.
func benchDocuments(n int) []*mapping.Interval {
	docs, rng := historytest.Intervals("bench", "1", n), rand.New(rand.NewPCG(1, 2))
	for i, d := range docs {
		const different = 1000
		if i >= different {
			d.Latency, d.DocCount = docs[i%different].Latency, docs[i%different].DocCount
			continue
		}
		h := hist.New(hist.Fio3(0))
		for b := range 300 {
			middle := float64(b-150) / 60
			if n := math.Floor(100 * math.Exp(-middle*middle) * rng.ExpFloat64()); n > 0 {
				h.AddAt(700+b, n)
			}
		}
		d.Latency = mapping.NewLatency(h, nil)
		d.DocCount = d.Latency.Bins.Total()
	}
	return docs
}

// bodies returns the bodies that the writer would make of documents, plain and compressed, and the size of the plain
// ones in bytes.
func bodies(b *testing.B, prefix string, docs []*mapping.Interval) (plain, packed [][]byte, size int) {
	client := newClient(b, es.Config{GzipLevel: 2})
	var body []byte
	full := func() {
		p, err := client.Pack(body)
		check(b, err)
		plain, packed, size, body = append(plain, body), append(packed, p), size+len(body), nil
	}
	for _, d := range docs {
		body = append(mapping.AppendAction(body, d.Index(prefix), d.ID()), '\n')
		body = append(d.AppendJSON(body), '\n')
		if len(body) > 5<<20-4000 {
			full()
		}
	}
	if len(body) > 0 {
		full()
	}
	return plain, packed, size
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// rival is one way to send the documents to the server.
type rival struct {
	name string
	send func(ctx context.Context) error
	took time.Duration
	cpu  time.Duration // processor time of this process
}

// compete lets the rivals send the same documents in turn; each round begins with another rival. It reports
// documents per second and processor time per document of each rival, and the speed of the first rival in percent of
// each other one. before is called before each turn; it may be nil.
func compete(b *testing.B, documents, size int, before func(), rivals ...*rival) {
	b.SetBytes(int64(size * len(rivals)))
	rounds := 0
	for _, r := range rivals { // once before, so that connections and buffers exist
		if err := r.send(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for i := range rivals {
			r := rivals[(i+rounds)%len(rivals)]
			if before != nil {
				before()
			}
			start, used := time.Now(), memtest.CPUTime()
			if err := r.send(b.Context()); err != nil {
				b.Fatal(r.name, err)
			}
			r.took += time.Since(start)
			r.cpu += memtest.CPUTime() - used
		}
		rounds++
	}
	for i, r := range rivals {
		b.ReportMetric(float64(documents*rounds)/r.took.Seconds(), r.name+"-docs/s")
		b.ReportMetric(float64(r.cpu.Microseconds())/float64(documents*rounds), r.name+"-cpu-µs/doc")
		if i > 0 {
			b.ReportMetric(100*r.took.Seconds()/rivals[0].took.Seconds(), "%-of-"+r.name)
		}
	}
}

// sending is the rival that uses the writer. As many goroutines put documents as there are connections. An ingest
// has one for each processor.
func sending(s *bulk.Writer, docs []*mapping.Interval, connections int) *rival {
	return &rival{name: "sink", send: func(ctx context.Context) error {
		var all sync.WaitGroup
		failed := make([]error, connections)
		for i := range connections {
			all.Go(func() {
				for some := range slices.Chunk(docs[i*len(docs)/connections:(i+1)*len(docs)/connections], 1000) {
					if failed[i] = s.Put(ctx, some); failed[i] != nil {
						return
					}
				}
			})
		}
		all.Wait()
		return errors.Join(errors.Join(failed...), s.Flush(ctx))
	}}
}

// replaying is the rival that sends bodies over several connections and reads the answers.
func replaying(name, url string, bodies [][]byte, connections int) *rival {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: connections}}
	return &rival{name: name, send: func(ctx context.Context) error {
		var next atomic.Int64
		var all sync.WaitGroup
		failed := make([]error, connections)
		for c := range connections {
			all.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(bodies)) && failed[c] == nil; i = next.Add(1) - 1 {
					failed[c] = post(ctx, client, url, bodies[i])
				}
			})
		}
		all.Wait()
		return errors.Join(failed...)
	}}
}

func post(ctx context.Context, client *http.Client, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/_bulk?filter_path=errors,error,status,items.*._id,items.*.status,items.*.error", bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body[0] != '{' {
		req.Header.Set("Content-Encoding", "gzip")
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || !bytes.HasPrefix(answer, []byte(`{"errors":false,`))) {
		err = fmt.Errorf("%s: %.200s", res.Status, answer)
	}
	return err
}

// BenchmarkCluster compares the writer with a replay of the same bodies, plain and compressed, over as many
// connections. The writer makes the bodies and reads each item result. FIO2ES_TEST_ELASTICSEARCH names the server.
// Each turn begins with an empty index, because otherwise one rival would pay for merging documents of another.
func BenchmarkCluster(b *testing.B) {
	address := os.Getenv("FIO2ES_TEST_ELASTICSEARCH")
	if address == "" {
		b.Skip("FIO2ES_TEST_ELASTICSEARCH is not set")
	}
	client := newClient(b, es.Config{Addresses: []string{address}})
	defer client.Close()
	prefix := fmt.Sprintf("fio2es-bench-%x", time.Now().UnixNano())
	docs := benchDocuments(40_000)
	index := benchIndex{b, client, docs[0].Index(prefix), docs[0]}
	index.create()
	b.Cleanup(index.delete)
	empty := func() {
		index.delete()
		index.create()
	}
	plain, packed, size := bodies(b, prefix, docs)
	const connections = 2
	s := bulk.New(client, bulk.Options{InFlight: connections, Prefix: prefix, NoTemplates: true})
	defer s.Close()
	compete(b, len(docs), size, empty, sending(s, docs, connections),
		replaying("packed", address, packed, connections), replaying("plain", address, plain, connections))
	b.ReportMetric(100*float64(len(slices.Concat(packed...)))/float64(size), "%-on-the-wire")
}

// BenchmarkPrepare measures the cost of a document before it is in a body.
func BenchmarkPrepare(b *testing.B) {
	docs := benchDocuments(100)
	b.ReportAllocs()
	var body []byte
	for b.Loop() {
		body = body[:0]
		for _, d := range docs {
			if err := d.Check(); err != nil {
				b.Fatal(err)
			}
			body = append(mapping.AppendAction(body, "fio-latency.host-2026.11", d.ID()), '\n')
			body = append(d.AppendJSON(body), '\n')
		}
	}
	b.SetBytes(int64(len(body)))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(docs)), "ns/doc")
}

// BenchmarkPack measures the compression of a body.
func BenchmarkPack(b *testing.B) {
	for _, level := range []int{1, 2, 3, 6} {
		b.Run(fmt.Sprint(level), func(b *testing.B) {
			client := newClient(b, es.Config{GzipLevel: level})
			plain, packed, _ := bodies(b, "fio", benchDocuments(1300))
			b.SetBytes(int64(len(plain[0])))
			for b.Loop() {
				_, err := client.Pack(plain[0])
				check(b, err)
			}
			b.ReportMetric(float64(len(plain[0]))/float64(len(packed[0])), "to-1")
		})
	}
	b.Run("unpack", func(b *testing.B) {
		plain, packed, _ := bodies(b, "fio", benchDocuments(1300))
		var z gzip.Reader
		b.SetBytes(int64(len(plain[0])))
		for b.Loop() {
			if err := z.Reset(bytes.NewReader(packed[0])); err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, &z); err != nil {
				b.Fatal(err)
			}
		}
	})
}
