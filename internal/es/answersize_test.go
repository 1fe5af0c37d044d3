package es_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/memtest"
)

// endless starts a server whose answer is begin, then piece again and again, up to 1 GiB.
func endless(t *testing.T, begin, piece string) string {
	block := strings.Repeat(piece, 64<<10/len(piece))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.Header().Set("Content-Type", "application/json")
		_, err := io.WriteString(w, begin)
		for sent := 0; err == nil && sent < 1<<30; sent += len(block) {
			_, err = io.WriteString(w, block)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestEndlessAnswers(t *testing.T) {
	info := func(ctx context.Context, c *es.Client) error { _, err := c.Check(ctx); return err }
	anything := func(ctx context.Context, c *es.Client) error {
		var into map[string]any
		return c.Do(ctx, es.Limited{Request: es.Request{URI: "/x"}, MaxAnswer: int64(memtest.Scale(4<<20, 0))}, &into) // 0: the default
	}
	const info0 = `{"name": "x", "version": {"number": "8.6.1"}, "more": "`
	tests := []struct {
		name, begin, piece string
		send               func(context.Context, *es.Client) error
		want               error
		most               int64
	}{
		{"who it is", info0, "x", info, es.ErrNotElastic, 20 << 20},
		{"anything", `{"a":"`, "x", anything, es.ErrTooLong, 400 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, es.Config{Addresses: []string{endless(t, tt.begin, tt.piece)}})
			var err error
			used := memtest.Measure(t, func() { err = tt.send(context.Background(), c) })
			t.Logf("%d MB, %v: %.200v", used.Peak>>20, used.Time, err)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if used.Peak > tt.most || used.Time > time.Minute {
				t.Errorf("it took %d bytes and %v", used.Peak, used.Time)
			}
		})
	}
}
