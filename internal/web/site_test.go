package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/where"
)

func TestMethods(t *testing.T) {
	run := runOf(0, "a", 100)
	p := serve(historyOf(t, run))
	for _, path := range []string{"/", "/runs/" + run.Run.ID, "/compare", "/healthz", "/nothing"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "X"} {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("text=x"))
			r.Host = "localhost"
			if w := p.ask(r); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodHead, path, nil)
		r.Host = "localhost"
		if w, want := p.ask(r), p.get(t, path); w.Code != want.Code || path != "/healthz" && w.Body.Len() > 0 {
			t.Errorf("HEAD %s: %d, %d bytes, want %d", path, w.Code, w.Body.Len(), want.Code)
		}
	}
}

// TestHost: a local server answers only to names that always mean this machine, with any port. So no page of another
// site can read it through a name that points to this machine.
func TestHost(t *testing.T) {
	store := historyOf(t, runOf(0, "secret", 100))
	local, open := serve(store), serve(store, func(s *site) { s.Local = false })
	for host, want := range map[string]int{
		"localhost": 200, "localhost:8600": 200, "LOCALHOST:9": 200, "127.0.0.1:8600": 200, "127.0.0.1": 200, "127.1.2.3:80": 200, "[::1]:8600": 200, "[::1]": 200,
		"evil.example:8600": 403, "evil.example": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example:8600": 403, "10.0.0.1:8600": 403,
		"0.0.0.0:8600": 403, "": 403, "[::2]:8600": 403, "[::ffff:10.0.0.1]": 403, "localhost@evil.example": 403, "127.0.0.1:8600:1": 403,
	} {
		for _, path := range []string{"/", "/healthz", "/runs/latest"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.Host = host
			w := local.ask(r)
			if w.Code != want || want == 403 && strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s of %q: %d, want %d", path, host, w.Code, want)
			}
			if w := open.ask(r); w.Code != 200 {
				t.Errorf("open: %s of %q: %d", path, host, w.Code)
			}
		}
	}
}

var styleElement = regexp.MustCompile(`(?s)<style>(.*?)</style>`)

// TestHeaders: all answers have a policy for browsers, and it allows the style of the page.
func TestHeaders(t *testing.T) {
	run := runOf(0, "a", 100)
	p := serve(historyOf(t, run))
	for path, wants := range map[string]string{
		"/": "form-action 'self'", "/runs/" + run.Run.ID: report.Options{}.Policy(), "/runs/zzz": "default-src 'none'", "/compare": "default-src 'none'", "/zzz": "default-src 'none'", "/healthz": "default-src 'none'",
	} {
		w := p.get(t, path)
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, wants) || !strings.Contains(policy, "default-src 'none'") || !strings.HasSuffix(policy, "; frame-ancestors 'none'") {
			t.Errorf("%s: %s", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "private, no-cache",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if style := styleElement.FindStringSubmatch(w.Body.String()); style != nil && !strings.Contains(policy, "'unsafe-inline'") {
			sum := sha256.Sum256([]byte(style[1]))
			if !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) {
				t.Errorf("%s: the policy does not allow its style", path)
			}
			if strings.Contains(w.Body.String(), ` style="`) {
				t.Errorf("%s: a style that the policy does not allow", path)
			}
		}
	}
}

// TestOtherSites: pages of other sites may link to pages, but not load them.
func TestOtherSites(t *testing.T) {
	p := serve(historyOf(t))
	for mode, want := range map[string]int{"navigate": http.StatusOK, "no-cors": http.StatusForbidden, "cors": http.StatusForbidden} {
		for _, site := range []string{"cross-site", "same-site"} { // another port of this machine is the same site
			r := httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil)
			r.Header.Set("Sec-Fetch-Site", site)
			r.Header.Set("Sec-Fetch-Mode", mode)
			w := httptest.NewRecorder()
			p.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s, %s: %d, want %d", site, mode, w.Code, want)
			}
		}
	}
}

// TestLinks: every link on every reachable page works.
func TestLinks(t *testing.T) {
	p := serve(historyOf(t, runOf(0, "a b/c?d#e", 100), runOf(1, "b", 200), runOf(2, "c", 300)))
	seen := map[string]bool{}
	var visit func(from *url.URL, link string)
	visit = func(from *url.URL, link string) {
		to, err := from.Parse(html.UnescapeString(link))
		if err != nil {
			t.Fatalf("%s: %s: %v", from, link, err)
		}
		to.Fragment = ""
		if seen[to.String()] {
			return
		}
		seen[to.String()] = true
		if to.Host != from.Host || to.Scheme != from.Scheme {
			t.Fatalf("%s leads away: %s", from, link)
		}
		if to.Path == "/compare" && to.RawQuery == "" { // address of a form
			to.RawQuery = "run=" + runOf(1, "b", 0).Run.ID + "&run=" + runOf(2, "c", 0).Run.ID
		}
		w := p.get(t, to.RequestURI())
		if w.Code != http.StatusOK {
			t.Errorf("%s, from %s: %d", to, from, w.Code)
		}
		for _, m := range pageLink.FindAllStringSubmatch(w.Body.String(), -1) {
			visit(to, m[1])
		}
	}
	start, _ := url.Parse("http://localhost:8600/?text=archive")
	visit(start, "")
	if n := len(seen); n < 3+len(where.Orders()) {
		t.Errorf("only %d pages: %v", n, seen)
	}
}

// TestLog: each request is logged in one line, without control characters.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p := serve(historyOf(t, runOf(0, "a", 100)), func(s *site) { s.Log = log })
	p.get(t, "/runs/zz%1b%5b31m%0aforged?x=%0a")
	text := out.String()
	if strings.Count(text, "\n") != 1 || strings.Contains(text, "\x1b") || !strings.Contains(text, "status=404") || !strings.Contains(text, "msg=GET") {
		t.Errorf("%q", text)
	}
}

// TestConcurrent requests all kinds of pages at the same time, for the race detector.
func TestConcurrent(t *testing.T) {
	a, b := runOf(0, "a", 100), runOf(1, "b", 200)
	store := historyOf(t, a, b)
	p := serve(store)
	paths := []string{"/", "/?sort=p99", "/?text=a", "/runs/" + a.Run.ID, "/runs/latest", "/compare?run=" + a.Run.ID + "&run=" + b.Run.ID, "/runs/zzz"}
	want := map[string]string{}
	for _, path := range paths {
		want[path] = p.get(t, path).Body.String()
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for _, path := range paths {
				if got := p.get(t, path).Body.String(); got != want[path] {
					t.Errorf("%s is another page", path)
				}
			}
		})
	}
	wait.Go(func() {
		for range 5 {
			if err := store.Finish(t.Context(), b); err != nil {
				t.Error(err)
			}
		}
	})
	wait.Wait()
}
