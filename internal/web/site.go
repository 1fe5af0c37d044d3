// Package web serves a history to browsers: a list of runs with search and sorting, the report of each run, and
// reports that compare several runs. It reads the history and never writes.
//
// Pages are complete HTML. They run only their own script and load nothing from other hosts; a content security
// policy enforces this. Texts in documents are not trusted and pass through html/template. There is no login:
// everyone who can reach the address can read the history. Links in pages are relative, so a proxy may serve them
// below another path.
package web

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/mapping"
)

// Options describes what is served.
type Options struct {
	Store   history.Store
	Name    string // name of the history, for people
	Program string // program and version, such as "fio2es v1.2.3"

	Log   *slog.Logger // also for requests, at level debug
	Local bool         // accept only requests from this machine, by one of its own names: see isOurs
}

// Limits of pages that are made at the same time. A report needs a processor, and memory for its charts. A sorted
// list needs some KB for each run.
const (
	reportsAtOnce = 2
	listsAtOnce   = 4
	patience      = 5 * time.Minute // for one page, including the wait for its turn
)

type site struct {
	Options
	reports gate

	// page makes the report of runs, in their order. Tests replace it.
	page func(ctx context.Context, runs []*mapping.Run, how report.Options) (*report.Page, error)
}

// New returns the handler of all pages.
func New(o Options) http.Handler { return newSite(o).handler() }

func newSite(o Options) *site {
	s := &site{Options: o, reports: make(gate, reportsAtOnce)}
	s.Store = gated{o.Store, make(gate, listsAtOnce)}
	s.page = s.report
	return s
}

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.list)
	mux.HandleFunc("/runs/{id}", s.run)
	mux.HandleFunc("/executions/{id}", s.execution)
	mux.HandleFunc("/archives", s.listing("Archives", "", history.RunFilter{}, archiveTable))
	mux.HandleFunc("/archives/{name}", s.archive)
	mux.HandleFunc("/compare", s.compare)
	mux.HandleFunc("/metrics", s.metrics)
	mux.HandleFunc("/matrix", s.matrix)
	mux.HandleFunc("/workloads", s.listing("Workloads", aboutWorkloads, ofWorkloads, workloadTable))
	mux.HandleFunc("/workloads/{id}", s.workload)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.notify(w, r, http.StatusNotFound, "No such page", "The pages are the list of all runs, /runs/ID, /executions/ID, /archives, /archives/NAME, /compare?run=ID&run=ID, /matrix?by=bs,iodepth, /workloads and /workloads/ID, that of a run.")
	})
	return s.logged(s.guarded(gzhttp.GzipHandler(mux)))
}

// guarded refuses requests that are not allowed, and sets headers that restrict browsers.
func (s *site) guarded(next http.Handler) http.Handler {
	// A browser may load nothing, run only the scripts of reports, and send forms only to this server.
	policy := "default-src 'none'; style-src " + report.HashOf(string(style())) + "; script-src " + report.ScriptPolicy() + " " + report.LivePolicy() + "; base-uri 'none'; form-action 'self'" + unframed
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-cache") // browsers may cache it, but must validate it before use
		switch {
		case s.Local && !isOurs(r.Host):
			s.notify(w, r, http.StatusForbidden, "Wrong host name", "This server answers browsers on its own machine only. Open it as localhost or 127.0.0.1, or start it with --listen for other machines.")
		case slices.Contains([]string{"cross-site", "same-site"}, r.Header.Get("Sec-Fetch-Site")) && r.Header.Get("Sec-Fetch-Mode") != "navigate":
			s.notify(w, r, http.StatusForbidden, "Another site", "A page of another site asked for this. Open it yourself.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			s.notify(w, r, http.StatusMethodNotAllowed, "Read only", "Pages accept GET and HEAD only.")
		default:
			ctx, cancel := context.WithTimeout(r.Context(), patience)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// isOurs reports whether host is a name that always means this machine. Otherwise a page of another site could read
// the history: it can make its own name point to this machine (DNS rebinding), but its requests then have that name.
// The port does not matter, so tunnels (ssh -L) may use other ports.
func isOurs(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]") // host has no port
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

func (s *site) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, counted := time.Now(), &counter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			s.Log.Debug(r.Method, "page", r.URL.RequestURI(), "status", counted.status, "bytes", counted.bytes,
				"from", r.RemoteAddr, "took", time.Since(began).Round(time.Microsecond))
		}()
		next.ServeHTTP(counted, r)
	})
}

// counter records the status and the number of bytes of an answer.
type counter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// gate limits how many goroutines run at the same time.
type gate chan struct{}

// enter waits for a free place. leave frees it.
func (g gate) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g <- struct{}{}:
		return func() { <-g }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// gated is a history that limits how many lists are read at the same time.
type gated struct {
	history.Store
	gate
}

// Runs implements [history.Store].
func (g gated) Runs(ctx context.Context, filter history.RunFilter) iter.Seq2[*mapping.Run, error] {
	return func(yield func(*mapping.Run, error) bool) {
		leave, err := g.enter(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer leave()
		g.Store.Runs(ctx, filter)(yield)
	}
}

// How long connections may take. Making a page may take all of patience, and sending it another minute.
const (
	headerTimeout = 10 * time.Second
	writeTimeout  = patience + time.Minute
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
)

// shutdownTimeout is how long requests may still take after the server is stopped.
const shutdownTimeout = 5 * time.Second

// Serve answers requests on a listener until ctx ends, and closes the listener. Then it waits up to shutdownTimeout
// for the requests under way, and returns nil. An error of the listener is returned.
func Serve(ctx context.Context, l net.Listener, pages http.Handler, log *slog.Logger) error {
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           pages,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout, // also for bodies, because requests have none
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		log.Warn("some requests were cut off", "after", shutdownTimeout)
		cut()
		return server.Close()
	}
	return nil
}
