package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
)

// request is the body of a search.
type request struct {
	PIT      *pit              `json:"pit,omitempty"`
	Size     int               `json:"size"`
	Query    any               `json:"query"`
	Sort     []any             `json:"sort"`
	After    []json.RawMessage `json:"search_after,omitempty"`
	Source   any               `json:"_source,omitempty"`
	Values   []string          `json:"docvalue_fields,omitempty"`
	Stored   string            `json:"stored_fields,omitempty"`
	Total    bool              `json:"track_total_hits"`
	Sequence bool              `json:"seq_no_primary_term,omitempty"`
}

type pit struct {
	ID        string `json:"id"`
	KeepAlive string `json:"keep_alive,omitempty"`
}

// most is how many bytes the answer may have. Very large documents are read one by one in the
// end; ids are small.
func (r *request) most(l *limits) int64 {
	if _, some := r.Source.([]string); some {
		return 1<<20 + int64(r.Size)*2048
	}
	if r.Size <= 1 {
		return l.document
	}
	return l.answer
}

// shrink makes pages smaller if err says that an answer was too long. It reports whether it
// could.
func (r *request) shrink(err error) bool {
	if !errors.Is(err, es.ErrTooLong) || r.Size <= 1 {
		return false
	}
	r.Size = max(1, r.Size/4)
	return true
}

// found is the answer to a search, with documents of type D.
type found[D any] struct {
	es.Whole
	pit    string
	total  int
	hits   []hit[D]
	ok     bool  // it has the field hits
	damage error // why a document cannot be decoded, the first one
	in     counter
}

type hit[D any] struct {
	Index  string `json:"_index"`
	ID     string `json:"_id"`
	Source *D     `json:"_source"`
	Fields struct{ Light []json.RawMessage }
	Sort   sortKey `json:"sort"`
	Seq    int64   `json:"_seq_no"`
	Term   int64   `json:"_primary_term"`
}

// document is the document of a hit, which a proxy may have removed.
func (h *hit[D]) document() (*D, error) {
	if h.Source == nil {
		return nil, fmt.Errorf("document without _source: %w", history.ErrDamaged)
	}
	return h.Source, nil
}

// sortKey is a place in a sorted list. Its values stay texts, because integers can exceed a
// float64.
type sortKey []json.RawMessage

// UnmarshalJSON implements [json.Unmarshaler].
func (k *sortKey) UnmarshalJSON(text []byte) error {
	const most = 4096 // names may have commas, too
	if bytes.Count(text, []byte{','}) > most {
		return es.ErrAnswer
	}
	return json.Unmarshal(text, (*[]json.RawMessage)(k))
}

// search reads one page, of an index or, if that is empty, of a point in time. It fails if the
// page is incomplete.
func search[D any](ctx context.Context, e *reader, verb, index string, r *request) (*found[D], error) {
	var indices []string
	if index != "" {
		indices = []string{index}
	}
	query := esapi.SearchRequest{Index: indices, Body: es.JSON(r), AllowPartialSearchResults: new(bool)}
	if len(r.Values) > 0 {
		query.Header = http.Header{"Accept-Encoding": {"identity"}} // they are packed
	}
	search := es.Extended{Request: query, MaxAnswer: r.most(&e.limits)}
	if search.MaxAnswer > e.limits.answer { // one at a time, to save memory
		select {
		case e.large <- struct{}{}:
			defer func() { <-e.large }()
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", verb, ctx.Err())
		}
	}
	var f *found[D]
	err := e.do(ctx, verb, search, func(answer io.Reader) error {
		f = new(found[D])
		return f.read(answer, r.Size)
	})
	if err != nil {
		return nil, err
	}
	if err := f.check(verb, r); err != nil {
		return nil, err
	}
	if f.damage != nil {
		return nil, fmt.Errorf("%s: decode document: %w: %w", verb, history.ErrDamaged, f.damage)
	}
	return f, nil
}

// read decodes an answer with a limited number of hits, hit by hit: memory never has its whole text, nor more hits than
// were requested.
func (f *found[D]) read(answer io.Reader, most int) error {
	f.in = counter{r: answer}
	d := json.NewDecoder(&f.in)
	err := es.ReadObject(d, func(name string) error {
		switch name {
		case "pit_id":
			return d.Decode(&f.pit)
		case "timed_out":
			return d.Decode(&f.TimedOut)
		case "_shards":
			return d.Decode(&f.Shards)
		case "hits":
			f.ok = true
			return f.readHits(d, most)
		}
		return es.Skip(d)
	})
	if err != nil && f.in.failed == nil {
		return fmt.Errorf("%w: %w", es.ErrAnswer, err)
	}
	return err
}

func (f *found[D]) readHits(d *json.Decoder, most int) error {
	return es.ReadObject(d, func(name string) error {
		switch name {
		case "total":
			var total struct{ Value int }
			err := d.Decode(&total)
			f.total = total.Value
			return err
		case "hits":
			return es.ReadArray(d, func() error { return f.readHit(d, most) })
		}
		return es.Skip(d)
	})
}

func (f *found[D]) readHit(d *json.Decoder, most int) error {
	if len(f.hits) == most {
		return fmt.Errorf("more than %d hits", most)
	}
	var h hit[D]
	err := d.Decode(&h)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		f.hits = append(f.hits, h)
	case f.in.failed != nil, errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, es.ErrAnswer):
		return err
	case f.damage == nil:
		f.damage = err
	}
	return nil
}

// counter counts the bytes that are read.
type counter struct {
	r      io.Reader
	n      int
	failed error // of reading, other than io.EOF
}

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n += n; err != nil && !errors.Is(err, io.EOF) {
		c.failed = err
	}
	return n, err
}

// check fails unless the answer is complete.
func (f *found[D]) check(verb string, r *request) error {
	switch {
	case !f.ok || r.PIT != nil && f.pit == "":
		return fmt.Errorf("%s: %w", verb, es.ErrAnswer)
	}
	if err := f.Err(); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// openPIT opens a point in time of indices. It fails with [history.ErrNoIndex] if there are
// none, also for names with wildcards.
func (e *reader) openPIT(ctx context.Context, index string) (string, error) {
	const verb = "open point in time"
	var answer pit
	err := e.do(ctx, verb, es.Extended{
		// The type of esapi has no allow_no_indices.
		Request:   es.Request{Method: http.MethodPost, URI: "/" + index + "/_pit?allow_no_indices=false&keep_alive=" + e.keepAlive()},
		MaxAnswer: 1 << 20,
	}, &answer)
	if err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", fmt.Errorf("%s: %w", verb, es.ErrAnswer)
	}
	return answer.ID, nil
}

// closePIT closes a point in time, even if ctx has ended. If that fails, the point in time
// expires.
func (e *reader) closePIT(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.limits.closeAfter)
	defer cancel()
	_ = e.client.Do(ctx, esapi.ClosePointInTimeRequest{Body: es.JSON(pit{ID: id})}, nil)
}

func (e *reader) keepAlive() string { return fmt.Sprintf("%ds", int(e.limits.keepAlive/time.Second)) }

// isSame reports whether two places in a sorted list are equal. If a page ends where it began,
// reading would never end.
func isSame(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}
