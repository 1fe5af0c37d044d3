package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/where"
)

// FuzzQuery: a query parsed from an address is the same when it is parsed from its own address.
func FuzzQuery(f *testing.F) {
	for _, raw := range []string{
		"", "text=a+b&sort=p99&order=lowest&page=7", "sort=zzz", "order=up", "page=0", "page=1000000", "page=1e6", "page=+1", "text=%00%ff%0a", "page=01", "text=a&text=b", "%zz", "a;b", "text=\xff&sort=p99.9",
		"page=9223372036854775808", "where=bs%3D4k+and&columns=p99.9,mode+bw&sort=op_size", "columns=,&sort=p99_99", "sort=start&order=highest",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		values, _ := url.ParseQuery(raw) // like net/http, which ignores the error
		q, err := parseQuery(values)
		if err != nil {
			return
		}
		if q.Page < 1 || q.By.Name == "" {
			t.Fatalf("%q: %+v", raw, q)
		}
		for _, want := range []listQuery{q, q.Turn(1), q.Sorted(where.Orders()[2])} {
			u, err := url.Parse(want.Address())
			must(t, err)
			if got, err := parseQuery(u.Query()); err != nil && want.Page <= 1e6 || err == nil && got != want {
				t.Errorf("%s: %+v, %v, want %+v", want.Address(), got, err, want)
			}
		}
	})
}

// FuzzRequest: for any address and header, the answer is a page or a refusal, and never a failure. No text of the
// address becomes an element.
func FuzzRequest(f *testing.F) {
	run := runOf(0, "clean", 100)
	handler := serve(historyOf(f, run))
	for _, path := range []string{"/", "/runs/" + run.Run.ID, "/runs/latest", "/runs/x", "/compare", "/healthz", "/%2e%2e/x", "//", "/runs/%00"} {
		f.Add(path, "run=latest&run=latest&base=earliest", "localhost", `"x", W/"y"`)
		f.Add(path, "text=<script>&sort=<script>", "[::1]:80", "*")
		f.Add(path, "page=2&order=<script>", "evil.example", "\x00")
	}
	f.Fuzz(func(t *testing.T, path, query, host, known string) {
		if !strings.HasPrefix(path, "/") {
			return
		}
		u, err := url.Parse(path)
		if err != nil {
			return
		}
		u.RawQuery = query
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL, r.Host, r.RequestURI = u, host, u.RequestURI()
		r.Header["If-None-Match"] = []string{known}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Fatalf("%s %s: status %d: %s", path, query, w.Code, w.Body)
		}
		if page := w.Body.String(); w.Code != http.StatusOK && strings.Count(page, "<script") > 1 { // the page has one
			t.Errorf("%s %s: %s", path, query, page)
		}
	})
}
