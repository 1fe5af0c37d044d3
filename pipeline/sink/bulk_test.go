package sink_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/internal/elastic/elastictest"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/sink"
)

var _ sink.Sink = (*sink.Elastic)(nil)

var templates = []string{"fio-latency-cluster", "fio-latency-host", "fio-latency-job", "fio-runs"}

// world is a stand-in cluster and a sink for it, in a bubble of synctest.
type world struct {
	t      *testing.T
	server *elastictest.Server
	client *elastic.Client
	*sink.Elastic
}

// inBubble runs a test where waiting takes no time. All goroutines must have ended when
// it returns, or synctest fails it.
func inBubble(t *testing.T, o sink.Options, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, server: elastictest.New(templates...)}
		dial, stop := w.server.Pipe()
		defer stop()
		w.client = newClient(t, elastic.Config{Dial: dial, Timeout: 30 * time.Second})
		defer w.client.Close()
		w.Elastic = sink.NewElastic(w.client, o)
		defer w.Close()
		test(w)
	})
}

func newClient(t testing.TB, c elastic.Config) *elastic.Client {
	t.Helper()
	client, err := elastic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// holds tells how the store differs from the documents that should be in it.
func holds(server *elastictest.Server, docs []*mapping.Interval, without map[string]bool) error {
	want := make(map[string]map[string]string)
	for _, d := range docs {
		if index := d.Index("fio"); !without[d.ID()] {
			if want[index] == nil {
				want[index] = make(map[string]string)
			}
			want[index][d.ID()] = string(d.AppendJSON(nil))
		}
	}
	for _, index := range server.Indices() {
		if !strings.HasPrefix(index, "fio-latency.") {
			continue
		}
		got := server.Documents(index)
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want[index]))) {
			return fmt.Errorf("%s has %d documents, want %d", index, len(got), len(want[index]))
		}
		for id, text := range got {
			if string(text) != want[index][id] {
				return fmt.Errorf("%s %s has another content", index, id)
			}
		}
		delete(want, index)
	}
	if len(want) > 0 && len(docs) > len(without) {
		return fmt.Errorf("there is no index %v", slices.Collect(maps.Keys(want)))
	}
	return nil
}

func (w *world) holds(docs []*mapping.Interval) {
	w.t.Helper()
	if err := holds(w.server, docs, nil); err != nil {
		w.t.Error(err)
	}
}

func (w *world) put(docs ...*mapping.Interval) {
	w.t.Helper()
	if err := w.Put(w.t.Context(), docs); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) finish(name, ingest string) {
	w.t.Helper()
	run := historytest.NewRun(name, ingest)
	if err := w.Finish(w.t.Context(), run); err != nil {
		w.t.Fatal(err)
	}
	if got := w.server.Documents("fio-runs")[run.ID()]; string(got) != string(run.AppendJSON(nil)) {
		w.t.Errorf("the run's document is %s", got)
	}
}

func TestElastic(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		docs := historytest.Intervals("a", "1", 50)
		w.put(docs[:30]...)
		w.put()
		w.put(docs[30:]...)
		w.finish("a", "1")
		w.holds(docs)
		if st := w.Stats(); st.Queued != 51 || st.Indexed != 51 || st.Requests != 2 || st.Retried+st.Rejected+st.TooMany != 0 || st.Wire*2 > st.Bytes {
			t.Errorf("%+v", st)
		}
		// Another version replaces it: fewer documents, and one at another level.
		docs = historytest.Intervals("a", "22", 20)
		docs[7].Level, docs[7].Host.Name = mapping.Host, "h"
		w.put(docs...)
		w.finish("a", "22")
		w.holds(docs)
		// The same again changes nothing.
		w.put(docs...)
		w.put(docs[:3]...)
		w.finish("a", "22")
		w.holds(docs)
	})
}

// TestTimedFlush: what does not fill a request is sent after a second.
func TestTimedFlush(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		docs := historytest.Intervals("a", "1", 3)
		w.put(docs...)
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if n := w.server.Requests("_bulk"); n != 0 {
			t.Errorf("%d requests at once", n)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		w.holds(docs)
		// Flush does not wait for that.
		start := time.Now()
		w.put(historytest.Interval("a", "1", 7))
		if err := w.Flush(w.t.Context()); err != nil || time.Since(start) > 0 {
			t.Errorf("flush after %v: %v", time.Since(start), err)
		}
		w.holds(append(docs, historytest.Interval("a", "1", 7)))
	})
}

// TestSplit: a document with too many requests for one becomes several.
func TestSplit(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		d := historytest.Interval("a", "1", 0)
		d.Latency.Bins.Counts[0] = 5 << 31
		d.DocCount = d.Latency.Bins.Total()
		d.Requests.Completed = d.DocCount
		w.put(historytest.Interval("a", "1", 1), d)
		w.finish("a", "1")
		w.holds(append(d.Split(), historytest.Interval("a", "1", 1)))
	})
}

// TestSameIDTwice: the last one that was put is the one that stays, even when the first
// one has to be sent again.
func TestSameIDTwice(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		w.server.Script(elastictest.Fault{Kind: elastictest.ItemsRejected, Every: 3})
		docs := historytest.Intervals("a", "1", 10)
		changed := historytest.Intervals("a", "1", 10)
		for _, d := range changed {
			d.IOPS = 77
		}
		w.put(append(docs, changed...)...)
		w.finish("a", "1")
		w.holds(changed)
	})
}

// TestToldAtOnce: what does not heal ends the ingest with what to do, and is sent once.
func TestToldAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fault elastictest.Fault
		want  error
	}{
		"disk full":    {elastictest.Fault{Kind: elastictest.ItemsFlood, Every: 4}, sink.ErrDiskFull},
		"write block":  {elastictest.Fault{Kind: elastictest.ItemsBlocked}, sink.ErrBlocked},
		"closed":       {elastictest.Fault{Kind: elastictest.ItemsClosed}, sink.ErrClosedIndex},
		"no index":     {elastictest.Fault{Kind: elastictest.ItemsMissing}, sink.ErrNoIndex},
		"unauthorized": {elastictest.Fault{Kind: elastictest.Unauthorized}, sink.ErrAuth},
		"forbidden":    {elastictest.Fault{Kind: elastictest.Forbidden}, sink.ErrAuth},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, sink.Options{RejectFile: filepath.Join(t.TempDir(), "r")}, func(w *world) {
				c.fault.Times = -1
				w.server.Script(c.fault)
				w.put(historytest.Intervals("a", "1", 20)...)
				if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); !errors.Is(err, c.want) {
					t.Errorf("finish: %v", err)
				}
				if err := w.Put(w.t.Context(), historytest.Intervals("b", "1", 20)); !errors.Is(err, c.want) {
					t.Errorf("put: %v", err)
				}
				if err := w.Close(); err == nil {
					t.Error("close says that nothing was lost")
				}
				if n := w.server.Requests("_bulk"); n != 1 {
					t.Errorf("sent %d times", n)
				}
			})
		})
	}
}

func TestGivesUp(t *testing.T) {
	for _, kind := range []elastictest.Kind{elastictest.Rejected, elastictest.Unavailable, elastictest.Reset, elastictest.Hang, elastictest.ItemsUnavailable, elastictest.ItemsLost} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			inBubble(t, sink.Options{}, func(w *world) {
				w.server.Script(elastictest.Fault{Kind: kind, Times: -1})
				start := time.Now()
				w.put(historytest.Interval("a", "1", 1))
				err := w.Finish(w.t.Context(), historytest.NewRun("a", "1"))
				if took := time.Since(start); !errors.Is(err, sink.ErrNoProgress) || took < 4*time.Minute || took > 6*time.Minute {
					t.Errorf("after %v: %v", took, err)
				}
				if n := w.server.Requests("_bulk"); n > 40 {
					t.Errorf("sent %d times", n)
				}
			})
		})
	}
}

func TestCancel(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		w.server.Script(elastictest.Fault{Kind: elastictest.Rejected, Times: -1})
		w.put(historytest.Interval("a", "1", 1))
		ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if err := w.Finish(ctx, historytest.NewRun("a", "1")); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if err := w.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flush: %v", err)
		}
		if err := w.Close(); err == nil || !strings.Contains(err.Error(), "1 documents were not stored") || time.Since(start) != 3*time.Second {
			t.Errorf("close after %v: %v", time.Since(start), err)
		}
		if err := w.Put(w.t.Context(), historytest.Intervals("a", "1", 1)); !errors.Is(err, sink.ErrClosed) {
			t.Errorf("put after close: %v", err)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		w.server.Script(elastictest.Fault{Kind: elastictest.Rejected, RetryAfter: "45"})
		start := time.Now()
		w.put(historytest.Interval("a", "1", 1))
		w.finish("a", "1")
		if took := time.Since(start); took < 45*time.Second || took > 47*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// TestStall: the cluster hangs; Put waits, and what is in memory is bounded.
func TestStall(t *testing.T) {
	const most = 1 << 20
	inBubble(t, sink.Options{BodyBytes: most, InFlight: 2}, func(w *world) {
		w.server.Script(elastictest.Fault{Kind: elastictest.Hang, Times: -1})
		w.put() // what is made once is none of it
		doc := historytest.Interval("a", "1", 0)
		size := len(mapping.AppendAction(nil, doc.Index("fio"), doc.ID())) + len(doc.AppendJSON(nil)) + 2
		before := heap()
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		taken := 0
		var err error
		for ; err == nil; taken++ {
			doc.Window.ElapsedMS++
			err = w.Put(ctx, []*mapping.Interval{doc})
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if bytes := taken * size; bytes < 3*most || bytes > 4*most+4*size {
			t.Errorf("%d bytes taken", bytes)
		}
		// Four bodies, what they are packed into, what the stand-in has unpacked, and the rest.
		if grown := heap() - before; grown > 24<<20 {
			t.Errorf("memory has grown by %d MiB", grown>>20)
		}
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestAdapts: bodies shrink when they are too large or too much, and grow back.
func TestAdapts(t *testing.T) {
	const most = 1 << 20
	var last sink.Stats
	smallest := most
	o := sink.Options{BodyBytes: most, InFlight: 4, Progress: func(s sink.Stats) {
		last, smallest = s, min(smallest, s.Body)
	}}
	inBubble(t, o, func(w *world) {
		w.server.Script(elastictest.Fault{Kind: elastictest.Rejected, Times: 6})
		docs := historytest.Intervals("a", "1", 4000)
		for i, d := range docs { // many, and quickly made
			d.Window.ElapsedMS = int64(i)
		}
		for d := range slices.Chunk(docs, 100) {
			w.put(d...)
		}
		w.finish("a", "1")
		w.holds(docs)
		if smallest > most/2 || last.Body <= smallest || last.TooMany != 6 {
			t.Errorf("smallest body %d, %+v", smallest, last)
		}
		if n := w.server.AtOnce(); n > 4 {
			t.Errorf("%d requests at once", n)
		}
	})
}

func TestTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rejects.ndjson")
	inBubble(t, sink.Options{RejectFile: path}, func(w *world) {
		w.server.MaxBody = 20_000
		docs := historytest.Intervals("a", "1", 100)
		huge := docs[40]
		huge.Run.Labels = map[string]string{"text": strings.Repeat("x", 30_000)}
		w.put(docs...)
		w.finish("a", "1")
		if err := holds(w.server, docs, map[string]bool{huge.ID(): true}); err != nil {
			t.Error(err)
		}
		if got := rejects(t, path); !slices.Equal(got, []string{huge.ID()}) {
			t.Errorf("rejected %v", got)
		}
		if st := w.Stats(); st.Body > 20_000 || st.Rejected != 1 || st.Indexed != 100 {
			t.Errorf("%+v", st)
		}
	})
}

// rejects are the ids in a reject file; none when there is no file.
func rejects(t testing.TB, path string) []string {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var ids []string
	for r, err := range sink.ReadRejects(f) {
		var action struct {
			Index struct {
				ID string `json:"_id"`
			}
		}
		var run struct {
			Level string
			Run   mapping.RunRef
		}
		if err = errors.Join(err, json.Unmarshal(r.Action, &action), json.Unmarshal(r.Document, &run)); err != nil {
			t.Error(err)
		}
		id := run.Run.ID
		if run.Level != "" {
			var doc mapping.Interval
			if err := json.Unmarshal(r.Document, &doc); err != nil {
				t.Error(err)
			}
			id = doc.ID()
		}
		if r.Reason.Status < 400 || id != action.Index.ID {
			t.Errorf("%+v %s %s", r.Reason, r.Action, r.Document)
		}
		ids = append(ids, action.Index.ID)
	}
	return ids
}

func TestRejected(t *testing.T) {
	docs := historytest.Intervals("a", "1", 30)
	other := historytest.Intervals("b", "1", 30)
	bad := docs[11].ID()
	refuse := func(_, id string, _ []byte) string {
		if id == bad {
			return "failed to parse field [latency.histogram] of type [histogram] <&> in document with id '" + id + "'"
		}
		return ""
	}
	path := filepath.Join(t.TempDir(), "rejects.ndjson")
	t.Run("with a file", func(t *testing.T) {
		inBubble(t, sink.Options{RejectFile: path}, func(w *world) {
			w.server.Refuse = refuse
			w.put(docs...)
			w.finish("a", "1")
			if err := holds(w.server, docs, map[string]bool{bad: true}); err != nil {
				t.Error(err)
			}
		})
		if got := rejects(t, path); !slices.Equal(got, []string{bad}) {
			t.Errorf("rejected %v", got)
		}
	})
	t.Run("without", func(t *testing.T) {
		inBubble(t, sink.Options{}, func(w *world) {
			w.server.Refuse = refuse
			w.put(docs...)
			w.put(other...)
			err := w.Finish(w.t.Context(), historytest.NewRun("a", "1"))
			if !errors.Is(err, sink.ErrRejected) || !strings.Contains(err.Error(), "failed to parse") || !strings.Contains(err.Error(), bad) {
				t.Errorf("finish: %v", err)
			}
			if n := len(w.server.Documents("fio-runs")); n != 0 {
				t.Error("the run's document is there")
			}
			w.finish("b", "1") // others are not concerned
		})
	})
	t.Run("too many", func(t *testing.T) {
		inBubble(t, sink.Options{RejectFile: path, MaxRejects: 5}, func(w *world) {
			w.server.Script(elastictest.Fault{Kind: elastictest.ItemsRefused})
			w.put(docs...)
			if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); !errors.Is(err, sink.ErrRejects) {
				t.Errorf("finish: %v", err)
			}
		})
	})
	t.Run("file cannot be made", func(t *testing.T) {
		inBubble(t, sink.Options{RejectFile: filepath.Join(path, "x")}, func(w *world) {
			w.server.Refuse = refuse
			w.put(docs...)
			if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); err == nil || !strings.Contains(err.Error(), "write reject file") {
				t.Errorf("finish: %v", err)
			}
		})
	})
}

func TestReadRejectsDamaged(t *testing.T) {
	text := `{"reason":{"status":400},"action":{"index":{}},"document":{"a":"<&>"}}` + "\n\nnonsense\n{}\n" +
		`{"reason":{"status":400},"action":{"index":{}},"document":{}}` + "\n" + `{"reason":{"sta`
	var got []string
	for r, err := range sink.ReadRejects(strings.NewReader(text)) {
		if err != nil {
			got = append(got, strings.SplitN(err.Error(), ":", 2)[0])
			continue
		}
		got = append(got, string(r.Document))
	}
	want := []string{`{"a":"<&>"}`, "read rejects, line 3", "read rejects, line 4", "{}", "read rejects, line 6"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestNotSetUp(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*elastictest.Server)
		options sink.Options
		want    error
	}{
		"ready":       {func(s *elastictest.Server) {}, sink.Options{}, nil},
		"missing":     {func(s *elastictest.Server) { delete(s.Templates, "fio-latency-host") }, sink.Options{}, sink.ErrNoTemplate},
		"none":        {func(s *elastictest.Server) { clear(s.Templates) }, sink.Options{}, sink.ErrNoTemplate},
		"not ours":    {func(s *elastictest.Server) { s.Templates["fio-runs"] = 0 }, sink.Options{}, sink.ErrNoTemplate},
		"too old":     {func(s *elastictest.Server) {}, sink.Options{TemplateVersion: 2}, sink.ErrNoTemplate},
		"newer":       {func(s *elastictest.Server) { s.Templates["fio-runs"] = 9 }, sink.Options{}, nil},
		"no check":    {func(s *elastictest.Server) { clear(s.Templates) }, sink.Options{Templates: []string{}}, nil},
		"index first": {func(s *elastictest.Server) { s.Mapped = "long" }, sink.Options{}, sink.ErrMapping},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, c.options, func(w *world) {
				docs := historytest.Intervals("a", "1", 2)
				if c.want == sink.ErrMapping { // an index has to be there for that
					w.put(docs...)
					w.finish("a", "1")
					w.Elastic = sink.NewElastic(w.client, c.options)
					defer w.Close()
				}
				c.prepare(w.server)
				before := w.server.Requests("_bulk")
				if err := w.Put(w.t.Context(), docs); !errors.Is(err, c.want) {
					t.Errorf("put: %v", err)
				}
				if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); !errors.Is(err, c.want) {
					t.Errorf("finish: %v", err)
				}
				if n := w.server.Requests("_bulk"); c.want != nil && n != before {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// TestWrong: documents that do not pass their check are not taken.
func TestWrong(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		docs := historytest.Intervals("a", "1", 3)
		docs[2].DocCount++
		if err := w.Put(w.t.Context(), docs); !errors.Is(err, mapping.ErrDocCount) || w.Stats().Queued != 0 {
			t.Errorf("put: %v", err)
		}
		if err := w.Finish(w.t.Context(), historytest.NewRun("a", "")); !errors.Is(err, mapping.ErrIdentity) {
			t.Errorf("finish: %v", err)
		}
	})
}

// TestVerify: documents that vanish after they were confirmed are found missing, and
// nothing of the version before is deleted.
func TestVerify(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		docs := historytest.Intervals("a", "1", 5)
		w.put(docs...)
		w.finish("a", "1")
		w.put(historytest.Intervals("a", "2", 3)...)
		if err := w.Flush(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		vanish := map[string]any{"bool": map[string]any{"filter": []any{
			map[string]any{"term": map[string]any{"run.ingest": "2"}}, map[string]any{"term": map[string]any{"interval.elapsed_ms": 1000}},
		}}}
		if err := w.client.Refresh(w.t.Context(), "fio-*"); err != nil {
			t.Fatal(err)
		}
		if d, err := w.client.DeleteByQuery(w.t.Context(), vanish, 10, "fio-*"); err != nil || d.Deleted != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
		if err := w.Finish(w.t.Context(), historytest.NewRun("a", "2")); !errors.Is(err, sink.ErrVerify) {
			t.Errorf("finish: %v", err)
		}
		if n := len(w.server.Documents(docs[0].Index("fio"))); n != 5+2 {
			t.Errorf("%d documents are left", n)
		}
	})
}

// TestFinishHeals: what comes after the documents is tried again, too.
func TestFinishHeals(t *testing.T) {
	inBubble(t, sink.Options{}, func(w *world) {
		w.put(historytest.Intervals("a", "1", 5)...)
		w.finish("a", "1")
		for _, on := range []string{"_refresh", "_count", "_delete_by_query"} {
			w.server.Script(
				elastictest.Fault{On: on, Kind: elastictest.Rejected, Times: 2}, elastictest.Fault{On: on, Kind: elastictest.BadGateway, Times: 5},
				elastictest.Fault{On: on, Kind: elastictest.ResetAnswer}, elastictest.Fault{On: on, Kind: elastictest.Reset},
				elastictest.Fault{On: on, Kind: elastictest.Hang},
			)
		}
		docs := historytest.Intervals("a", "2", 2)
		w.put(docs...)
		w.finish("a", "2")
		w.holds(docs)
		w.server.Script(elastictest.Fault{On: "_delete_by_query", Kind: elastictest.Forbidden})
		w.put(docs...)
		if err := w.Finish(w.t.Context(), historytest.NewRun("a", "2")); !errors.Is(err, sink.ErrAuth) {
			t.Errorf("finish: %v", err)
		}
	})
}

// TestManyRuns: several runs at a time, each by its own goroutine.
func TestManyRuns(t *testing.T) {
	inBubble(t, sink.Options{BodyBytes: 40_000, InFlight: 3}, func(w *world) {
		w.server.Script(elastictest.Fault{Kind: elastictest.Rejected, Times: 5}, elastictest.Fault{Kind: elastictest.ItemsUnavailable, Every: 3, Times: 5})
		var all sync.WaitGroup
		var docs []*mapping.Interval
		for i := range 8 {
			name := fmt.Sprint("run-", i)
			mine := historytest.Intervals(name, "1", 40)
			docs = append(docs, mine...)
			all.Go(func() {
				for d := range slices.Chunk(mine, 7) {
					if err := w.Put(w.t.Context(), d); err != nil {
						t.Error(err)
					}
				}
				if err := w.Finish(w.t.Context(), historytest.NewRun(name, "1")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.holds(docs)
		if n := len(w.server.Documents("fio-runs")); n != 8 {
			t.Errorf("%d runs", n)
		}
	})
}
