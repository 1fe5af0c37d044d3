package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// slowServer answers some requests. All later ones get no answer, or one that comes byte by byte.
type slowServer struct {
	good   http.Handler
	drips  bool
	stuck  func() // called by the first request that gets no answer
	mu     sync.Mutex
	left   int
	paths  []string
	atOnce sync.Once
}

func (s *slowServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.left--
	good := s.left >= 0
	s.paths = append(s.paths, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	if good {
		s.good.ServeHTTP(w, r)
		return
	}
	s.atOnce.Do(s.stuck)
	_, _ = io.Copy(io.Discard, r.Body) // before this, the server does not notice that the client has gone
	if !s.drips {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	out := http.NewResponseController(w)
	for tick := time.NewTicker(500 * time.Millisecond); ; {
		if _, err := w.Write([]byte(" ")); err != nil || out.Flush() != nil {
			tick.Stop()
			panic(http.ErrAbortHandler)
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			tick.Stop()
			panic(http.ErrAbortHandler)
		}
	}
}

// answering is a cluster and a Kibana whose answers are good enough for the interrupted commands.
func answering(t *testing.T, run *mapping.Run) http.Handler {
	es := estest.New(templates.Names("fio")...)
	found := func(key string) string {
		const answer = `{"pit_id":"p","timed_out":false,"_shards":{"total":1,"successful":1,"failed":0},"hits":{"total":{"value":1},"hits":[{"_source":%s,"sort":[%s]}]}}`
		return fmt.Sprintf(answer, run.AppendJSON(nil), key)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := ""
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/_pit"):
			answer = `{"id":"p"}`
		case path == "/_search":
			answer = found(`1,"a",1`)
		case path == "/fio-runs/_search" && r.Method == http.MethodPost && strings.Contains(r.URL.RawQuery, "partial"):
			answer = found(`1,"a"`)
		case path == "/api/status":
			answer = `{"version":{"number":"8.19.0"}}`
		case path == "/api/saved_objects/_export":
			answer = `{}` // an object of an older version
		case strings.HasPrefix(path, "/_ilm"), strings.HasPrefix(path, "/_component_template"), strings.HasSuffix(path, "/_mapping"), path == "/_index_template":
			if answer = `{"acknowledged":true}`; r.Method == http.MethodGet {
				answer = `{}`
			}
		default:
			es.ServeHTTP(w, r)
			return
		}
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = w.Write([]byte(answer))
	})
}

// TestInterruptedAtSlowServer: if a server stops answering at every third request (with FIO2ES_TEST_SCALE=1 at any), or
// answers byte by byte, each command ends within a second after Ctrl-C. Time is that of the bubble, so other work of the machine does not count.
func TestInterruptedAtSlowServer(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, home)
	}
	t.Chdir(home)
	archive, history := filepath.Join(home, "archive"), filepath.Join(home, "h.db")
	generated(t, fiotest.ArchiveSpec{Runs: 2, Hosts: 1, Jobs: 1, Seconds: 3, Coarseness: 5, Seed: 1}, archive)
	if got := call(t, nil, "ingest", "--history", history, archive); got.code != 0 {
		t.Fatal(got.stderr)
	}
	one := historytest.NewRun("a", "1")
	const es, kibana = "--elasticsearch=http://localhost:9200", "--kibana=http://localhost:5601"
	for _, c := range []struct {
		args  []string
		least int // least number of requests at which the command is interrupted
	}{
		{[]string{"ingest", es, archive}, 6},
		{[]string{"push", es, "--history", history}, 6},
		{[]string{"runs", es}, 2},
		{[]string{"percentiles", es, "latest"}, 3},
		{[]string{"check", es}, 2},
		{[]string{"setup", es}, 6},
		{[]string{"setup", es, kibana}, 6},
		{[]string{"setup", kibana, "--kibana-space=lab"}, 2},
	} {
		for _, drips := range []bool{false, true} {
			t.Run(fmt.Sprint(c.args[0], " ", len(c.args), " ", drips), func(t *testing.T) {
				at := 0
				for interruptedAt(t, one, c.args, at, drips) && at < 30 {
					at += memtest.Scale(3, 1)
				}
				if at < c.least {
					t.Errorf("it was interrupted at %d requests, want %d", at, c.least)
				}
			})
		}
	}
}

// interruptedAt runs a command with a server that answers some requests, and interrupts it when it waits. It reports
// whether it had to.
func interruptedAt(t *testing.T, one *mapping.Run, args []string, answers int, drips bool) (stuck bool) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var mu sync.Mutex
		var began, at time.Time // when the server stopped answering, and when the command was interrupted
		s := &slowServer{good: answering(t, one), left: answers, drips: drips}
		s.stuck = func() {
			mu.Lock()
			defer mu.Unlock()
			began = time.Now()
			time.AfterFunc(12*time.Second, func() {
				mu.Lock()
				defer mu.Unlock()
				at = time.Now()
				cancel()
			})
		}
		dial, stop := estest.Pipe(s)
		defer stop()
		var out, errs bytes.Buffer
		e := newEnv(strings.NewReader(""), &out, &errs)
		e.dial = dial
		code := e.run(ctx, args)
		said := errs.String()
		mu.Lock()
		defer mu.Unlock()
		stuck = !began.IsZero()
		// it waited for an answer that it does not need
		if !stuck || at.IsZero() && time.Since(began) <= time.Second {
			return
		}
		if took := time.Since(at); at.IsZero() || took > time.Second {
			t.Errorf("after %v: it took %v to end", s.paths, took)
		}
		if code != exitFailed || !strings.HasSuffix(said, "interrupted\n") || !strings.Contains(said, "waiting for ") {
			t.Errorf("after %v: exit code %d, %s", s.paths, code, said)
		}
	})
	return stuck
}
