package sink_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// counter is a server that unpacks bulk requests, counts their documents and confirms
// each: the least that any server does. A path /N makes it take N microseconds for each
// document at least, on each connection.
type counter struct {
	documents atomic.Int64
	works     sync.Pool // of *work
}

type work struct {
	reader       gzip.Reader
	body, answer bytes.Buffer
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k, ok := c.works.Get().(*work)
	if !ok {
		k = new(work)
	}
	defer c.works.Put(k)
	start := time.Now()
	k.body.Reset()
	in, err := io.Reader(r.Body), error(nil)
	if r.Header.Get("Content-Encoding") == "gzip" {
		in, err = &k.reader, k.reader.Reset(r.Body)
	}
	if err == nil {
		_, err = k.body.ReadFrom(in)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	n := k.confirm()
	c.documents.Add(int64(n))
	time.Sleep(time.Duration(n)*pace(r.URL.Path) - time.Since(start))
	_, _ = w.Write(k.answer.Bytes())
}

func pace(path string) time.Duration {
	d := time.Duration(0)
	for _, digit := range path {
		if digit == '_' {
			break
		}
		if digit >= '0' && digit <= '9' {
			d = d*10 + time.Duration(digit-'0')
		}
	}
	return d * time.Microsecond
}

// confirm answers as Elasticsearch does, and gives the number of documents.
func (k *work) confirm() int {
	k.answer.Reset()
	k.answer.WriteString(`{"errors":false,"items":[`)
	n := 0
	for body := k.body.Bytes(); len(body) > 0; n++ {
		action, rest, _ := bytes.Cut(body, []byte{'\n'})
		_, id, _ := bytes.Cut(action, []byte(`"_id":"`))
		if n > 0 {
			k.answer.WriteByte(',')
		}
		k.answer.WriteString(`{"index":{"_id":"`)
		k.answer.Write(id[:bytes.IndexByte(id, '"')])
		k.answer.WriteString(`","status":201}}`)
		_, body, _ = bytes.Cut(rest, []byte{'\n'})
	}
	k.answer.WriteString("]}")
	return n
}

// counterVariable is where TestCounter listens, or where the benchmarks find it.
const counterVariable = "FIO2ES_BENCH_COUNTER"

// TestCounter is no test: it is a counter in a process of its own, which ends with its
// input. Then client and server can be given different processors; see BenchmarkBulk.
func TestCounter(t *testing.T) {
	address := os.Getenv(counterVariable)
	if address == "" || os.Getenv("FIO2ES_BENCH_SERVE") == "" {
		t.Skip(counterVariable + "=HOST:PORT and FIO2ES_BENCH_SERVE=1 make it listen")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: new(counter)}
	go func() { _ = server.Serve(l) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = server.Close()
}

// startCounter gives the address of a counter: the one of another process, or of this.
func startCounter(b *testing.B) string {
	if address := os.Getenv(counterVariable); address != "" {
		return "http://" + address
	}
	server := httptest.NewServer(new(counter))
	b.Cleanup(server.Close)
	return server.URL
}
