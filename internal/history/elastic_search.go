package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
)

// shards tells how many of the parts of indices took part in an answer.
type shards struct {
	Failed   int `json:"failed"`
	Failures []struct {
		Index  string                        `json:"index"`
		Reason struct{ Type, Reason string } `json:"reason"`
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
	Stored   string            `json:"stored_fields,omitempty"` // "_none_": neither _source nor _id
	Total    bool              `json:"track_total_hits"`
	Sequence bool              `json:"seq_no_primary_term,omitempty"`
}

type pit struct {
	ID        string `json:"id"`
	KeepAlive string `json:"keep_alive,omitempty"`
}

// found is a search's answer, with documents of type D.
type found[D any] struct {
	PIT      string `json:"pit_id"`
	TimedOut bool   `json:"timed_out"`
	Shards   shards `json:"_shards"`
	Hits     *struct {
		Total struct {
			Value int `json:"value"`
		} `json:"total"`
		Hits []hit[D] `json:"hits"`
	} `json:"hits"`
}

type hit[D any] struct {
	Source *D                `json:"_source"`
	Sort   []json.RawMessage `json:"sort"` // texts as they came: whole numbers exceed a float64
	Seq    int64             `json:"_seq_no"`
	Term   int64             `json:"_primary_term"`
}

// search asks for one page, of an index or, when that is empty, of a point in time. It
// gives all that the page should have, or fails.
func search[D any](ctx context.Context, e *Elastic, buf *bytes.Buffer, verb, index string, r *request) (*found[D], error) {
	path := "/_search?allow_partial_search_results=false"
	if index != "" {
		path = "/" + index + path
	}
	if err := e.send(ctx, buf, verb, http.MethodPost, path, r); err != nil {
		return nil, err
	}
	f := new(found[D])
	// In one go: most of an answer is documents, and taking them out of it first would
	// read them twice.
	if err := json.Unmarshal(buf.Bytes(), f); err != nil {
		return nil, explain(buf.Bytes(), verb, r, err)
	}
	return f, f.check(verb, r)
}

// check tells whether the answer is one, and whole.
func (f *found[D]) check(verb string, r *request) error {
	switch {
	case f.Hits == nil || len(f.Hits.Hits) > r.Size || r.PIT != nil && f.PIT == "":
		return fmt.Errorf("%s: %w", verb, errOdd)
	case f.TimedOut:
		return fmt.Errorf("%s: the search ran out of time: %w", verb, ErrIncomplete)
	}
	return f.Shards.check(verb)
}

// explain tells an answer that is none from one with a document that cannot be read.
func explain(answer []byte, verb string, r *request, cause error) error {
	f := new(found[json.RawMessage])
	if err := json.Unmarshal(answer, f); err != nil {
		return fmt.Errorf("%s: %w: %w", verb, errOdd, err)
	}
	if err := f.check(verb, r); err != nil {
		return err
	}
	return fmt.Errorf("%s: decode document: %w: %w", verb, ErrDamaged, cause)
}

// documents are those of hits.
func documents[D any](hits []hit[D]) ([]*D, error) {
	docs := make([]*D, len(hits))
	for i, h := range hits {
		if docs[i] = h.Source; h.Source == nil {
			return nil, fmt.Errorf("document without _source: %w", ErrDamaged)
		}
	}
	return docs, nil
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
	_ = e.client.Do(ctx, elastic.Request{Method: http.MethodDelete, URI: "/_pit", Body: pit{ID: id}}, nil)
}

func (e *Elastic) keepAlive() string { return fmt.Sprintf("%ds", int(e.limits.keepAlive/time.Second)) }

// isSame tells whether two places in an order are one: reading would never end.
func isSame(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}
