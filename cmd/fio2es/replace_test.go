package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// watchedServer is a stand-in that checks its documents after each request that changes some, and interrupts the
// program at one of them.
type watchedServer struct {
	*estest.Server
	http      *httptest.Server
	mu        sync.Mutex
	left      int // requests until the interruption; never below 1
	interrupt func()
	fault     error
}

func newWatched(t *testing.T) (*watchedServer, string) {
	t.Helper()
	return watched(t, estest.New(templates.Names("fio")...))
}

func watched(t *testing.T, server *estest.Server) (*watchedServer, string) {
	t.Helper()
	w := &watchedServer{Server: server}
	return w, w.reopen(t)
}

// reopen ends the server after all requests are answered, and opens it at another address.
func (w *watchedServer) reopen(t *testing.T) (address string) {
	t.Helper()
	if w.http != nil {
		w.http.Close()
	}
	w.http = httptest.NewServer(w)
	t.Cleanup(w.http.Close)
	return w.http.URL
}

func (w *watchedServer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.left--
	isLast := w.left == 0
	w.mu.Unlock()
	w.Server.ServeHTTP(out, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if path := r.URL.Path; strings.Contains(path, "_bulk") || strings.Contains(path, "_by_query") || strings.Contains(path, "_refresh") {
		if err := w.shownOnce(); err != nil && w.fault == nil {
			w.fault = fmt.Errorf("after %s: %w", path, err)
		}
	}
	if isLast {
		w.interrupt()
	}
}

// shownOnce fails if dashboards, which leave out pending documents, show two versions of a run, or a document in two indices.
func (w *watchedServer) shownOnce() error {
	seen := map[string]string{}
	all := documentsBy(w.Server)
	for id, text := range all {
		first, _, isTwice := strings.Cut(id, " in ")
		if isTwice && !strings.Contains(text, `"pending":true`) && !strings.Contains(all[first], `"pending":true`) {
			return fmt.Errorf("document %s is shown twice", first)
		}
		var d struct {
			Run struct {
				ID, Ingest string
				Pending    bool
			}
		}
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			return err
		}
		other, ok := seen[d.Run.ID]
		switch {
		case d.Run.Pending:
		case ok && other != d.Run.Ingest:
			return fmt.Errorf("run %s is shown in versions %s and %s", d.Run.ID, other, d.Run.Ingest)
		default:
			seen[d.Run.ID] = d.Run.Ingest
		}
	}
	return nil
}

// TestReplacementInterrupted interrupts ingest and push of runs that the cluster has in another version, at every third
// of their requests, with FIO2ES_TEST_SCALE=1 at each. Dashboards show at most one version. The next call leaves the
// cluster as if there had been no interruption.
func TestReplacementInterrupted(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "lab")
	generated(t, fiotest.ArchiveSpec{Runs: 2, Hosts: 2, Jobs: 1, Seconds: 3, Coarseness: 6, Seed: 3}, archive)
	fio2es := func(ctx context.Context, args ...string) called {
		var out, errs bytes.Buffer
		code := run(ctx, slices.Insert(slices.Clone(args), 1, "--config", emptySettings), strings.NewReader(""), &out, &errs)
		return called{code, out.String(), errs.String()}
	}
	ingest := func(interval string, to ...string) {
		if c := fio2es(t.Context(), append([]string{"ingest", "--interval", interval, archive}, to...)...); c.code != 0 {
			t.Fatal(c.stderr)
		}
	}
	before, address := newWatched(t)
	ingest("1s", "--elasticsearch", address)
	other, address := newWatched(t)
	ingest("2s", "--elasticsearch", address)
	months, address := newWatched(t) // the same version, in the indices of a cluster that deletes old ones
	months.Months = true
	ingest("2s", "--elasticsearch", address)
	months.Months = false
	want, db := documentsBy(other.Server), filepath.Join(t.TempDir(), "h.db")
	ingest("2s", "--history", db) // a later version, so push replaces what the cluster has
	plain := []string{"ingest", "--threads", "1", "--interval", "2s", archive}
	forced := append(slices.Clone(plain), "--force")
	for name, c := range map[string]struct {
		before      *watchedServer
		args, again []string
	}{
		"ingest":               {before, plain, plain},
		"push":                 {before, []string{"push", "--history", db}, []string{"push", "--history", db}},
		"months to years":      {months, forced, forced},
		"months, then nothing": {months, forced, plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for last, interrupted := 1, true; interrupted; last += memtest.Scale(3, 1) {
				server, address := watched(t, c.before.Copy())
				args := append(slices.Clone(c.args), "--elasticsearch", address)
				ctx, interrupt := context.WithCancel(t.Context())
				server.mu.Lock()
				server.left, server.interrupt = last, interrupt
				server.mu.Unlock()
				fio2es(ctx, args...)
				interrupted = ctx.Err() != nil
				interrupt()
				address = server.reopen(t)          // after all requests are answered, also those for whose answer the program no longer waits
				if name == "months, then nothing" { // which finds what is visible
					post(t, address, "/_all/_refresh", "")
				}
				again := append(slices.Clone(c.again), "--elasticsearch", address)
				if c := fio2es(t.Context(), again...); c.code != 0 {
					t.Fatalf("%d requests: again: %s", last, c.stderr)
				}
				for _, index := range server.Indices() {
					isMonth := strings.Count(index, ".") > 1
					if n := len(server.Documents(index)); n > 0 && isMonth && name != "months, then nothing" {
						t.Errorf("%d requests: %d documents in %s", last, n, index)
					}
				}
				if got := documentsBy(server.Server); !maps.Equal(got, want) {
					t.Errorf("%d requests: %d documents, want %d", last, len(got), len(want))
				}
				if server.fault != nil {
					t.Errorf("%d requests: %v", last, server.fault)
				}
				if last > 200 {
					t.Fatal("it never ends")
				}
			}
		})
	}
}

// TestPendingIsShown: a run is complete, but after an interruption some of its documents are pending. The next
// ingest shows them, although it remembers that these files were stored in this version.
func TestPendingIsShown(t *testing.T) {
	t.Parallel()
	server, address := standIn(t, nil)
	outAndErr(t, 0, "ingest", "--elasticsearch", address, exampleArchive)
	whole := documentsBy(server)
	var bulk strings.Builder
	for id, text := range whole {
		level := regexp.MustCompile(`"level":"(\w+)"`).FindStringSubmatch(text)[1]
		fmt.Fprintf(&bulk, `{"index":{"_index":"fio-latency.%s-2026","_id":%q}}`+"\n%s\n", level, id, strings.Replace(text, `"run":{`, `"run":{"pending":true,`, 1))
	}
	post(t, address, "/_bulk", bulk.String())
	post(t, address, "/_all/_refresh", "")
	_, errs := outAndErr(t, 0, "ingest", "--elasticsearch", address, exampleArchive)
	expect(t, "ingest", errs, "note: finished replacing ", "; 3 unchanged")
	if got := documentsBy(server); !maps.Equal(got, whole) {
		t.Errorf("%d documents, want %d", len(got), len(whole))
	}
}

// TestAtOnce: several ingests store the same runs with other settings at the same time, and delete each other's
// documents. All succeed, and at the end the cluster has one version of each run, with all of its documents.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "lab")
	generated(t, fiotest.ArchiveSpec{Runs: 2, Hosts: 2, Jobs: 1, Seconds: 6, Coarseness: 6, Seed: 3}, archive)
	want := map[string]map[string]string{} // documents by the run's version
	intervals := []string{"1s", "2s", "3s"}
	versions := func(server *estest.Server) map[string]map[string]string {
		all := map[string]map[string]string{}
		for id, text := range documentsBy(server) {
			var d struct{ Run mapping.RunRef }
			check(t, json.Unmarshal([]byte(text), &d))
			key := d.Run.ID + " " + d.Run.Ingest
			if all[key] == nil {
				all[key] = map[string]string{}
			}
			all[key][id] = text
		}
		return all
	}
	for _, interval := range intervals {
		server, address := standIn(t, nil)
		outAndErr(t, 0, "ingest", "--interval", interval, "--elasticsearch", address, archive)
		maps.Copy(want, versions(server))
	}
	for range memtest.Scale(2, 5) {
		server, address := standIn(t, nil)
		var all sync.WaitGroup
		for _, interval := range intervals {
			all.Go(func() {
				if c := call(t, nil, "ingest", "--interval", interval, "--elasticsearch", address, archive); c.code != 0 {
					t.Errorf("%s: exit code %d: %s", interval, c.code, c.stderr)
				}
			})
		}
		all.Wait()
		got := versions(server)
		for key, docs := range got {
			if !maps.Equal(docs, want[key]) {
				t.Errorf("%s: %d documents, want %d", key, len(docs), len(want[key]))
			}
		}
		if out, _ := outAndErr(t, 0, "check", "--elasticsearch", address); len(got) != 2 || !strings.Contains(out, "; 0 problems") {
			t.Errorf("%d versions of 2 runs: %s", len(got), out)
		}
	}
}

// TestLateRequest: a bulk request is answered by 504, sent again, and carried out once more by the server when the run is
// complete. The documents stay visible.
func TestLateRequest(t *testing.T) {
	t.Parallel()
	server, address := standIn(t, nil)
	outAndErr(t, 0, "ingest", "--interval", "1s", "--elasticsearch", address, exampleArchive)
	var mu sync.Mutex
	var late []string
	server.Before = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		if !strings.HasSuffix(r.URL.Path, "_bulk") || slices.Contains(late, string(body)) {
			return false
		}
		late = append(late, string(body))
		w.WriteHeader(http.StatusGatewayTimeout)
		return true
	}
	outAndErr(t, 0, "ingest", "--interval", "2s", "--elasticsearch", address, exampleArchive)
	want := documentsBy(server)
	if len(late) == 0 {
		t.Fatal("no request")
	}
	for _, body := range late {
		post(t, address, "/_bulk", body)
	}
	post(t, address, "/_all/_refresh", "")
	if got := documentsBy(server); !maps.Equal(got, want) {
		t.Errorf("%d documents, %d before the late requests, or others", len(got), len(want))
	}
	out, _ := outAndErr(t, 0, "check", "--elasticsearch", address)
	expect(t, "check", out, "; 0 problems")
}

// TestRestoreInterrupted interrupts an ingest and a push that store a removed run again, at each or every third of their requests. Where
// the run is there afterwards, it has its labels and its note.
func TestRestoreInterrupted(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "lab")
	generated(t, fiotest.ArchiveSpec{Runs: 1, Hosts: 2, Jobs: 1, Seconds: 3, Coarseness: 6, Seed: 3}, archive)
	fio2es := func(ctx context.Context, args ...string) called {
		var out, errs bytes.Buffer
		code := run(ctx, slices.Insert(slices.Clone(args), 1, "--config", emptySettings), strings.NewReader(""), &out, &errs)
		return called{code, out.String(), errs.String()}
	}
	before, address := newWatched(t)
	db := filepath.Join(t.TempDir(), "h.db")
	for _, args := range [][]string{
		{"ingest", "--history", db, archive}, {"push", "--history", db, "--elasticsearch", address},
		{"label", "latest", "release=reef", "--elasticsearch", address}, {"note", "latest", "the slow disk", "--elasticsearch", address},
		{"rm", "latest", "--yes", "--elasticsearch", address},
	} {
		if c := fio2es(t.Context(), args...); c.code != 0 {
			t.Fatalf("%v: %s", args, c.stderr)
		}
	}
	for name, args := range map[string][]string{
		"ingest": {"ingest", "--restore", archive}, "push": {"push", "--restore", "--history", db},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored := 0
			for last, interrupted := 1, true; interrupted; last += memtest.Scale(3, 1) {
				server, address := watched(t, before.Copy())
				ctx, interrupt := context.WithCancel(t.Context())
				server.mu.Lock()
				server.left, server.interrupt = last, interrupt
				server.mu.Unlock()
				fio2es(ctx, append(slices.Clone(args), "--elasticsearch", address)...)
				interrupted = ctx.Err() != nil
				interrupt()
				list := fio2es(t.Context(), "runs", "--columns", "run,label.release,note", "--format", "csv", "--elasticsearch", address)
				if strings.Count(list.stdout, "\n") < 2 {
					continue
				}
				stored++
				if !strings.Contains(list.stdout, "reef") || !strings.Contains(list.stdout, "the slow disk") {
					t.Errorf("%d requests: %s", last, list.stdout)
				}
				if c := fio2es(t.Context(), "check", "--elasticsearch", address); !strings.Contains(c.stdout, "; 0 problems") {
					t.Errorf("%d requests: %s", last, c.stdout)
				}
			}
			if stored < 2 {
				t.Errorf("the run was there %d times", stored)
			}
		})
	}
}
