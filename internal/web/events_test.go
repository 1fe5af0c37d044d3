package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// changing is a history of live runs. It counts how often it is read.
type changing struct {
	history.Store
	mu    sync.Mutex
	runs  []*mapping.Run
	err   error
	looks int
}

func (c *changing) Versions(_ context.Context, ids []string) (map[string]*mapping.Run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	all := map[string]*mapping.Run{}
	for _, run := range c.runs {
		if slices.Contains(ids, run.Run.ID) {
			all[run.Run.ID] = run
		}
	}
	return all, c.err
}

func (c *changing) Runs(_ context.Context, f history.RunFilter) iter.Seq2[*mapping.Run, error] {
	c.mu.Lock()
	defer c.mu.Unlock()
	runs := slices.Clone(c.runs)
	return f.Select(func(yield func(*mapping.Run, error) bool) {
		for _, run := range runs {
			if !yield(run, nil) {
				return
			}
		}
	})
}

// count returns how often the history was read.
func (c *changing) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looks
}

// fail makes all reads fail with err, or succeed again if err is nil.
func (c *changing) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// store changes run i.
func (c *changing) store(i int, change func(*mapping.Run)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run := *c.runs[i]
	change(&run)
	c.runs[i] = &run
}

func another(run *mapping.Run) { run.Documents.Cluster++ }

// listening is a server of a changing history, in a synctest bubble.
type listening struct {
	*changing
	*pipes
	client *http.Client
	stop   func()
	ended  chan error
}

func listen(t *testing.T, runs ...*mapping.Run) *listening {
	ctx, stop := context.WithCancel(t.Context())
	l := &listening{&changing{runs: runs}, newPipes(), nil, stop, make(chan error, 1)}
	l.client = l.pipes.client()
	pages := New(ctx, Options{Store: l.changing, Local: true})
	go func() { l.ended <- Serve(ctx, l.pipes, pages, slog.New(slog.DiscardHandler)) }()
	return l
}

// end stops the server, which must not wait for streams.
func (l *listening) end(t *testing.T) {
	t.Helper()
	began := time.Now()
	l.stop()
	if err := <-l.ended; err != nil || time.Since(began) > time.Second {
		t.Errorf("%v, after %v", err, time.Since(began))
	}
	l.client.CloseIdleConnections()
}

// follow listens to a stream. lines is closed when the stream ends.
func (l *listening) follow(t *testing.T, query string) (lines chan string, leave func()) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost:8600/events"+query, nil)
	answer, err := l.client.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(answer, err)
	}
	lines = make(chan string, 1000)
	go func() {
		defer close(lines)
		defer answer.Body.Close()
		for s := bufio.NewScanner(answer.Body); s.Scan(); {
			if s.Text() != "" {
				lines <- s.Text()
			}
		}
	}()
	return lines, leave
}

// after waits for d, and returns the lines that came.
func after(d time.Duration, lines chan string) string {
	time.Sleep(d)
	synctest.Wait()
	var got []string
	for len(lines) > 0 {
		got = append(got, <-lines)
	}
	return strings.Join(got, " ")
}

// TestEvents: a stream gets an event at once and when its runs change, and heartbeats.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := runOf(0, "a", 100), runOf(1, "b", 100)
		l := listen(t, a, b)
		defer l.end(t)
		time.Sleep(time.Minute)
		if n := l.count(); n != 0 {
			t.Errorf("%d looks without a stream", n)
		}
		one, leave := l.follow(t, "?run="+a.Run.ID)
		both, leaveBoth := l.follow(t, "?run="+b.Run.ID+"&run="+a.Run.ID)
		list, leaveList := l.follow(t, "")
		const stored = "data: stored"
		expect := func(doing string, d time.Duration, wantOne, wantBoth, wantList string) {
			t.Helper()
			gotOne := after(d, one)
			if gotBoth, gotList := after(0, both), after(0, list); gotOne != wantOne || gotBoth != wantBoth || gotList != wantList {
				t.Errorf("%s: %q, %q, %q, want %q, %q, %q", doing, gotOne, gotBoth, gotList, wantOne, wantBoth, wantList)
			}
		}
		first := ": live runs retry: 2000 " + stored
		expect("begin", lookEvery, first, first, first)
		expect("nothing new", 4*lookEvery, "", "", "")
		l.store(0, another)
		l.store(0, another)
		expect("windows", lookEvery, stored, stored, stored)
		l.store(1, another)
		expect("of another run", lookEvery, "", stored, stored)
		expect("heartbeat", lookEvery, ":", ":", ":")
		l.store(0, func(r *mapping.Run) { r.Run.Ingest = "1" })
		expect("over", lookEvery, stored, stored, stored)
		l.store(0, func(r *mapping.Run) { r.Run.Note = "slow disk" })
		expect("note", lookEvery, stored, stored, stored)
		l.store(1, func(r *mapping.Run) { r.Run.ID = "removed" })
		expect("removed", lookEvery, "", stored, stored)
		l.fail(errors.New("the store is away"))
		l.store(0, another)
		expect("away", lookEvery, "", "", "")
		l.fail(nil)
		expect("back", lookEvery, stored, stored, stored)
		leave()
		leaveBoth()
		leaveList()
		synctest.Wait()
		looks := l.count()
		if time.Sleep(time.Minute); l.count() != looks {
			t.Error("it looks without a stream")
		}
	})
}

// TestOldLive: the list's events are about all live runs, for any number of newer runs.
func TestOldLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs []*mapping.Run
		for i := range 2 * pageRuns {
			runs = append(runs, runOf(2*pageRuns-i, "a", 100))
		}
		old := len(runs) - 1
		runs[old].Run.Ingest = mapping.LiveIngest(began)
		l := listen(t, runs...)
		defer l.end(t)
		lines, leave := l.follow(t, "")
		after(lookEvery, lines)
		for _, what := range []struct {
			name   string
			change func(*mapping.Run)
		}{{"windows", another}, {"the end", func(run *mapping.Run) { run.Run.Ingest = "1" }}} {
			l.store(old, what.change)
			if got := after(lookEvery, lines); got != "data: stored" {
				t.Errorf("%s: %q", what.name, got)
			}
		}
		leave()
	})
}

// TestStreams: the number of streams is limited, and one look serves all. They end with the server, or after
// patience.
func TestStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listen(t, runOf(0, "a", 100))
		var streams []chan string
		var leave func()
		for range mostStreams {
			var lines chan string
			lines, leave = l.follow(t, "?run="+l.runs[0].Run.ID)
			streams = append(streams, lines)
		}
		status := func(method, query string) int {
			r, _ := http.NewRequestWithContext(t.Context(), method, "http://localhost:8600/events"+query, nil)
			answer, err := l.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			return answer.StatusCode
		}
		if got := status(http.MethodGet, ""); got != http.StatusServiceUnavailable {
			t.Errorf("one more: %d", got)
		}
		leave()
		synctest.Wait()
		if got := status(http.MethodHead, ""); got != http.StatusOK {
			t.Errorf("HEAD: %d", got)
		}
		if got := status(http.MethodGet, "?"+strings.Repeat("run=a&", mostCompared+1)); got != http.StatusBadRequest {
			t.Errorf("too many runs: %d", got)
		}
		if time.Sleep(time.Minute); l.count() > int(time.Minute/lookEvery)+1 {
			t.Errorf("%d looks in a minute", l.count())
		}
		for _, lines := range streams[:mostStreams-1] {
			if got := after(0, lines); !strings.HasSuffix(got, "data: stored : : : :") && !strings.HasSuffix(got, "data: stored : : :") {
				t.Fatalf("%q", got)
			}
		}
		time.Sleep(patience)
		after(0, streams[0])
		if _, ok := <-streams[0]; ok {
			t.Error("it never ends")
		}
		lines, _ := l.follow(t, "")
		l.end(t)
		after(0, lines)
		if _, ok := <-lines; ok {
			t.Error("it does not end with the server")
		}
	})
}

// TestSlowListener: a client that does not take events loses its stream.
func TestSlowListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := listen(t, runOf(0, "a", 100))
		defer l.end(t)
		ours, theirs := net.Pipe()
		l.dialed <- theirs
		_, _ = io.WriteString(ours, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
		time.Sleep(eventTimeout + time.Second)
		synctest.Wait()
		if _, err := io.ReadAll(ours); err != nil {
			t.Error(err)
		}
		looks := l.count()
		if time.Sleep(time.Minute); l.count() != looks {
			t.Error("it still has a stream")
		}
	})
}
