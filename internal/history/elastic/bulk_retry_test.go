package elastic_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
)

// TestFailAtOnce: a permanent failure ends the ingest after one request, with an error that says what to do.
func TestFailAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fault estest.Fault
		want  error
	}{
		"write block":  {estest.Fault{Kind: estest.ItemsBlocked}, elastic.ErrBlocked},
		"closed":       {estest.Fault{Kind: estest.ItemsClosed}, elastic.ErrClosedIndex},
		"no index":     {estest.Fault{Kind: estest.ItemsMissing}, elastic.ErrNoIndex},
		"unauthorized": {estest.Fault{Kind: estest.Unauthorized}, es.ErrAuth},
		"forbidden":    {estest.Fault{Kind: estest.Forbidden}, elastic.ErrPrivileges},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				c.fault.Times = -1
				w.server.Script(c.fault)
				for range 2 {
					if err := w.stores("a", "1", historytest.Intervals("a", "1", 20)...); !errors.Is(err, c.want) {
						t.Error(err)
					}
				}
				if n := w.server.Requests("_bulk"); n != 1 {
					t.Errorf("sent %d times", n)
				}
			})
		})
	}
}

// TestWaiting: a wait is reported within ten seconds, with its reason and its end, and then not too often. It ends after
// five minutes.
func TestWaiting(t *testing.T) {
	for kind, cause := range map[estest.Kind]string{
		estest.Unavailable: "status 503", estest.Reset: "the connection was closed", estest.ItemsUnavailable: "unavailable_shards",
		estest.ItemsFlood: "above the flood-stage watermark: free disk space", estest.Flood: "above the flood-stage watermark: free disk space",
		estest.Rejected: "status 429", estest.ItemsLost: "does not account for each document", estest.Hang: "",
	} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			var reports []es.Wait
			first := time.Duration(0)
			var start time.Time
			c := es.Config{Waiting: func(w es.Wait) {
				if len(reports) == 0 {
					first = time.Since(start)
				}
				reports = append(reports, w)
			}}
			inBubbleOf(t, c, func(w *world) {
				w.server.Script(estest.Fault{Kind: kind, Times: -1})
				start = time.Now()
				err := w.stores("a", "1", historytest.Intervals("a", "1", 1)...)
				if !errors.Is(err, es.ErrGaveUp) || !strings.Contains(err.Error(), cause) {
					t.Error(err)
				}
				if took := time.Since(start); took < 4*time.Minute || took > 5*time.Minute+2*time.Second {
					t.Errorf("after %v", took)
				}
				if n := w.server.Requests("_bulk"); n > 40 {
					t.Errorf("sent %d times", n)
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

// TestWaitsForDisk: documents that a full disk refuses are sent again when there is space, within the time of the
// setting.
func TestWaitsForDisk(t *testing.T) {
	inBubbleOf(t, es.Config{GiveUpAfter: time.Hour}, func(w *world) {
		w.server.Script(estest.Fault{Kind: estest.ItemsFlood, Every: 4, Times: -1})
		docs := historytest.Intervals("a", "1", 20)
		time.AfterFunc(50*time.Minute, w.server.Heal)
		w.put(docs...)
		w.finish("a", "1")
		w.hasExactly(docs)
	})
	inBubbleOf(t, es.Config{GiveUpAfter: -1}, func(w *world) {
		w.server.Script(estest.Fault{Kind: estest.ItemsFlood, Times: -1})
		start := time.Now()
		if err := w.stores("a", "1", historytest.Intervals("a", "1", 1)...); !errors.Is(err, es.ErrDiskFull) || time.Since(start) > 2*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// TestWaitsAtStart: the check of templates, which comes first, waits in the same way.
func TestWaitsAtStart(t *testing.T) {
	var reports []es.Wait
	c := es.Config{Waiting: func(w es.Wait) { reports = append(reports, w) }}
	inBubbleOf(t, c, func(w *world) {
		w.server.Script(estest.Fault{On: "fio-*", Kind: estest.Restart, Wait: 4 * time.Minute})
		w.put(historytest.Interval("a", "1", 1))
		w.finish("a", "1")
	})
	if len(reports) < 6 || reports[0].For > 10*time.Second {
		t.Errorf("%d reports", len(reports))
	}
}

func TestCancel(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Bulk(3000, 1) // so that a request waits for another one
		w.server.Script(estest.Fault{Kind: estest.Rejected, Times: -1})
		ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if err := w.Put(ctx, historytest.Intervals("a", "1", 10)); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("put, after %v: %v", time.Since(start), err)
		}
		if err := w.Finish(ctx, historytest.NewRun("a", "1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("finish: %v", err)
		}
		w.server.Heal()
		docs := historytest.Intervals("a", "1", 10) // the same store continues
		w.put(docs...)
		w.finish("a", "1")
		w.hasExactly(docs)
	})
}

func TestRetryAfter(t *testing.T) {
	inBubble(t, func(w *world) {
		w.server.Script(estest.Fault{Kind: estest.Rejected, RetryAfter: "45"})
		start := time.Now()
		w.put(historytest.Interval("a", "1", 1))
		w.finish("a", "1")
		if took := time.Since(start); took < 45*time.Second || took > 47*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
