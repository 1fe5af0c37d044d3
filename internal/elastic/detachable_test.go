package elastic_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fio2es/fio2es/internal/elastic"
)

// stored is the answer that says that the documents of ids are stored.
func stored(ids []string) string {
	var b bytes.Buffer
	b.WriteString(`{"errors":false,"items":[`)
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"index":{"_id":"%s","status":201}}`, id)
	}
	b.WriteString("]}")
	return b.String()
}

// witness notes the largest piece that is written at once.
type witness struct {
	net.Conn
	mu      *sync.Mutex
	largest *int
}

// Write implements [net.Conn].
func (w witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	*w.largest = max(*w.largest, len(p))
	w.mu.Unlock()
	return w.Conn.Write(p)
}

// TestBulkIsNotCopied: bodies reach a connection, and the next one, in large pieces, whole.
func TestBulkIsNotCopied(t *testing.T) {
	body := bytes.Repeat([]byte("{}\n"), 1<<20)
	var requests int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes arrived, %v", len(got), err)
		}
		if requests++; requests == 1 {
			w.Header().Set("Connection", "close")
		}
		_, _ = io.WriteString(w, stored([]string{"a"}))
	}))
	defer server.Close()
	var mu sync.Mutex
	largest := 0
	client := newClient(t, elastic.Config{
		Addresses: []string{server.URL},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return witness{conn, &mu, &largest}, err
		},
	})
	defer client.Close()
	for range 3 {
		if err := client.Bulk(t.Context(), body, []string{"a"}, func(int, elastic.BulkItem) {}); err != nil {
			t.Fatal(err)
		}
	}
	if largest < 1<<20 {
		t.Errorf("at most %d bytes at once", largest)
	}
}

// TestBulkGivesMemoryBack: a transport that still holds a body when the request is over
// gets no more of it, and what it is writing is written before.
func TestBulkGivesMemoryBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := bytes.Repeat([]byte{'.'}, 3<<20)
		body := elastic.NewDetachable(memory)
		from, to := net.Pipe()
		defer from.Close()
		written := make(chan error, 1)
		go func() {
			_, err := body.WriteTo(to, int64(len(memory)))
			written <- err
		}()
		got := make([]byte, 1<<20)
		if _, err := io.ReadFull(from, got[:1000]); err != nil { // of the first piece
			t.Fatal(err)
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			body.Detach()
			clear(memory)
		}()
		synctest.Wait()
		select {
		case <-over:
			t.Fatal("detached while it is being written")
		default:
		}
		if _, err := io.ReadFull(from, got[1000:]); err != nil || bytes.IndexByte(got, 0) >= 0 {
			t.Errorf("read the rest of the piece: %v", err)
		}
		go func() { _, _ = io.Copy(io.Discard, from) }() // the next piece, if it came first
		<-over
		if err := <-written; !errors.Is(err, elastic.ErrDetached) {
			t.Errorf("written: %v", err)
		}
		if n, err := body.Read(got); n > 0 || !errors.Is(err, elastic.ErrDetached) {
			t.Errorf("read: %d, %v", n, err)
		}
		if _, err := body.Rewind(); !errors.Is(err, elastic.ErrDetached) {
			t.Errorf("rewind: %v", err)
		}
	})
}
