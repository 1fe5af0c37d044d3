package sink_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/sink"
)

// counter is a server that unpacks bulk requests, counts their documents and confirms
// each: the least that any server does.
type counter struct {
	documents atomic.Int64
	readers   sync.Pool
	pace      time.Duration // what a document takes at least; the same for all, on each connection
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	z, ok := c.readers.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	defer c.readers.Put(z)
	if err := z.Reset(r.Body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(z)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	start := time.Now()
	answer := []byte(`{"errors":false,"items":[`)
	n := 0
	for ; len(body) > 0; n++ {
		end := bytes.IndexByte(body, '\n')
		if id := bytes.Index(body[:end], []byte(`"_id":"`)); n%2 == 0 && id > 0 {
			if n > 0 {
				answer = append(answer, ',')
			}
			rest := body[id+7 : end]
			answer = append(append(answer, `{"index":{"_id":"`...), rest[:bytes.IndexByte(rest, '"')]...)
			answer = append(answer, `","status":201}}`...)
			c.documents.Add(1)
		}
		body = body[end+1:]
	}
	time.Sleep(time.Duration(n/2)*c.pace - time.Since(start))
	_, _ = w.Write(append(answer, "]}"...))
}

// benchDocuments are of 220 bins each, 2.9 KB, as real ones have.
func benchDocuments(n int) []*mapping.Interval {
	docs := historytest.Intervals("bench", "1", n)
	for i, d := range docs {
		h := hist.New(hist.Fio3(0))
		for b := range 220 {
			h.AddAt(700+b*2, float64(1+(i*7919+b*104729)%1000))
		}
		d.Latency = mapping.NewLatency(h, nil)
		d.DocCount = d.Latency.Bins.Total()
	}
	return docs
}

// bodies are the requests that the sink makes of documents.
func bodies(docs []*mapping.Interval) (plain [][]byte, size int) {
	var body []byte
	for _, d := range docs {
		body = append(mapping.AppendAction(body, d.Index("fio"), d.ID()), '\n')
		body = append(d.AppendJSON(body), '\n')
		if len(body) > 5<<20-4000 {
			plain, size, body = append(plain, body), size+len(body), nil
		}
	}
	if len(body) > 0 {
		plain, size = append(plain, body), size+len(body)
	}
	return plain, size
}

// BenchmarkBulk compares the sink, with and without the encoding of documents, with
// sending the very same bodies, made beforehand: compressed on the way, or that
// beforehand, too. The server
// shares the processors; it only counts, or (paced) takes 0.1 ms for a document on each
// connection, half of what a real one was measured to take on two processors.
func BenchmarkBulk(b *testing.B) {
	docs := benchDocuments(20_000)
	plain, size := bodies(docs)
	packed := make([][]byte, len(plain))
	for i := range plain {
		packed[i] = pack(nil, plain[i])
	}
	var encoded []*sink.Encoded
	for some := range slices.Chunk(docs, 100) {
		encoded = append(encoded, sink.Encode(some))
	}
	server := new(counter)
	listening := httptest.NewServer(server)
	defer listening.Close()
	run := func(name string, send func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			before := server.documents.Load()
			for b.Loop() {
				send(b)
			}
			n := server.documents.Load() - before
			if n != int64(b.N)*int64(len(docs)) {
				b.Errorf("%d documents arrived in %d rounds", n, b.N)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "docs/s")
		})
	}
	for _, c := range []struct {
		name     string
		inFlight int
		pace     time.Duration
	}{{"1", 1, 0}, {"2", 2, 0}, {"4", 4, 0}, {"2-paced", 2, 100 * time.Microsecond}} {
		server.pace = c.pace
		inFlight := c.inFlight
		ingest := func(b *testing.B, put func(s *sink.Elastic) error) {
			client := newClient(b, elastic.Config{Addresses: []string{listening.URL}})
			defer client.Close()
			s := sink.NewElastic(client, sink.Options{InFlight: inFlight, Templates: []string{}})
			if err := errors.Join(put(s), s.Flush(b.Context()), s.Close()); err != nil {
				b.Fatal(err)
			}
		}
		run("sink/"+c.name, func(b *testing.B) {
			ingest(b, func(s *sink.Elastic) (err error) {
				for some := range slices.Chunk(docs, 100) {
					err = errors.Join(err, s.Put(b.Context(), some))
				}
				return err
			})
		})
		run("sink-encoded/"+c.name, func(b *testing.B) {
			ingest(b, func(s *sink.Elastic) (err error) {
				for _, some := range encoded {
					err = errors.Join(err, s.PutEncoded(b.Context(), some))
				}
				return err
			})
		})
		run("replay/"+c.name, func(b *testing.B) { replay(b, listening.URL, plain, inFlight, true) })
		run("replay-packed/"+c.name, func(b *testing.B) { replay(b, listening.URL, packed, inFlight, false) })
	}
}

func pack(z *gzip.Writer, body []byte) []byte {
	var out bytes.Buffer
	if z == nil {
		z, _ = gzip.NewWriterLevel(&out, 1)
	} else {
		z.Reset(&out)
	}
	_, _ = z.Write(body)
	_ = z.Close()
	return out.Bytes()
}

func replay(b *testing.B, url string, bodies [][]byte, inFlight int, compress bool) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range inFlight {
		all.Go(func() {
			z, _ := gzip.NewWriterLevel(nil, 1)
			for i := next.Add(1) - 1; i < int64(len(bodies)); i = next.Add(1) - 1 {
				body := bodies[i]
				if compress {
					body = pack(z, body)
				}
				req, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/_bulk", bytes.NewReader(body))
				req.Header.Set("Content-Encoding", "gzip")
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
					b.Error(res.Status, err)
				}
				_ = res.Body.Close()
			}
		})
	}
	all.Wait()
}
