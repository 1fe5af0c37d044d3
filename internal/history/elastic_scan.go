package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
)

// shards tells how many of the parts of indices took part in an answer.
type shards struct {
	Failed   int `json:"failed"`
	Failures []struct {
		Index  string `json:"index"`
		Reason cause  `json:"reason"`
	} `json:"failures"`
}

func (s *shards) check(verb string) error {
	if s.Failed == 0 && len(s.Failures) == 0 {
		return nil
	}
	why := ""
	if len(s.Failures) > 0 {
		f := s.Failures[0]
		why = fmt.Sprintf(" (%s: %s: %s)", f.Index, f.Reason.Type, f.Reason.Reason)
	}
	return fmt.Errorf("%s: %d shards failed%s: %w", verb, s.Failed, why, ErrIncomplete)
}

// request is the body of a search.
type request struct {
	PIT      *pit              `json:"pit,omitempty"`
	Size     int               `json:"size"`
	Query    any               `json:"query"`
	Sort     []any             `json:"sort"`
	After    []json.RawMessage `json:"search_after,omitempty"`
	Source   any               `json:"_source,omitempty"`
	Total    bool              `json:"track_total_hits"`
	Sequence bool              `json:"seq_no_primary_term,omitempty"`
}

type pit struct {
	ID        string `json:"id"`
	KeepAlive string `json:"keep_alive,omitempty"`
}

// found is a search's answer.
type found struct {
	PIT      string `json:"pit_id"`
	TimedOut bool   `json:"timed_out"`
	Shards   shards `json:"_shards"`
	Hits     *struct {
		Total struct {
			Value int `json:"value"`
		} `json:"total"`
		Hits []hit `json:"hits"`
	} `json:"hits"`
}

type hit struct {
	Source json.RawMessage   `json:"_source"`
	Sort   []json.RawMessage `json:"sort"` // texts as they came: whole numbers exceed a float64
	Seq    int64             `json:"_seq_no"`
	Term   int64             `json:"_primary_term"`
}

// search asks for one page, of an index or, when that is empty, of a point in time. It
// gives all that the page should have, or fails.
func (e *Elastic) search(ctx context.Context, buf *bytes.Buffer, verb, index string, r *request) (*found, error) {
	path := "/_search?allow_partial_search_results=false"
	if index != "" {
		path = "/" + index + path
	}
	if err := e.send(ctx, buf, verb, http.MethodPost, path, r); err != nil {
		return nil, err
	}
	f := new(found)
	if err := json.Unmarshal(buf.Bytes(), f); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", verb, errOdd, err)
	}
	if f.Hits == nil || len(f.Hits.Hits) > r.Size || r.PIT != nil && f.PIT == "" {
		return nil, fmt.Errorf("%s: %w", verb, errOdd)
	}
	if f.TimedOut {
		return nil, fmt.Errorf("%s: the search ran out of time: %w", verb, ErrIncomplete)
	}
	return f, f.Shards.check(verb)
}

// openPIT fixes the state of indices. No index at all is [ErrNoIndex], for names with
// wildcards, too: an empty point in time is one more thing to be wrong about.
func (e *Elastic) openPIT(ctx context.Context, index string) (string, error) {
	const verb = "open point in time"
	var answer pit
	path := "/" + index + "/_pit?allow_no_indices=false&keep_alive=" + e.keepAlive()
	if err := e.ask(ctx, verb, http.MethodPost, path, nil, &answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", fmt.Errorf("%s: %w", verb, errOdd)
	}
	return answer.ID, nil
}

// closePIT frees what a point in time keeps in the cluster, even when ctx has ended. If
// that fails, it ends by itself.
func (e *Elastic) closePIT(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.limits.closeAfter)
	defer cancel()
	text, _ := json.Marshal(pit{ID: id}) // a text cannot fail
	_ = e.once(ctx, new(bytes.Buffer), http.MethodDelete, "/_pit", text)
}

func (e *Elastic) keepAlive() string { return fmt.Sprintf("%ds", int(e.limits.keepAlive/time.Second)) }

// scan reads the documents that a query finds in a point in time, in order.
type scan[D any] struct {
	e       *Elastic
	verb    string
	request request // of the next page
	keep    func(*D) bool
	reopen  func(context.Context) (string, error) // the same state anew; nil where that cannot be

	buf   bytes.Buffer
	total int // hits that there should be; -1 where that is unknown
	read  int // hits that there were
}

// documents closes the point in time at the end. The next page is on its way while the
// caller works on one.
func (s *scan[D]) documents(ctx context.Context) iter.Seq2[*D, error] {
	return func(yield func(*D, error) bool) {
		pages := make(chan []*D)
		var failure error // to be read when pages is closed
		var wait sync.WaitGroup
		inner, cancel := context.WithCancel(ctx)
		defer func() {
			cancel()
			wait.Wait()
			s.e.closePIT(ctx, s.request.PIT.ID)
		}()
		wait.Go(func() {
			defer close(pages)
			failure = s.pages(inner, pages)
		})
		for page := range pages {
			for _, d := range page {
				if s.keep(d) && !yield(d, nil) {
					return
				}
			}
		}
		if failure != nil {
			yield(nil, failure)
		}
	}
}

func (s *scan[D]) pages(ctx context.Context, out chan<- []*D) error {
	s.request.Total = true
	for more := true; more; {
		hits, last, err := s.page(ctx)
		if err != nil {
			return err
		}
		docs, err := decodeHits[D](hits)
		if err != nil {
			return fmt.Errorf("%s: %w", s.verb, err)
		}
		more = !last
		select {
		case out <- docs:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", s.verb, ctx.Err())
		}
	}
	if s.total >= 0 && s.read != s.total {
		return fmt.Errorf("%s: %d of %d documents: %w", s.verb, s.read, s.total, ErrIncomplete)
	}
	return nil
}

// page gets the next page, and tells whether it is the last.
func (s *scan[D]) page(ctx context.Context) ([]hit, bool, error) {
	for reopened := false; ; {
		f, err := s.e.search(ctx, &s.buf, s.verb, "", &s.request)
		switch {
		case err == nil:
			return s.turn(f)
		case errors.Is(err, errLarge) && s.request.Size > 1:
			s.request.Size = max(1, s.request.Size/4)
		case isExpired(err) && !reopened && s.reopen != nil:
			id, err := s.reopen(ctx)
			if err != nil {
				return nil, false, err
			}
			reopened = true
			s.continueIn(id)
		default:
			return nil, false, err
		}
	}
}

// isExpired tells whether a point in time is no more: it is kept from page to page, but
// not for a caller who takes too long, and not when a node restarts.
func isExpired(err error) bool {
	refusal := (*elastic.Error)(nil)
	return errors.As(err, &refusal) && refusal.Type == "search_context_missing_exception"
}

// continueIn goes on in another point in time of the same documents, whose numbers
// (_shard_doc, the last key of order) are others. The keys before it tell all documents
// apart: go on after the largest number.
func (s *scan[D]) continueIn(id string) {
	s.request.PIT.ID = id
	s.request.Total, s.total = false, -1
	if n := len(s.request.After); n > 0 {
		s.request.After[n-1] = json.RawMessage("9223372036854775807")
	}
}

// turn prepares the next page.
func (s *scan[D]) turn(f *found) ([]hit, bool, error) {
	hits := f.Hits.Hits
	if s.request.Total {
		s.request.Total, s.total = false, f.Hits.Total.Value
	}
	s.request.PIT.ID = f.PIT // may be another one each time
	s.read += len(hits)
	if len(hits) < s.request.Size {
		return hits, true, nil
	}
	last := hits[len(hits)-1].Sort
	if len(last) != len(s.request.Sort)+1 || isSame(last, s.request.After) {
		return nil, false, fmt.Errorf("%s: %w", s.verb, errOdd)
	}
	s.request.After = last
	fit := len(hits) * s.e.limits.pageBytes / max(1, s.buf.Len())
	s.request.Size = max(1, min(fit, 4*s.request.Size, s.e.limits.pageHits))
	return hits, false, nil
}

// isSame tells whether two places in an order are one: reading would never end.
func isSame(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// decodeHits reads the documents of a page on all processors.
func decodeHits[D any](hits []hit) ([]*D, error) {
	const few = 32 // documents that are not worth a goroutine
	docs := make([]*D, len(hits))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(hits)/few))
	faults := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := len(hits) * w / workers; i < len(hits)*(w+1)/workers; i++ {
				if docs[i], faults[w] = decodeHit[D](hits[i]); faults[w] != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	return docs, errors.Join(faults...)
}

func decodeHit[D any](h hit) (*D, error) {
	if len(h.Source) == 0 {
		return nil, fmt.Errorf("document without _source: %w", ErrDamaged)
	}
	d := new(D)
	if err := json.Unmarshal(h.Source, d); err != nil {
		return nil, fmt.Errorf("decode document: %w: %w", ErrDamaged, err)
	}
	return d, nil
}
