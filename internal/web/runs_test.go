package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/mapping"
)

var articles = regexp.MustCompile(`<h2>(?:<span[^>]*></span>)?([^<]*)</h2>\n<p class="title">`)

func reported(page string) string {
	var names []string
	for _, m := range articles.FindAllStringSubmatch(page, -1) {
		names = append(names, m[1])
	}
	return strings.Join(names, ", ")
}

func TestRuns(t *testing.T) {
	a, b, c := runOf(0, "a", 100), runOf(1, "b", 100), runOf(2, "c", 100)
	a.Run.ID, b.Run.ID, c.Run.ID = "aa00", "ab00", "cc00"
	p := serve(historyOf(t, a, b, c))
	var many strings.Builder
	for range mostCompared + 1 {
		many.WriteString("&run=aa00")
	}
	for _, c := range []struct {
		path  string
		code  int
		wants []string
		runs  string
	}{
		{"/runs/aa00", 200, []string{`<a href="../">Runs</a>`}, "a"},
		{"/runs/c", 200, nil, "c"},
		{"/runs/latest", 200, nil, "c"},
		{"/runs/a", 303, nil, ""},
		{"/runs/x", 404, []string{"No run in history.db has an id that begins with x", "fio2es ingest", `<a href="../">Runs</a>`}, ""},
		{"/runs/last:5", 400, []string{"last:5: want one run: an id or its beginning, latest, or latest~1"}, ""},
		{"/runs/latest~100", 404, []string{"latest~100: the history has only 3 runs, and the oldest is latest~2"}, ""},
		{"/runs/a/b", 404, []string{"No such page", `<a href="../../">Runs</a>`}, ""},
		{"/favicon.ico", 404, []string{"No such page"}, ""},
		{"/compare?run=cc00&run=a", 303, nil, ""},
		{"/compare?run=cc00&run=x", 404, []string{"an id that begins with x"}, ""},
		{"/compare?run=cc00&run=aa00", 200, []string{`<a href="./">Runs</a>`}, "1 c, 2 a"},
		{"/compare?run=cc00&run=aa00&base=earliest", 200, nil, "1 a, 2 c"},
		{"/compare?run=cc00", 200, nil, "c"},
		{"/compare?run=last:2", 200, nil, "1 c, 2 b"},
		{"/compare?run=last:5&base=earliest", 200, nil, "archive"},
		{"/compare?run=latest~2&run=same-as:latest", 200, nil, "archive"},
		{"/compare?run=name%3Db", 200, nil, "b"},
		{"/compare?run=name%3Dx", 404, []string{"no run matches --where &#39;name=x&#39;; the history has 3 runs"}, ""},
		{"/compare?run=bz%3D4k", 400, []string{"bz=4k: column 1: no field is called"}, ""},
		{"/compare", 200, []string{`name="run" value="" required`}, ""},
		{"/compare?run=a%22b&run=", 200, []string{`name="run" value="a&#34;b" required`}, ""},
		{"/compare?" + many.String()[1:], 400, []string{"at most 24 runs, and you chose 25"}, ""},
		{"/healthz", 200, []string{"ok\n"}, ""},
	} {
		w := p.get(t, c.path)
		page := w.Body.String()
		if w.Code != c.code || reported(page) != c.runs {
			t.Errorf("%s: %d of %q, want %d of %q", c.path, w.Code, reported(page), c.code, c.runs)
		}
		for _, want := range c.wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %s in\n%s", c.path, want, page)
			}
		}
	}
	if to := p.get(t, "/runs/a").Header().Get("Location"); to != "../?text=a" {
		t.Errorf("the list of runs is at %s", to)
	}
	if w := serve(historyOf(t)).get(t, "/runs/latest"); w.Code != http.StatusNotFound {
		t.Errorf("the newest of none: %d", w.Code)
	}
}

// TestTag: a report is made again only when its run has changed.
func TestTag(t *testing.T) {
	run := runOf(0, "a", 100)
	store := historyOf(t, run, runOf(1, "b", 100))
	p := serve(store)
	const policy = "Content-Security-Policy" // a browser takes it from the last answer
	path := "/runs/" + run.Run.ID
	first := p.get(t, path)
	tag := first.Header().Get("ETag")
	for _, known := range []string{tag, strings.TrimPrefix(tag, "W/"), `"x", ` + tag, "*"} {
		if w := p.get(t, path, "If-None-Match", known); w.Code != http.StatusNotModified || w.Body.Len() > 0 || w.Header().Get("ETag") != tag || w.Header().Get(policy) != first.Header().Get(policy) {
			t.Errorf("with %s: %d, %d bytes, %v", known, w.Code, w.Body.Len(), w.Header())
		}
	}
	if n := p.made.Load(); tag == "" || n != 1 {
		t.Errorf("%s: %d reports were made", tag, n)
	}
	if w := p.get(t, path, "If-None-Match", `"x", W/"y"`); w.Code != http.StatusOK || w.Body.String() != first.Body.String() {
		t.Errorf("with another tag: %d", w.Code)
	}
	if w := p.get(t, "/runs/latest", "If-None-Match", tag); w.Code != http.StatusOK {
		t.Errorf("another run: %d", w.Code)
	}
	changed := runOf(0, "a", 200)
	changed.Run.Ingest = "another"
	must(t, store.Finish(t.Context(), changed))
	if w := p.get(t, path, "If-None-Match", tag); w.Code != http.StatusOK || w.Header().Get("ETag") == tag {
		t.Errorf("changed: %d", w.Code)
	}
}

var (
	liveScript = regexp.MustCompile(`(?s)<script id="live">(.*?)</script>\n</body>`)
	metaPolicy = regexp.MustCompile(`"Content-Security-Policy" content="([^"]*)"`)
)

// TestLive: only the list and the pages of live runs show what the history gets later. Without scripts, browsers reload the reports.
func TestLive(t *testing.T) {
	live, done := runOf(0, "live", 100), runOf(1, "done", 100)
	live.Run.Ingest, live.Run.Complete = mapping.LiveIngest(began), false
	done.Run.Complete = false // the run was cut off
	p := serve(historyOf(t, live, done))
	for path, want := range map[string]string{
		"/": "list", "/?sort=p99": "list", "/runs/" + done.Run.ID: "", "/runs/zzz": "", "/workloads": "", "/runs/latest": "",
		"/runs/" + live.Run.ID: "report", "/compare?run=" + done.Run.ID + "&run=" + live.Run.ID: "report",
	} {
		w := p.get(t, path)
		page, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
		script := liveScript.FindStringSubmatch(page)
		if (script != nil) != (want != "") {
			t.Errorf("%s: has a script: %v", path, script != nil)
			continue
		}
		allowed := ""
		if script != nil {
			sum := sha256.Sum256([]byte(script[1]))
			allowed = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		}
		if want != "" && (!strings.Contains(policy, allowed) || !strings.Contains(policy, "; connect-src 'self'")) {
			t.Errorf("%s: the policy does not allow its script: %s", path, policy)
		}
		if has := strings.Contains(page, `<noscript><meta http-equiv="refresh" content="10"></noscript>`); has != (want == "report") {
			t.Errorf("%s: reloads without script: %v", path, has)
		}
		if meta := metaPolicy.FindStringSubmatch(page); meta != nil && html.UnescapeString(meta[1])+unframed != policy {
			t.Errorf("%s: the page says %s, and the header %s", path, meta[1], policy)
		}
	}
}

func TestGzip(t *testing.T) {
	run := runOf(0, "a", 100)
	p := serve(historyOf(t, run))
	for _, path := range []string{"/", "/runs/" + run.Run.ID} {
		plain, packed := p.get(t, path), p.get(t, path, "Accept-Encoding", "gzip, deflate, br")
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		size := packed.Body.Len()
		text, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(text, plain.Body.Bytes()) || size*2 > len(text) {
			t.Errorf("%s: %v, %d bytes for %d", path, err, size, len(text))
		}
		if packed.Header().Get("Vary") != "Accept-Encoding" || packed.Header().Get("Content-Length") != "" || plain.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %v", path, packed.Header())
		}
	}
}

// TestFailures: each failure has a status and says what to do.
func TestFailures(t *testing.T) {
	run := runOf(0, "a", 100)
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{query.RunError{Err: errors.New("ingest it with --levels cluster,host")}, 422, "ingest it with --levels cluster,host"},
		{fmt.Errorf("read history: %w", history.ErrBusy), 503, "another process is writing"},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), 503, "with fewer runs"},
		{fmt.Errorf("read history x.db: %w", history.ErrDamaged), 500, "read history x.db: not a history file, or damaged"},
	} {
		p := serve(historyOf(t, run), func(s *site) {
			s.page = func(context.Context, []*mapping.Run, report.Options) (*report.Page, error) { return nil, c.err }
		})
		w := p.get(t, "/runs/"+run.Run.ID)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) || w.Header().Get("ETag") != "" {
			t.Errorf("%v: %d %v %s", c.err, w.Code, w.Header(), w.Body)
		}
	}
}

// TestAtOnce: only a few reports are made at the same time. If the browser disconnects while its report waits, the
// report is not made.
func TestAtOnce(t *testing.T) {
	var store memory
	for i := range reportsAtOnce + 2 {
		store.runs = append(store.runs, runOf(i, "a", 100))
	}
	synctest.Test(t, func(t *testing.T) {
		begun, end := 0, make(chan struct{})
		var mu sync.Mutex
		p := serve(store, func(s *site) {
			s.page = func(ctx context.Context, runs []*mapping.Run, how report.Options) (*report.Page, error) {
				mu.Lock()
				begun++
				mu.Unlock()
				<-end
				return s.report(ctx, runs, how)
			}
		})
		ctx, leave := context.WithCancel(t.Context())
		var codes [reportsAtOnce + 2]int
		var wait sync.WaitGroup
		ask := func(i int, ctx context.Context) {
			wait.Go(func() {
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/runs/"+store.runs[i].Run.ID, nil)
				r.Host = "localhost"
				codes[i] = p.ask(r).Code
			})
			synctest.Wait()
		}
		for i := range reportsAtOnce {
			ask(i, t.Context())
		}
		ask(reportsAtOnce, ctx)
		if begun != reportsAtOnce {
			t.Fatalf("%d reports at once", begun)
		}
		leave()
		synctest.Wait()
		ask(reportsAtOnce+1, t.Context())
		close(end)
		wait.Wait()
		if begun != reportsAtOnce+1 || codes[0] != 200 || codes[reportsAtOnce+1] != 200 {
			t.Errorf("%d reports, codes %v", begun, codes)
		}
	})
}

// TestPatience: a report that takes too long is cancelled.
func TestPatience(t *testing.T) {
	run := runOf(0, "a", 100)
	synctest.Test(t, func(t *testing.T) {
		p := serve(memory{runs: []*mapping.Run{run}}, func(s *site) {
			s.page = func(ctx context.Context, _ []*mapping.Run, _ report.Options) (*report.Page, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		if w := p.get(t, "/runs/"+run.Run.ID); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d", w.Code)
		}
	})
}

// TestExecution: the page of an execution has all of its stages, in their order. The page of a stage links to it, and to those
// of its neighbours that the history has.
func TestExecution(t *testing.T) {
	execution := strings.Repeat("ee", 10)
	var runs []*mapping.Run
	for _, n := range []int{1, 2, 4} { // the third was removed
		run := runOf(n, fmt.Sprintf("job/s%d", n), 100)
		run.Run.StageName, run.Run.Execution, run.Run.Stage, run.Run.Stages = fmt.Sprintf("s%d", n), execution, n, 4
		run.Run.ID = mapping.StageID(execution, n, 4)
		runs = append(runs, run)
	}
	p := serve(historyOf(t, append(runs, runOf(9, "alone", 100))...))
	first, second := runs[0].Run.ID, runs[1].Run.ID
	for _, c := range []struct {
		path        string
		code        int
		wants, nots []string
		runs        string
	}{
		{
			"/executions/eeee", 200, []string{`<h2 id="summary">eeeeeeee archive:job, 4 stages</h2>`, `<a href="#run-4">4/4</a></td><td class="text name" data-title="Name">s4</td>`},
			[]string{"against run"}, "1 job/s1, 2 job/s2, 4 job/s4",
		},
		{"/compare?run=" + first + "&run=" + second, 200, []string{"Run 2 against run 1"}, nil, "1 job/s1, 2 job/s2"},
		{"/executions/" + second, 200, nil, nil, "1 job/s1, 2 job/s2, 4 job/s4"},
		{"/executions/x", 404, []string{"x: no such run"}, nil, ""},
		{"/executions/last:2", 400, []string{"want execution:RUN"}, nil, ""},
		{
			"/runs/" + second, 200, []string{`Stage 2 of 4 of one call of fio · <a href="../executions/` + execution + `">all stages</a> · <a href="../runs/` + first + `">1: s1</a></p>`},
			nil, "job/s2",
		},
		{"/runs/latest", 200, nil, []string{"one call of fio"}, "alone"},
		{"/?sort=start", 200, []string{`<span class="label"><a href="./executions/` + execution + `">stage 2/4</a></span>`}, nil, ""},
	} {
		w := p.get(t, c.path)
		page := w.Body.String()
		if w.Code != c.code || reported(page) != c.runs {
			t.Errorf("%s: %d %q", c.path, w.Code, reported(page))
		}
		for _, want := range c.wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %s:\n%s", c.path, want, page[max(0, strings.Index(page, "<main>")):])
			}
		}
		for _, not := range c.nots {
			if strings.Contains(page, not) {
				t.Errorf("%s: has %s", c.path, not)
			}
		}
	}
	// the list has the stages in their order, and the newest run before them
	at, list := -1, p.get(t, "/").Body.String()
	for _, name := range []string{"alone", "job/s1", "job/s2", "job/s4"} {
		next := strings.Index(list, `aria-label="choose archive:`+name)
		if next <= at {
			t.Errorf("%s is at %d, after %d", name, next, at)
		}
		at = next
	}
}

// TestArchives: the list has all archives, and each has a page of its tests, which is compared with the one before and with a baseline.
func TestArchives(t *testing.T) {
	var runs []*mapping.Run
	for i, archive := range []string{"night-1", "night-1", "night-1", "night-2", "night-2", "night-2", "alone", "a b?/#"} {
		run := runOf(i, fmt.Sprint("r", i), 100)
		run.Run.ID, run.Run.Archive, run.CBT.IODepth = fmt.Sprintf("%02d", i), archive, int64(1+i%3)
		run.Fio.Options = nil
		runs = append(runs, run)
	}
	runs[4].Run.Complete = false
	p := serve(historyOf(t, runs...))
	for _, c := range []struct {
		path  string
		code  int
		wants []string
		runs  string
	}{
		{"/archives", 200, []string{`<a href="./archives" aria-current="page">Archives</a>`, `<a href="archives/night-2">night-2</a>`, ">1 incomplete</td>", `<a href="archives/a%20b%3F%2F%23">a b?/#</a>`}, ""},
		{"/archives?where=archive%3Dalone", 200, []string{`<a href="archives/alone">alone</a>`}, ""},
		{"/archives?where=bz%3D4k", 400, []string{"no field is called"}, ""},
		{"/archives/night-2", 200, []string{"Against the night before, night-1 ", `href="../runs/03"`, `<a href="../archives">Archives</a>`, ": incomplete</li>"}, "night-2"},
		{"/archives/night-1", 200, []string{">too few runs</td>"}, "night-1"},
		{"/archives/night-2?against=last:2", 200, []string{"Against the baseline, last:2 "}, "night-2"},
		{"/archives/night-2?against=bz%3D4k", 400, []string{"no field is called"}, ""},
		{"/archives/alone", 200, []string{`<a href="../archives/alone">All of alone</a>`}, "r6"},
		{"/archives/a%20b%3F%2F%23", 200, nil, "r7"},
		{"/archives/night-3", 404, []string{"has the archive night-3"}, ""},
	} {
		w := p.get(t, c.path)
		page := w.Body.String()
		if w.Code != c.code || reported(page) != c.runs {
			t.Errorf("%s: %d of %q, want %d of %q", c.path, w.Code, reported(page), c.code, c.runs)
		}
		for _, want := range c.wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %s in\n%s", c.path, want, page[max(0, strings.Index(page, "<main>")):])
			}
		}
	}
	// a browser that has the page does not get it again
	first := p.get(t, "/archives/night-2")
	if w := p.get(t, "/archives/night-2", "If-None-Match", first.Header().Get("ETag")); w.Code != http.StatusNotModified || first.Header().Get("ETag") == "" {
		t.Errorf("known: %d", w.Code)
	}
}
