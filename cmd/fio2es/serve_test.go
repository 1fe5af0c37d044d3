package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/mapping"
)

// lockedText is a buffer that can be read while it is written.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var servedAt = regexp.MustCompile(`is at (http://\S+/)\n`)

func startServe(t *testing.T, file, listen string) (address string, stderr *lockedText) {
	t.Helper()
	cfg := config.Default()
	cfg.History = file
	return serveBy(t, cfg, listen)
}

// serveBy serves a history until the test ends. The server must then end without an error.
func serveBy(t *testing.T, cfg config.Config, listen string) (address string, stderr *lockedText) {
	t.Helper()
	stderr = &lockedText{}
	e := newEnv(strings.NewReader(""), io.Discard, stderr)
	e.cfg = cfg
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, e, listen) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	for { // until it listens or ends
		if m := servedAt.FindStringSubmatch(stderr.String()); m != nil {
			return m[1], stderr
		}
		select {
		case err := <-ended:
			ended <- nil
			t.Fatalf("serve: %v: %s", err, stderr)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func browse(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	check(t, err)
	answer, err := http.DefaultClient.Do(r)
	check(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	check(t, err)
	return answer.StatusCode, string(text)
}

// filled returns a history of the example archive, and of logs with all kinds of values.
func filled(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history.db")
	corpus := func(name string) string { return filepath.Join("..", "..", "testdata", "corpus", name) }
	outputOf(t, "ingest", "--history", file, filepath.Join("..", "..", "examples", "cbt-archive"), corpus("stalls"), corpus("two-jobs-rw"), corpus("trim-write-read"))
	return file
}

// runsOf returns the ids that runs prints, in order.
func runsOf(t *testing.T, args ...string) []string {
	t.Helper()
	var ids []string
	lines := strings.Split(outputOf(t, append([]string{"runs", "--format", "csv"}, args...)...), "\n")
	for _, line := range lines[1:] {
		if id, _, some := strings.Cut(line, ","); some {
			ids = append(ids, id)
		}
	}
	return slices.Compact(ids)
}

var (
	ofServer = regexp.MustCompile(`\n<(?:nav|p class="title")><a href="[./]*(?:"|compare).*`)
	toRun    = regexp.MustCompile(`<a href="[./]*runs/[^"]*">([^<]*)</a>`)
	listed   = regexp.MustCompile(`data-title="Run"><a href="./runs/(\w+)">`)
)

// TestServe: pages are those that report writes, except for the links of a server. The list has the order of runs, in each
// order that it offers.
func TestServe(t *testing.T) {
	t.Parallel()
	file := filled(t)
	address, _ := startServe(t, file, "127.0.0.1:0")
	ids := runsOf(t, "--history", file)
	if len(ids) != 6 {
		t.Fatalf("%d runs", len(ids))
	}
	chosen := url.Values{"run": {ids[2], ids[0], ids[1]}}
	args := map[string][]string{"compare?" + chosen.Encode(): chosen["run"], "runs/latest": {"latest"}, "runs/" + ids[1][:6]: ids[1:2]}
	for _, id := range ids {
		args["runs/"+id] = []string{id}
	}
	for path, names := range args {
		code, page := browse(t, address+path)
		without := toRun.ReplaceAllString(ofServer.ReplaceAllString(page, ""), "$1")
		if want := outputOf(t, append([]string{"report", "--history", file}, names...)...); code != http.StatusOK || without != want || without == page {
			t.Errorf("%s: %d, and %d bytes, want %d", path, code, len(without), len(want))
		}
	}
	for _, order := range where.Orders() {
		sort := order.Name
		for _, text := range []string{"", "CBT", "nothing"} {
			_, page := browse(t, address+"?"+url.Values{"sort": {sort}, "text": {text}}.Encode())
			var got []string
			for _, m := range listed.FindAllStringSubmatch(page, -1) {
				got = append(got, m[1])
			}
			if want := runsOf(t, "--history", file, "--sort", sort, text); !slices.Equal(got, want) {
				t.Errorf("sort=%s text=%s: %v, want %v", sort, text, got, want)
			}
		}
	}
	code, page := browse(t, address)
	list := outputOf(t, "runs", "--history", file)
	for _, want := range []string{"cbt-archive:0/id-7c1f03ab randwrite 4K qd4", "2629", "8.96ms", "42.6ms", "25,600"} {
		if code != http.StatusOK || !strings.Contains(page, ">"+want+"<") || !strings.Contains(list, want) {
			t.Errorf("%d: no %s", code, want)
		}
	}
}

// TestServeLinks: every link on every page works.
func TestServeLinks(t *testing.T) {
	t.Parallel()
	address, _ := startServe(t, filled(t), "127.0.0.1:0")
	start, err := url.Parse(address)
	check(t, err)
	link := regexp.MustCompile(`<a href="([^"]*)"`)
	seen, next := map[string]bool{}, []*url.URL{start}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if at.Fragment = ""; seen[at.String()] {
			continue
		}
		seen[at.String()] = true
		code, page := browse(t, at.String())
		if code != http.StatusOK || at.Host != start.Host {
			t.Errorf("%s: %d", at, code)
		}
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			to, err := at.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			check(t, err)
			next = append(next, to)
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d pages", len(seen))
	}
}

// TestServeNothing: if a run has nothing to show, its page says so, and is not an error.
func TestServeNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "history.db")
	store, err := sqlite.Open(t.Context(), file)
	check(t, err)
	defer store.Close()
	for id, levels := range map[string][]mapping.Level{"aa": {mapping.Cluster}, "bb": {mapping.Job}} {
		run := &mapping.Run{Run: mapping.RunInfo{ID: id, Name: "run " + id, Ingest: "1", Start: time.Unix(1e9, 0), End: time.Unix(1e9+1, 0)}, Levels: levels}
		if id == "bb" {
			run.Documents.Job = 2
		}
		check(t, store.Finish(t.Context(), run))
	}
	address, _ := startServe(t, file, "127.0.0.1:0")
	for path, want := range map[string]string{
		"runs/aa":               "run aa: no percentiles over time: its files do not say what happened when",
		"runs/bb":               "run bb has no documents of level cluster: ingest it with --levels",
		"compare?run=bb&run=aa": "run bb has no documents of level cluster",
	} {
		if code, page := browse(t, address+path); code != http.StatusUnprocessableEntity || !strings.Contains(page, want) {
			t.Errorf("%s: %d, no %q in %s", path, code, want, page[strings.Index(page, "<main>"):])
		}
	}
}

func TestServeAddress(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "history.db")
	store, err := sqlite.Open(t.Context(), file)
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	address, stderr := startServe(t, file, "127.0.0.1:0")
	if text := stderr.String(); strings.Contains(text, "login") {
		t.Errorf("of this machine alone: %s", text)
	}
	e := newEnv(strings.NewReader(""), io.Discard, io.Discard)
	e.cfg = config.Default()
	e.cfg.History = file
	host := strings.Trim(strings.TrimPrefix(address, "http://"), "/")
	if err := serve(t.Context(), e, host); err == nil || !strings.Contains(err.Error(), "another program listens there") || e.conclude(err) != exitFailed {
		t.Errorf("the same address: %v", err)
	}
	if err := serve(t.Context(), e, "8600"); e.conclude(err) != exitUsage {
		t.Errorf("no address: %v", err)
	}
	address, stderr = startServe(t, file, ":0")
	if code, _ := browse(t, address+"healthz"); code != http.StatusOK {
		t.Errorf("%s: %d", address, code)
	}
	// It warns before it answers.
	if !strings.Contains(stderr.String(), "warning: there is no login: everyone who can reach this address can read the history") {
		t.Errorf("of all addresses: %s", stderr)
	}
}

func TestIsLocal(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"127.0.0.1": true, "127.0.0.2": true, "::1": true, "0.0.0.0": false, "::": false, "10.0.0.1": false} {
		if got := isLocal(&net.TCPAddr{IP: net.ParseIP(address)}); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if isLocal(&net.UnixAddr{}) {
		t.Error("no address of IP")
	}
}

// TestServeCluster does the same with a history in a real cluster.
func TestServeCluster(t *testing.T) {
	real, prefixes := cluster(t, "serve")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	with := func(args ...string) []string {
		return append(args, "--elasticsearch="+real.Address, "--prefix="+prefixes[0])
	}
	outputOf(t, with("setup")...)
	outputOf(t, with("ingest", filepath.Join("..", "..", "examples", "cbt-archive"))...)
	t.Setenv("FIO2ES_ELASTICSEARCH_ADDRESSES", real.Address)
	t.Setenv("FIO2ES_PREFIX", prefixes[0])
	cfg, err := config.Load("", pflag.NewFlagSet("serve", pflag.ContinueOnError))
	check(t, err)
	address, _ := serveBy(t, cfg, "127.0.0.1:0")
	for path, args := range map[string][]string{
		"runs/latest": {"latest"}, "runs/47e1": {"47e1"}, "compare?run=e87ec34a&run=5be8a100": {"e87ec34a", "5be8a100"},
	} {
		code, page := browse(t, address+path)
		if want := outputOf(t, with(append([]string{"report"}, args...)...)...); code != http.StatusOK || ofServer.ReplaceAllString(page, "") != want {
			t.Errorf("%s: %d, and %d bytes, want %d", path, code, len(page), len(want))
		}
	}
	if code, page := browse(t, address+"?text=randwrite&sort=p99"); code != http.StatusOK || len(listed.FindAllString(page, -1)) != 2 {
		t.Errorf("the list: %d\n%s", code, page)
	}
}
