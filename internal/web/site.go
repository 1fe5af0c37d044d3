package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/mapping"
)

// Options say what is served. All but Log and Local are needed.
type Options struct {
	Store   history.Store
	Name    string // of the history, for people
	Program string // and its version, such as "fio2es v1.2.3"

	// Report makes the page of runs, in their order, which links to a list of all at home.
	// It fails with a [NoReportError] where there is nothing to show.
	Report func(ctx context.Context, runs []*mapping.Run, home string) (*report.Page, error)

	Log   *slog.Logger // of requests, at level debug; nil: none
	Local bool         // only browsers of this machine: refuse requests by other names, see isOurs
}

// NoReportError says why there is no report of runs that are there.
type NoReportError struct{ Err error }

func (e *NoReportError) Error() string { return e.Err.Error() }
func (e *NoReportError) Unwrap() error { return e.Err }

// How much is done at a time. A report takes a processor while it is made, and the memory of
// what is drawn; a list that is sorted, some KB for each run.
const (
	reportsAtOnce = 2
	listsAtOnce   = 4
	patience      = 5 * time.Minute // for one page, waiting for its turn included
)

type site struct {
	Options
	reports, lists gate
}

// New is the handler of all pages.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &site{Options: o, reports: make(gate, reportsAtOnce), lists: make(gate, listsAtOnce)}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.list)
	mux.HandleFunc("/runs/{id}", s.run)
	mux.HandleFunc("/compare", s.compare)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.tell(w, r, http.StatusNotFound, notice{Title: "No such page", Text: "There are a list of all runs, /runs/ID and /compare?run=ID&run=ID."})
	})
	return s.logged(s.guarded(mux))
}

// guarded lets through what may be asked for, and says what browsers may do with answers.
func (s *site) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-cache") // kept, but asked about before use
		switch {
		case s.Local && !isOurs(r.Host):
			s.tell(w, r, http.StatusForbidden, notice{
				Title: "Not by this name", Text: "This address is for browsers of this machine. Ask for it as localhost or 127.0.0.1, or serve it to others with --listen.",
			})
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			s.tell(w, r, http.StatusMethodNotAllowed, notice{Title: "Only to read", Text: "Pages take GET and HEAD: nothing here can be changed."})
		default:
			ctx, cancel := context.WithTimeout(r.Context(), patience)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// isOurs tells whether a request names this machine by a name that is always its own. A page
// of another site can make its own name one of this machine (DNS rebinding) and would then
// read what we serve; but its requests tell that name. Ports do not matter, so that tunnels
// (ssh -L) may have others.
func isOurs(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]") // no port
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// logged tells of each request what became of it.
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

// counter notes the status and counts the bytes of an answer.
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

// Unwrap is for [http.ResponseController].
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// gate lets as many through at a time as it has room for.
type gate chan struct{}

// enter waits for its turn. The function returned ends it.
func (g gate) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g <- struct{}{}:
		return func() { <-g }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
