package es_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
)

type reported struct {
	es.Wait
	at time.Duration // since the start of the test
}

// waiting runs a test in a synctest bubble, with a client of a server with these faults. It returns the reports.
func waiting(t *testing.T, c es.Config, faults []estest.Fault, test func(t *testing.T, client *es.Client, server *estest.Server)) []reported {
	t.Helper()
	var all []reported
	synctest.Test(t, func(t *testing.T) {
		server := estest.New()
		server.Script(faults...)
		dial, stop := server.Pipe()
		defer stop()
		start := time.Now()
		c.Dial = dial
		c.Waiting = func(w es.Wait) { all = append(all, reported{w, time.Since(start)}) }
		client := newClient(t, c)
		defer client.Close()
		test(t, client, server)
	})
	return all
}

// TestWaitsForServer: the client waits for a server that does not answer the first request. Within ten seconds it
// reports the server, the cause, and until when it waits.
func TestWaitsForServer(t *testing.T) {
	for name, c := range map[string]struct {
		fault estest.Fault
		want  string // part of the cause; empty: no answer
	}{
		"refused":     {estest.Fault{Kind: estest.Restart, Wait: time.Hour}, "connection refused"},
		"503":         {estest.Fault{Kind: estest.Unavailable, Times: -1}, "status 503"},
		"502":         {estest.Fault{Kind: estest.BadGateway, Times: -1}, "status 502"},
		"429":         {estest.Fault{Kind: estest.Rejected, Times: -1}, "status 429"},
		"disk full":   {estest.Fault{Kind: estest.Flood, Times: -1}, "above the flood-stage watermark"},
		"no answer":   {estest.Fault{Kind: estest.Hang, Times: -1}, ""},
		"reset":       {estest.Fault{Kind: estest.Reset, Times: -1}, "the connection was closed"},
		"half answer": {estest.Fault{Kind: estest.ResetAnswer, Times: -1}, "it is cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			c.fault.On = "/"
			var took time.Duration
			var began time.Time
			all := waiting(t, es.Config{}, []estest.Fault{c.fault}, func(t *testing.T, client *es.Client, _ *estest.Server) {
				began = time.Now()
				_, err := client.Check(t.Context())
				if took = time.Since(began); !errors.Is(err, es.ErrGaveUp) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v", err)
				}
			})
			if took < 4*time.Minute || took > 5*time.Minute+time.Second {
				t.Errorf("gave up after %v", took)
			}
			if len(all) < 8 || len(all) > 12 {
				t.Fatalf("%d reports: %v", len(all), all)
			}
			first := all[0]
			if first.at > 10*time.Second || first.For != first.at || first.Server != "elasticsearch at http://localhost:9200" {
				t.Errorf("first report: %+v", first)
			}
			if got := fmt.Sprint(first.Cause); !strings.Contains(got, c.want) || (c.want == "") != (first.Cause == nil) || strings.Contains(got, "reach ") {
				t.Errorf("cause %s, want %s", got, c.want)
			}
			for _, w := range all {
				if left := w.Until.Sub(began); left != 5*time.Minute {
					t.Errorf("until %v after the begin", left)
				}
			}
		})
	}
}

// TestServerComesBack: after a wait the request succeeds.
func TestServerComesBack(t *testing.T) {
	all := waiting(t, es.Config{}, []estest.Fault{{On: "/", Kind: estest.Restart, Wait: 2 * time.Minute}}, func(t *testing.T, client *es.Client, _ *estest.Server) {
		if info, err := client.Check(t.Context()); err != nil || info.Version == "" {
			t.Errorf("%+v, %v", info, err)
		}
	})
	if len(all) < 3 || len(all) > 6 {
		t.Errorf("%d reports", len(all))
	}
}

// TestGiveUpAfter: the client gives up at the time that the settings say.
func TestGiveUpAfter(t *testing.T) {
	for _, c := range []struct {
		giveUp, timeout, least, most time.Duration
		kind                         estest.Kind
		reports                      int
	}{
		{-1, time.Minute, 0, 0, estest.Unavailable, 0},
		{-1, time.Minute, time.Minute, time.Minute, estest.Hang, 2},
		{3 * time.Second, time.Minute, 3 * time.Second, 3 * time.Second, estest.Unavailable, 0},
		{20 * time.Second, time.Minute, 20 * time.Second, 20 * time.Second, estest.Unavailable, 1},
		// a single request may use its whole timeout
		{20 * time.Second, time.Minute, time.Minute, time.Minute, estest.Hang, 2},
		// the last request gets at least a second
		{time.Hour, time.Minute, time.Hour, time.Hour + time.Second, estest.Hang, 120},
	} {
		t.Run(fmt.Sprint(c.giveUp, c.kind), func(t *testing.T) {
			faults := []estest.Fault{{On: "_refresh", Kind: c.kind, Times: -1}}
			all := waiting(t, es.Config{GiveUpAfter: c.giveUp, Timeout: c.timeout}, faults, func(t *testing.T, client *es.Client, _ *estest.Server) {
				start := time.Now()
				err := client.Refresh(t.Context(), "x")
				// two seconds more, because the last attempt gets at least one
				if took := time.Since(start).Round(time.Second); err == nil || took < c.least || took > c.most+2*time.Second ||
					errors.Is(err, es.ErrGaveUp) != (c.giveUp > 0) {
					t.Errorf("after %v: %v", took, err)
				}
			})
			if d := len(all) - c.reports; d < -1 || d > 1 {
				t.Errorf("%d reports, want %d", len(all), c.reports)
			}
		})
	}
}

// TestReportsOnce: several requests that wait for the same server are reported as one wait.
func TestReportsOnce(t *testing.T) {
	faults := []estest.Fault{{On: "_refresh", Kind: estest.Unavailable, Times: -1}}
	all := waiting(t, es.Config{}, faults, func(t *testing.T, client *es.Client, server *estest.Server) {
		done := make(chan error)
		for i := range 8 {
			go func() {
				time.Sleep(time.Duration(i) * time.Second)
				err := client.Refresh(t.Context(), "x")
				done <- err
			}()
		}
		time.Sleep(70 * time.Second)
		server.Heal()
		for range 8 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	// after the server works again
	all = slices.DeleteFunc(all, func(w reported) bool { return w.at > 70*time.Second })
	if len(all) != 3 {
		t.Errorf("%d reports in 70 s: %v", len(all), all)
	}
}

// TestCancelled: when its context ends, a wait ends at once.
func TestCancelled(t *testing.T) {
	for _, kind := range []estest.Kind{estest.Hang, estest.Unavailable, estest.Rejected, estest.Flood, estest.Reset} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			faults := []estest.Fault{{On: "/", Kind: kind, Times: -1, RetryAfter: "600"}}
			waiting(t, es.Config{}, faults, func(t *testing.T, client *es.Client, _ *estest.Server) {
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				time.AfterFunc(100*time.Second, cancel)
				_, err := client.Check(ctx)
				if took := time.Since(start); !errors.Is(err, context.Canceled) || took != 100*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}
