package es_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
)

func newClient(t testing.TB, c es.Config) *es.Client {
	t.Helper()
	client, err := es.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// recorded is a recorded answer of a real server.
type recorded struct {
	Status   int
	Response json.RawMessage
	Request  struct{ NDJSON string }
}

func load(t testing.TB, name string) recorded {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	var r recorded
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Response) == "null" {
		r.Response = nil
	}
	return r
}

func replay(t testing.TB, name string) *es.Client {
	r := load(t, name)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if r.Status != http.StatusRequestEntityTooLarge {
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
		}
		w.WriteHeader(r.Status)
		_, _ = w.Write(r.Response)
	}))
	t.Cleanup(server.Close)
	return newClient(t, es.Config{Addresses: []string{server.URL}, GiveUpAfter: -1})
}

// TestRecordedErrors reads recorded errors of real servers in all their forms.
func TestRecordedErrors(t *testing.T) {
	for name, want := range map[string]es.Error{
		"count-missing-index":   {Status: 404, Type: "index_not_found_exception"},
		"alias-get-missing":     {Status: 404, Reason: "alias [g-none] missing"},
		"method-not-allowed":    {Status: 405, Reason: "Incorrect HTTP method for uri [/_bulk] and method [DELETE], allowed: [PUT, POST]"},
		"indexing-pressure-429": {Status: 429, Type: es.RejectedType},
		"too-large-101mb":       {Status: 413},
		"block-delete-by-query": {Status: 403, Type: es.BlockType},
		"template-get-missing":  {Status: 404, Type: "resource_not_found_exception"},
		"empty-body":            {Status: 400, Type: "parse_exception"},
	} {
		t.Run(name, func(t *testing.T) {
			err := replay(t, name).Do(t.Context(), es.Request{URI: "/x"}, nil)
			var got *es.Error
			if !errors.As(err, &got) {
				t.Fatalf("%v", err)
			}
			if want.Reason == "" {
				want.Reason = got.Reason
			}
			if got.Method != http.MethodGet || got.Path != "/x" {
				t.Errorf("of %s %s", got.Method, got.Path)
			}
			if got.Body, got.Method, got.Path = nil, "", ""; !reflect.DeepEqual(*got, want) {
				t.Errorf("%+v, want %+v", *got, want)
			}
		})
	}
}

func TestForeignErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><head><title>502\n Bad Gateway</title></head>"+strings.Repeat("x", 2<<20))
	}))
	defer server.Close()
	client := newClient(t, es.Config{Addresses: []string{server.URL}, GiveUpAfter: -1})
	err := client.Do(t.Context(), es.Request{URI: "/x"}, nil)
	var e *es.Error
	if !errors.As(err, &e) || !e.Foreign || e.Reason != "502 Bad Gateway" || e.RetryAfter != 7*time.Second || !es.Temporary(err) {
		t.Errorf("%v, %+v", err, e)
	}
}

// TestRedirect: requests do not follow a redirect, and the error names its target.
func TestRedirect(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("https://es.example.com/", http.StatusMovedPermanently))
	defer server.Close()
	err := newClient(t, es.Config{Addresses: []string{server.URL}, GiveUpAfter: -1}).Do(t.Context(), es.Request{URI: "/x"}, nil)
	if err == nil || !strings.Contains(err.Error(), `redirected to "https://es.example.com/", which is not followed`) {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	root := string(load(t, "root").Response)
	for _, c := range []struct {
		name, body string
		status     int
		foreign    bool
		want       error
	}{
		{"recorded", root, 200, false, nil},
		{"9", strings.ReplaceAll(root, "8.6.1", "9.2.0-SNAPSHOT"), 200, false, nil},
		{"8.5", strings.ReplaceAll(root, "8.6.1", "8.5.3"), 200, false, es.ErrTooOld},
		{"7", strings.ReplaceAll(root, "8.6.1", "7.17.9"), 200, false, es.ErrTooOld},
		{"7.10 without header", strings.ReplaceAll(root, "8.6.1", "7.10.2"), 200, true, es.ErrTooOld},
		{"no header", root, 200, true, es.ErrNotElastic},
		{"serverless", strings.ReplaceAll(root, `"default"`, `"serverless"`), 200, false, es.ErrServerless},
		{"opensearch", `{"version":{"distribution":"opensearch","number":"2.11.0"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`, 200, true, es.ErrNotElastic},
		{"opensearch as 7.10", `{"version":{"number":"7.10.2"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`, 200, true, es.ErrNotElastic},
		{"login page", "<html><title>Please log in</title>", 200, true, es.ErrNotElastic},
		{"redirect", "", 302, true, es.ErrNotElastic},
		{"other service", `{"status":"ok"}`, 200, true, es.ErrNotElastic},
		{"not found", `404 page not found`, 404, true, es.ErrNotElastic},
		{"unauthorized", `{"error":{"type":"security_exception","reason":"missing authentication credentials"},"status":401}`, 401, false, es.ErrAuth},
		{"forbidden", `{"error":{"type":"security_exception","reason":"action [cluster:monitor/main] is unauthorized"},"status":403}`, 403, false, es.ErrForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if !c.foreign {
					w.Header().Set("X-Elastic-Product", "Elasticsearch")
				}
				w.Header().Set("Location", "https://login.example.org/")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			info, err := newClient(t, es.Config{Addresses: []string{server.URL}, GiveUpAfter: -1}).Check(t.Context())
			if !errors.Is(err, c.want) || c.want == nil && (err != nil || info.Version == "") {
				t.Errorf("%+v, %v", info, err)
			}
		})
	}
}

// TestRetries: a request is retried.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := estest.New()
		dial, stop := fake.Pipe()
		defer stop()
		client := newClient(t, es.Config{Addresses: []string{"http://localhost:9200"}, Dial: dial, Timeout: 10 * time.Second})
		defer client.Close()
		fake.Script(
			estest.Fault{On: "_refresh", Kind: estest.Unavailable}, estest.Fault{On: "_refresh", Kind: estest.Reset},
			estest.Fault{On: "_refresh", Kind: estest.Restart, Wait: 50 * time.Millisecond},
		)
		if err := client.Refresh(t.Context(), "fio-*"); err != nil {
			t.Errorf("refresh: %v", err)
		}
		var answer es.Whole
		fake.Script(estest.Fault{On: "_refresh", Kind: estest.Cut, Times: 2}, estest.Fault{On: "_refresh", Kind: estest.ResetAnswer})
		if err := client.Do(t.Context(), es.Request{Method: "POST", URI: "/fio-x/_refresh?ignore_unavailable=true"}, &answer); err != nil || answer.Shards == nil {
			t.Errorf("cut answers: %v, %+v", err, answer)
		}
		fake.Script(estest.Fault{On: "_import", Kind: estest.Unavailable})
		if err := client.Once(t.Context(), es.Request{URI: "/_import", Body: map[string]any{}}, nil); !es.Temporary(err) {
			t.Errorf("import: %v", err)
		}
		if n := fake.Requests("_import"); n != 1 {
			t.Errorf("sent %d times", n)
		}
		fake.Script(estest.Fault{On: "_refresh", Kind: estest.Hang}, estest.Fault{On: "_refresh", Kind: estest.Rejected, RetryAfter: "20"})
		start := time.Now()
		if err := client.Refresh(t.Context(), "fio-*"); err != nil {
			t.Errorf("hang: %v", err)
		}
		if took := time.Since(start); took < 30*time.Second || took > 32*time.Second {
			t.Errorf("a request that hangs for 10 s, and a pause of 20 s, took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		fake.Script(estest.Fault{On: "_refresh", Kind: estest.Unavailable, Times: -1})
		start = time.Now()
		if err := client.Refresh(ctx, "fio-*"); err == nil || time.Since(start) > time.Second {
			t.Errorf("cancelled after %v: %v", time.Since(start), err)
		}
	})
}

// TestAddresses: when one address is down, the next one is used.
func TestAddresses(t *testing.T) {
	fake := estest.New()
	address, stop := fake.Start()
	defer stop()
	client := newClient(t, es.Config{Addresses: []string{"http://127.0.0.1:1", address, "http://127.0.0.1:2/"}})
	for range 5 {
		if _, err := client.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := client.Do(t.Context(), es.Request{URI: "/none/_search", Body: map[string]any{"size": 1}}, nil); err == nil || !strings.Contains(err.Error(), "no such index [none]") {
		t.Errorf("%v", err)
	}
}

func TestBounded(t *testing.T) {
	fake := estest.New()
	address, stop := fake.Start()
	defer stop()
	client := newClient(t, es.Config{Addresses: []string{address}})
	var v any
	if err := client.Do(t.Context(), es.Limited{Request: es.Request{}, MaxAnswer: 100}, &v); !errors.Is(err, es.ErrTooLong) {
		t.Errorf("%v", err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		config es.Config
		want   string // the expected address, or a part of the error
	}{
		{es.Config{}, "http://localhost:9200"},
		{es.Config{Addresses: []string{"https://a:9200/", "https://b/es"}}, "https://a:9200, https://b/es"},
		{es.Config{Addresses: []string{"a:9200"}}, "not of the form"},
		{es.Config{APIKey: "k", Addresses: []string{"http://es.example.org:9200"}}, "unencrypted"},
		{es.Config{APIKey: "k", Addresses: []string{"http://es.example.org:9200"}, AllowPlain: true}, "http://es.example.org:9200"},
		{es.Config{APIKey: "k", Addresses: []string{"http://127.0.0.7:9200", "http://[::1]:9200"}}, "http://127.0.0.7:9200, http://[::1]:9200"},
		{es.Config{CACert: []byte("x")}, "PEM"},
		{es.Config{APIKey: "id:key"}, `"encoded" of the answer`},
		{es.Config{Username: "me"}, "a user name without a password"},
		{es.Config{Password: "secret"}, "a password without a user name"},
		{es.Config{Addresses: []string{"127.0.0.1:9200"}}, `address 127.0.0.1:9200 is not of the form`},
		{es.Config{Addresses: []string{"http://es:99200"}}, "no port above 65535"},
		{es.Config{Addresses: []string{"https://me:p%w@es:9200"}}, "an address is not of the form"},
	} {
		client, err := es.New(c.config)
		if got := fmt.Sprint(client, err); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
