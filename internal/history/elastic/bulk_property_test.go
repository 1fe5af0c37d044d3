package elastic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// healing are faults that end by themselves or that retries overcome.
var healing = []estest.Kind{
	estest.Rejected, estest.BadGateway, estest.Unavailable, estest.GatewayTimeout,
	estest.Reset, estest.ResetAnswer, estest.Cut, estest.Slow, estest.Hang, estest.Restart,
	estest.Unordered, estest.ItemsRejected, estest.ItemsUnavailable, estest.ItemsHidden,
	estest.ItemsLost, estest.ItemsTwice,
}

// hurting are faults that end an ingest or reject documents.
var hurting = []estest.Kind{
	estest.TooLarge, estest.Login, estest.Forbidden, estest.ItemsFlood, estest.ItemsBlocked, estest.ItemsClosed,
	estest.ItemsMissing, estest.ItemsBroken, estest.ItemsRefused,
}

// story is one test case: runs, documents and faults.
type story struct {
	body      int // limit of a bulk request
	requests  int // at the same time
	runs      int
	documents int // number for each run
	poisoned  int // each n-th document of a run is rejected for good; 0: none
	maxBody   int64
	noGzip    bool
	faults    []estest.Fault
	seed      uint64 // of the numbers of documents in each Put
}

func drawStory(t *rapid.T, kinds []estest.Kind) story {
	s := story{
		body:      rapid.SampledFrom([]int{1, 3000, 20_000, 5 << 20}).Draw(t, "body"),
		requests:  rapid.IntRange(1, 4).Draw(t, "in flight"),
		runs:      rapid.IntRange(1, 3).Draw(t, "runs"),
		documents: rapid.IntRange(0, 25).Draw(t, "documents"),
		poisoned:  rapid.SampledFrom([]int{0, 0, 4, 9}).Draw(t, "poisoned"),
		maxBody:   rapid.SampledFrom([]int64{0, 0, 9000}).Draw(t, "largest body"),
		noGzip:    rapid.Bool().Draw(t, "no gzip"),
		seed:      rapid.Uint64().Draw(t, "seed"),
	}
	for range rapid.IntRange(0, 15).Draw(t, "faults") {
		f := estest.Fault{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Every: rapid.IntRange(1, 4).Draw(t, "every"),
			Wait: time.Duration(rapid.IntRange(0, 40_000).Draw(t, "wait")) * time.Millisecond,
			On:   rapid.SampledFrom([]string{"", "", "", "", "_search", "_refresh", "_delete_by_query"}).Draw(t, "on"),
		}
		if f.Kind == estest.TooLarge && f.On != "" {
			continue // other requests have no such limit
		}
		if rapid.Bool().Draw(t, "asks to wait") {
			f.RetryAfter = "3"
		}
		s.faults = append(s.faults, f)
	}
	return s
}

// outcome is the result of a story.
type outcome struct {
	documents, requests, rejected int
	finished                      []error // of each run; nil also of one that was rejected, as it must be
	wrong                         error   // a violated rule, or nil
}

// play runs a story in a bubble. The cluster has an earlier version of each run already.
func play(t *testing.T, s story) (out outcome) {
	synctest.Test(t, func(t *testing.T) {
		server := estest.New(templates.Names("fio")...)
		dial, stop := server.Pipe()
		defer stop()
		client := newClient(t, es.Config{Dial: dial, Timeout: 20 * time.Second, NoGzip: s.noGzip})
		defer client.Close()
		var docs []*mapping.Interval
		poison := make(map[string]bool)
		to := elastic.New(client, "fio").Bulk(s.body, s.requests)
		for r := range s.runs {
			name := fmt.Sprint("run-", r)
			err := errors.Join(to.Put(t.Context(), historytest.Intervals(name, "old", 3)), to.Finish(t.Context(), historytest.NewRun(name, "old")))
			if err != nil {
				out.wrong = err
			}
			for i, d := range historytest.Intervals(name, "new", s.documents) {
				if docs = append(docs, d); s.poisoned > 0 && i%s.poisoned == 1 {
					poison[d.ID()] = true
				}
			}
		}
		server.MaxBody = s.maxBody
		server.Refuse = func(_, id string, _ []byte) string {
			if poison[id] {
				return "poison"
			}
			return ""
		}
		server.Script(s.faults...)
		out.finished = ingest(t, to, s, docs)
		_ = to.Close()
		out.documents, out.requests = len(docs)+s.runs, server.Requests("_bulk")
		server.Heal() // only the faults end, not the rejects, because a slow request may still be under way
		out.judge(server, docs, poison)
	})
	return out
}

// ingest puts all documents, with one goroutine for each run.
func ingest(t *testing.T, to *elastic.Store, s story, docs []*mapping.Interval) []error {
	finished := make([]error, s.runs)
	var all sync.WaitGroup
	for r := range s.runs {
		mine, rng := docs[r*s.documents:(r+1)*s.documents], rand.New(rand.NewPCG(s.seed, uint64(r)))
		all.Go(func() {
			for len(mine) > 0 && finished[r] == nil {
				n := min(len(mine), 1+rng.IntN(5))
				finished[r] = to.Put(t.Context(), mine[:n])
				mine = mine[n:]
			}
			if finished[r] == nil {
				finished[r] = to.Finish(t.Context(), historytest.NewRun(fmt.Sprint("run-", r), "new"))
			}
		})
	}
	all.Wait()
	return finished
}

// judge compares the stored documents with the results of the writer.
func (o *outcome) judge(server *estest.Server, docs []*mapping.Interval, poison map[string]bool) {
	var stored map[string]json.RawMessage
	if len(docs) > 0 {
		stored = server.Documents(docs[0].Index("fio", mapping.Years))
	}
	for r, err := range o.finished {
		name := fmt.Sprint("run-", r)
		run := string(server.Documents("fio-runs")[historytest.NewRun(name, "new").ID()])
		isNew, isPoisoned := strings.Contains(run, `"ingest":"new"`), false
		for _, d := range docs {
			if d.Run.Name != name {
				continue
			}
			_, there := stored[d.ID()]
			isPoisoned = isPoisoned || poison[d.ID()]
			switch {
			case err == nil && !there:
				o.wrong = fmt.Errorf("%s is lost", d.ID())
			case there && poison[d.ID()]:
				o.wrong = fmt.Errorf("%s cannot be stored", d.ID())
			}
		}
		switch {
		case (err == nil || isPoisoned) && isNew == isPoisoned:
			o.wrong = fmt.Errorf("run %d ended with %w: is its document there? %v", r, err, isNew)
		case isPoisoned && errors.Is(err, history.ErrRejected):
			o.finished[r] = nil
			o.rejected++
		}
	}
	if errors.Join(o.finished...) == nil && o.rejected == 0 {
		if err := hasExactly(server, docs, nil); err != nil {
			o.wrong = fmt.Errorf("finished without an error, but %w", err)
		}
	}
}

// TestNothingIsLost: after faults that heal, each document is stored exactly once, and Finish succeeds, except for runs
// with a document that the cluster rejects.
func TestNothingIsLost(t *testing.T) {
	var cases, documents, requests, rejected atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		cases.Add(1)
		o := play(t, drawStory(rt, healing))
		documents.Add(int64(o.documents))
		requests.Add(int64(o.requests))
		rejected.Add(int64(o.rejected))
		if err := errors.Join(append(o.finished, o.wrong)...); err != nil {
			rt.Fatal(err)
		}
	})
	t.Logf("%d fault scripts, %d documents in %d requests, %d runs rejected, none lost", cases.Load(), documents.Load(), requests.Load(), rejected.Load())
}

// TestNeverLies: after a permanent failure an ingest may fail, but it must not report success without storing
// everything.
func TestNeverLies(t *testing.T) {
	var cases, failed, documents atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		cases.Add(1)
		o := play(t, drawStory(rt, append(hurting, healing...)))
		documents.Add(int64(o.documents))
		if errors.Join(o.finished...) != nil {
			failed.Add(1)
		}
		if o.wrong != nil {
			rt.Fatal(o.wrong)
		}
	})
	t.Logf("%d fault scripts, %d documents, %d ended with an error, none lied", cases.Load(), documents.Load(), failed.Load())
}
