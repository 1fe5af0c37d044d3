package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Pages of live runs listen to events. An event means that the history has more of these runs.
const (
	lookEvery    = 2 * time.Second // time between two looks into the history, for all streams together
	lookTimeout  = 30 * time.Second
	mostStreams  = 100
	mostLive     = 1000             // most live runs in the state of the list
	heartbeat    = 15 * time.Second // comment lines show proxies and the server that the stream is alive
	eventTimeout = 10 * time.Second // limit for sending an event to a client
)

// stream is the connection of a page that listens.
type stream struct {
	runs   []string // ids; empty for the list: the newest runs and all live ones
	seen   string   // state of these runs at the last look
	stored chan struct{}
}

// news sends an event to each stream whose runs have changed in the history.
type news struct {
	store history.Store
	log   *slog.Logger
	ended chan struct{}

	mu      sync.Mutex
	streams map[*stream]bool
}

func newNews(store history.Store, log *slog.Logger) *news {
	return &news{store: store, log: log, ended: make(chan struct{}), streams: map[*stream]bool{}}
}

// run looks into the history until ctx ends, and then ends all streams.
func (n *news) run(ctx context.Context) {
	defer close(n.ended)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := n.look(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			n.log.Warn("pages of live runs wait for the history", "err", err)
		}
		failed = err != nil
	}
}

// look compares the history with what streams have seen. A new stream has seen nothing, so it gets an event.
func (n *news) look(ctx context.Context) error {
	streams := n.all()
	if len(streams) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var ids []string
	list := ""
	for _, s := range streams {
		ids = append(ids, s.runs...)
	}
	if slices.ContainsFunc(streams, func(s *stream) bool { return len(s.runs) == 0 }) {
		var err error
		if list, err = n.list(ctx); err != nil {
			return err
		}
	}
	slices.Sort(ids)
	runs, err := n.store.Versions(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	for _, s := range streams {
		s.see(runs, list)
	}
	return nil
}

// list returns a text that changes when one of the newest runs, or any live run, changes.
func (n *news) list(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, f := range []history.RunFilter{{Brief: true, Limit: pageRuns}, {Brief: true, Limit: mostLive, Where: history.LiveRuns{}}} {
		for run, err := range history.Readable(n.store.Runs(ctx, f), nil) {
			if err != nil {
				return "", err
			}
			b.WriteString(run.Run.ID + version(run))
		}
	}
	return b.String(), nil
}

// all returns the streams.
func (n *news) all() (list []*stream) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for s := range n.streams {
		list = append(list, s)
	}
	return list
}

// version returns a text that changes when anything of a run is stored, or people change it.
func version(run *mapping.Run) string {
	if run == nil {
		return " removed\n"
	}
	return fmt.Sprintf(" %s %v %q %q\n", run.Run.Ingest, run.Documents, run.Run.Labels, run.Run.Note)
}

// see sends an event if its runs have changed since the last look. Only one goroutine may call it.
func (s *stream) see(runs map[string]*mapping.Run, list string) {
	now := "looked\n"
	if len(s.runs) == 0 {
		now += list
	}
	for _, id := range s.runs {
		now += version(runs[id])
	}
	if now == s.seen {
		return
	}
	s.seen = now
	select {
	case s.stored <- struct{}{}:
	default: // the client has not taken the last event yet
	}
}

// enter adds a stream, unless there are too many.
func (n *news) enter(runs []string) (s *stream, leave func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.streams) >= mostStreams {
		return nil, nil
	}
	s = &stream{runs: runs, stored: make(chan struct{}, 1)}
	n.streams[s] = true
	return s, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.streams, s)
	}
}

// events answers with a stream of events: one now, and one whenever the history has more of the runs that the
// address names, or of the newest. A stream ends after [patience], and browsers then open another one.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	runs := r.URL.Query()["run"]
	if len(runs) > mostCompared {
		http.Error(w, fmt.Sprintf("at most %d runs", mostCompared), http.StatusBadRequest)
		return
	}
	own, leave := s.news.enter(runs)
	if own == nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d pages listen already", mostStreams), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // for nginx
	if r.Method == http.MethodHead {
		return
	}
	to := http.NewResponseController(w)
	_ = to.SetReadDeadline(time.Time{}) // no limit, because the request is already read
	send := func(text string) bool {
		_ = to.SetWriteDeadline(time.Now().Add(eventTimeout))
		_, err := io.WriteString(w, text)
		return err == nil && to.Flush() == nil
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for text, ok := ": live runs\nretry: 2000\n\n", true; ok && send(text); {
		select {
		case <-own.stored:
			text = "data: stored\n\n"
		case <-beat.C:
			text = ":\n\n"
		case <-s.news.ended:
			ok = false
		case <-r.Context().Done():
			ok = false
		}
	}
}

// eventsOf returns the address of the events of the live runs in a list, relative to home. It is empty if no run is
// live.
func eventsOf(runs []*mapping.Run, home string) string {
	v := url.Values{}
	for _, run := range runs {
		if run.Run.Live() {
			v.Add("run", run.Run.ID)
		}
	}
	if len(v) == 0 {
		return ""
	}
	return home + "events?" + v.Encode()
}
