package es_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
)

// TestRequests: the client sends what Line returns, for requests of all kinds.
func TestRequests(t *testing.T) {
	var got, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got, body = r.Method+" "+r.RequestURI, string(text)
		if accept := r.Header.Get("Accept"); accept != "application/json" || body != "" && r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: accept %q, type %q", got, accept, r.Header.Get("Content-Type"))
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	client := newClient(t, es.Config{Addresses: []string{server.URL}})
	for _, c := range []struct {
		request        esapi.Request
		method, uri, b string
	}{
		{esapi.InfoRequest{}, "GET", "/", ""},
		{es.Request{}, "GET", "/", ""},
		{es.Request{URI: "/api/status?x=1", Body: map[string]int{"a": 1}}, "POST", "/api/status?x=1", `{"a":1}`},
		{
			esapi.SearchRequest{Index: []string{"a", "b-*"}, Body: es.JSON([]byte("{}")), AllowPartialSearchResults: new(bool)},
			"POST", "/a,b-*/_search?allow_partial_search_results=false", "{}",
		},
		{
			es.Limited{Request: esapi.OpenPointInTimeRequest{Index: []string{url.PathEscape("a b")}, KeepAlive: "5s"}, MaxAnswer: 9},
			"POST", "/a%20b/_pit?keep_alive=5s", "",
		},
	} {
		if method, uri, err := es.Line(c.request); method != c.method || uri != c.uri || err != nil {
			t.Errorf("line is %s %s, %v, want %s %s", method, uri, err, c.method, c.uri)
		}
		if err := client.Do(t.Context(), c.request, nil); err != nil || got != c.method+" "+c.uri || body != c.b {
			t.Errorf("sent %s %s, %v, want %s %s %s", got, body, err, c.method, c.uri, c.b)
		}
	}
}

// TestCompression: by default, bodies are compressed unless they stay on this machine. The setting has precedence.
func TestCompression(t *testing.T) {
	var wire int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if wire = n; err != nil || (r.Header.Get("Content-Encoding") == "gzip") != (n < 1000) {
			t.Errorf("%d bytes, %v", n, err)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	here := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	for _, c := range []struct {
		name   string
		config es.Config
		packed bool
	}{
		{"loopback", es.Config{Addresses: []string{server.URL}}, false},
		{"tunnel", es.Config{Dial: here}, true},
		{"tunnel, none", es.Config{Dial: here, NoGzip: true}, false},
	} {
		body := bytes.Repeat([]byte("{}\n"), 1000)
		err := newClient(t, c.config).Do(t.Context(), es.Request{URI: "/x", Body: body}, nil)
		if err != nil || (wire < 1000) != c.packed {
			t.Errorf("%s: %d bytes, %v", c.name, wire, err)
		}
	}
	for address, want := range map[string]bool{
		"http://127.0.0.1:9200": false, "http://[::1]:9200": false, "http://localhost:9200": false, "https://es.example.org:9200": true, "http://192.0.2.1:9200": true,
	} {
		if got := newClient(t, es.Config{Addresses: []string{"http://127.0.0.1:9200", address}}).Compresses(); got != want {
			t.Errorf("%s: compresses %v, want %v", address, got, want)
		}
	}
}
