package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/mapping"
)

// ends are runs that are ended together. What fails for one of them does not hold up the
// others; a request that fails, fails for all.
type ends struct {
	s    *Elastic
	runs []*ending // that have not failed
}

// end makes the versions that were put the only ones. A version's interval documents are
// visible before its run's document is stored, and those of other versions go only after
// that is visible: until then readers look for the other version. Dashboards, which look for
// none, see the other version until it goes, and then this one.
func (b *ends) end() {
	s := b.s
	intervals, runs := s.intervals(), mapping.RunsIndex(s.opt.Prefix)
	refresh := func(index string) func() error {
		return func() error { return s.again(s.ctx, func() error { return s.client.Refresh(s.ctx, index) }) }
	}
	for _, step := range []func() error{
		b.settle, s.rejects.sync,
		refresh(intervals), // also without verifying: what is not visible is not deleted
		func() error { return b.verify(intervals) },
		func() error { return b.encode(runs) },
		func() error { b.put(runs); return s.rejects.sync() },
		refresh(runs),
		func() error { return b.deleteOthers(intervals) },
		func() error { return b.show(intervals) },
	} {
		if len(b.runs) == 0 {
			return
		}
		if err := step(); err != nil {
			b.each(func(*ending) error { return err })
			return
		}
	}
	b.each(func(e *ending) error { s.ended(e); e.done <- nil; return nil })
}

// each does something for each run, and gives up those for which it fails.
func (b *ends) each(do func(e *ending) error) {
	b.runs = slices.DeleteFunc(b.runs, func(e *ending) bool {
		err := do(e)
		if err != nil {
			e.done <- b.s.because(err)
		}
		return err != nil
	})
}

// settle looks whether all documents of the runs were taken: nothing of them is under way.
func (b *ends) settle() error {
	b.each(func(e *ending) (err error) {
		e.queued, err = b.s.settled(e.state)
		return err
	})
	return nil
}

// verify compares what the cluster has of each run with what it has confirmed, and sees
// which of them have other versions. Documents that came twice count once.
func (b *ends) verify(index string) error {
	s := b.s
	ids := make([]string, len(b.runs))
	for i, e := range b.runs {
		ids[i] = e.key.id
	}
	have, err := s.tally(s.ctx, ids, index)
	if err != nil {
		return err
	}
	others := make(map[string]bool)
	for version := range have {
		for _, e := range b.runs {
			if version.First == e.key.id && version.Second != e.key.ingest {
				others[e.key.id] = true
			}
		}
	}
	b.each(func(e *ending) error {
		e.others = others[e.key.id]
		return e.verify(s, have[elastic.Pair{First: e.key.id, Second: e.key.ingest}])
	})
	return nil
}

func (e *ending) verify(s *Elastic, got int64) error {
	if s.opt.NoVerify {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := e.state
	slices.Sort(r.hashes)
	r.hashes = slices.Compact(r.hashes)
	if e.want = int64(len(r.hashes)); got == e.want {
		return nil
	}
	return fmt.Errorf("%w: sent %d, indexed %d (%d different), rejected %d, but there are %d",
		ErrVerify, r.queued, r.indexed, e.want, r.rejected, got)
}

// encode makes the runs' documents. It looks at those that the cluster has of the same
// versions, which are few: mostly none.
func (b *ends) encode(index string) error {
	var ids, ingests []string
	for _, e := range b.runs {
		ids, ingests = append(ids, e.key.id), append(ingests, e.key.ingest)
	}
	stored, err := b.s.storedRuns(all(terms("run.id", ids), terms("run.ingest", ingests)), len(ids), index)
	if err != nil {
		return err
	}
	b.runs = slices.DeleteFunc(b.runs, func(e *ending) bool { return !e.encode(stored[e.key.id]) })
	return nil
}

// storedRuns are the documents of runs that a query finds, by id. What cannot be read is
// left out: it is about to be replaced.
func (s *Elastic) storedRuns(query any, most int, index string) (map[string]*mapping.Run, error) {
	var answer struct {
		elastic.Whole
		Hits struct {
			Hits []struct {
				Source json.RawMessage `json:"_source"`
			}
		}
	}
	err := s.again(s.ctx, func() error {
		err := s.client.Do(s.ctx, esapi.SearchRequest{
			Index: []string{index}, Body: elastic.JSON(map[string]any{"size": most, "query": query}),
		}, &answer)
		var e *elastic.Error
		if errors.As(err, &e) && e.Status == http.StatusNotFound && e.Type == elastic.MissingType {
			return nil // the first run of all
		}
		if err == nil {
			err = answer.Err()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for the runs' documents: %w", err)
	}
	runs := make(map[string]*mapping.Run)
	for _, h := range answer.Hits.Hits {
		run := new(mapping.Run)
		if json.Unmarshal(h.Source, run) == nil {
			runs[run.Run.ID] = run
		}
	}
	return runs, nil
}

// put stores the runs' documents. They do not wait for interval documents of other runs.
func (b *ends) put(index string) {
	s := b.s
	states := make(map[*ending]*runState, len(b.runs))
	var c chunk
	send := func() {
		if len(c.docs) > 0 {
			s.sendNow(&c)
		}
	}
	for _, e := range b.runs {
		states[e] = new(runState)
		c.add(index, e.key.id, runKey{}, func(dst []byte) []byte { return append(dst, e.text...) })
		c.docs[len(c.docs)-1].run = states[e]
		if e.text = nil; len(c.buf) >= s.limit() {
			send()
		}
	}
	send()
	b.each(func(e *ending) error {
		_, err := s.settled(states[e])
		if err == nil && states[e].rejected > 0 {
			err = errors.Join(ErrRejected, s.rejects.sync())
		}
		if err != nil {
			return fmt.Errorf("store the run's document: %w", err)
		}
		return nil
	})
}

// deleteOthers deletes the interval documents of other versions of those runs that have
// any, and looks that nothing else went.
func (b *ends) deleteOthers(index string) error {
	s := b.s
	var ids []string
	var others []any
	for _, e := range b.runs {
		if e.others {
			ids = append(ids, e.key.id)
			others = append(others, all(term("run.id", e.key.id), elastic.None(term("run.ingest", e.key.ingest))))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	err := s.again(s.ctx, func() error { _, err := s.client.DeleteAll(s.ctx, elastic.Any(others...), index); return err })
	if err != nil {
		return err
	}
	have, err := s.tally(s.ctx, ids, index)
	if err != nil {
		return err
	}
	got := make(map[string]int64)
	for version, n := range have {
		got[version.First] += n
	}
	b.each(func(e *ending) error {
		if !e.others {
			return nil
		}
		return e.verify(s, got[e.key.id])
	})
	return nil
}

// Queries.
var (
	term  = elastic.Term
	terms = elastic.Terms
	all   = elastic.All
)

// tally counts the documents of runs, by run.id and run.ingest.
func (s *Elastic) tally(ctx context.Context, ids []string, index string) (have map[elastic.Pair]int64, err error) {
	err = s.again(ctx, func() (err error) {
		have, err = s.client.Tally(ctx, terms("run.id", ids), "run.id", "run.ingest", index)
		return err
	})
	return have, err
}
