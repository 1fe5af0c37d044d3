package sink_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestWaiting: who waits for the cluster is told so, but not all the time.
func TestWaiting(t *testing.T) {
	for _, kind := range []elastictest.Kind{elastictest.Unavailable, elastictest.Reset, elastictest.ItemsUnavailable} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			var told []time.Duration
			start := time.Now()
			o := sink.Options{Waiting: func(since time.Duration, cause error) {
				if cause == nil {
					t.Error("told no cause")
				}
				told = append(told, time.Since(start))
			}}
			inBubble(t, o, func(w *world) {
				start = time.Now()
				w.server.Script(elastictest.Fault{Kind: kind, Times: -1})
				w.put(historytest.Interval("a", "1", 1))
				if err := w.Finish(w.t.Context(), historytest.NewRun("a", "1")); !errors.Is(err, sink.ErrNoProgress) {
					t.Errorf("finish: %v", err)
				}
			})
			if len(told) < 4 || len(told) > 11 || told[0] < 10*time.Second || told[0] > time.Minute {
				t.Errorf("told at %v", told)
			}
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
