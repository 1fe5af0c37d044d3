package sink_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/internal/elastic/elastictest"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/pipeline/sink"
)

// TestToldAtOnce: what does not heal ends the ingest with what to do, and is sent once.
func TestToldAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fault elastictest.Fault
		want  error
	}{
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

// TestWaiting: who waits for the cluster hears so within ten seconds, with the reason and the
// end of the wait, but not all the time.
func TestWaiting(t *testing.T) {
	for kind, cause := range map[elastictest.Kind]string{
		elastictest.Unavailable: "status 503", elastictest.Reset: "EOF", elastictest.ItemsUnavailable: "unavailable_shards",
		elastictest.ItemsFlood: "above the flood-stage watermark: free disk space", elastictest.Flood: "above the flood-stage watermark: free disk space",
		elastictest.Hang: "",
	} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			var reports []elastic.Wait
			first := time.Duration(0)
			var start time.Time
			c := elastic.Config{Waiting: func(w elastic.Wait) {
				if len(reports) == 0 {
					first = time.Since(start)
				}
				reports = append(reports, w)
			}}
			inBubbleOf(t, c, sink.Options{RejectFile: filepath.Join(t.TempDir(), "r")}, func(w *world) {
				w.server.Script(elastictest.Fault{Kind: kind, Times: -1})
				start = time.Now()
				w.put(historytest.Interval("a", "1", 1))
				err := w.Finish(w.t.Context(), historytest.NewRun("a", "1"))
				if !errors.Is(err, sink.ErrNoProgress) || !strings.Contains(err.Error(), cause) {
					t.Errorf("finish: %v", err)
				}
				if took := time.Since(start); took > 5*time.Minute+2*time.Second {
					t.Errorf("after %v", took)
				}
			})
			if len(reports) < 8 || len(reports) > 12 || first > 10*time.Second {
				t.Fatalf("%d reports, the first one after %v", len(reports), first)
			}
			r := reports[0]
			if got := fmt.Sprint(r.Cause); !strings.Contains(got, cause) || (cause == "") != (r.Cause == nil) || r.For+time.Second < first-time.Second {
				t.Errorf("%+v, want %q", r, cause)
			}
			if left := r.Until.Sub(start); left < 4*time.Minute || left > 6*time.Minute {
				t.Errorf("until %v after the begin", left)
			}
		})
	}
}

// TestWaitsForDisk: documents that a full disk refuses are sent again when there is room, as
// long as the setting says.
func TestWaitsForDisk(t *testing.T) {
	inBubbleOf(t, elastic.Config{GiveUpAfter: time.Hour}, sink.Options{}, func(w *world) {
		w.server.Script(elastictest.Fault{Kind: elastictest.ItemsFlood, Every: 4, Times: -1})
		docs := historytest.Intervals("a", "1", 20)
		time.AfterFunc(50*time.Minute, w.server.Heal)
		w.put(docs...)
		w.finish("a", "1")
		w.holds(docs)
		if n := w.Stats().Rejected; n != 0 {
			t.Errorf("%d documents are rejected", n)
		}
	})
	inBubbleOf(t, elastic.Config{GiveUpAfter: -1}, sink.Options{}, func(w *world) {
		w.server.Script(elastictest.Fault{Kind: elastictest.ItemsFlood, Times: -1})
		w.put(historytest.Interval("a", "1", 1))
		start := time.Now()
		if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); !errors.Is(err, elastic.ErrDiskFull) || time.Since(start) > 2*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// TestWaitsAtStart: the check of templates, which comes first, waits by the same rule.
func TestWaitsAtStart(t *testing.T) {
	var reports []elastic.Wait
	c := elastic.Config{Waiting: func(w elastic.Wait) { reports = append(reports, w) }}
	inBubbleOf(t, c, sink.Options{}, func(w *world) {
		w.server.Script(elastictest.Fault{On: "fio-*", Kind: elastictest.Restart, Wait: 4 * time.Minute})
		w.put(historytest.Interval("a", "1", 1))
		w.finish("a", "1")
	})
	if len(reports) < 6 || reports[0].For > 10*time.Second {
		t.Errorf("%d reports", len(reports))
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
