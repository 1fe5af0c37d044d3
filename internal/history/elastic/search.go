package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

// request is the body of a search.
type request struct {
	PIT    *pit            `json:"pit,omitempty"`
	Size   int             `json:"size"` // of the page
	Query  any             `json:"query"`
	Sort   []any           `json:"sort"`
	After  json.RawMessage `json:"search_after,omitempty"`    // place of the last hit of the page before
	Source any             `json:"_source,omitempty"`         // see without
	Fields []string        `json:"docvalue_fields,omitempty"` // this one and the next: see Summaries
	Stored string          `json:"stored_fields,omitempty"`
	Total  bool            `json:"track_total_hits"`
	State  bool            `json:"seq_no_primary_term,omitempty"`
	Stable bool            `json:"-"` // of several pages: open a point in time for them
	InPIT  bool            `json:"-"` // if Stable: open it also for one page

	// Summaries reads the summaries of run documents, and not the documents. From the first page with one that has none, because an earlier
	// fio2es stored it, documents are read.
	Summaries *pack.Reading `json:"-"`
}

type pit struct {
	ID        string `json:"id"`
	KeepAlive string `json:"keep_alive,omitempty"`
}

// hit is a found document.
type hit struct {
	Index  string          `json:"_index"`
	ID     string          `json:"_id"`
	Source json.RawMessage `json:"_source"`
	Sort   json.RawMessage `json:"sort"` // its place, unchanged: a float64 does not have all digits of large integers
	Seq    int64           `json:"_seq_no"`
	Term   int64           `json:"_primary_term"`
	Fields struct {
		ID      []string `json:"run.id"`  // [mapping.RunField]
		Summary [][]byte `json:"summary"` // [mapping.SummaryField]
	} `json:"fields"`
	found *mapping.Run
	err   error
}

func (h *hit) hasSummary() bool { return len(h.Fields.Summary) == 1 && len(h.Fields.ID) == 1 }

// run returns the run document of a hit, or a [history.DamagedRunError]. It is nil if the search does not need it.
func (h *hit) run() (*mapping.Run, error) {
	run, err := h.found, h.err
	if !h.hasSummary() {
		run, err = history.DecodeRun(h.Source)
	}
	if err != nil {
		return nil, &history.DamagedRunError{ID: h.ID, Err: err}
	}
	return run, nil
}

func (h *hit) interval() (*mapping.Interval, error) {
	d := new(mapping.Interval)
	if err := jsonv2.Unmarshal(h.Source, d); err != nil {
		return nil, fmt.Errorf("document %s/%s: %w: %w", h.Index, h.ID, history.ErrDamaged, err)
	}
	d.Run.Pending = false // it is about the cluster, not about the document
	return d, nil
}

// hits returns the documents that a search finds, in order. It reads page by page, from a point in time the next page
// while the caller works on the last one. A search in a point in time fails unless all documents come, and closes the
// point in time. It opens one of index if r has none and is Stable.
func (e *Store) hits(ctx context.Context, verb, index string, r request) iter.Seq2[*hit, error] {
	pages := func(ctx context.Context) iter.Seq2[[]hit, error] {
		return func(yield func([]hit, error) bool) {
			r.Size = min(r.Size, e.limits.pageHits)
			for left := 0; ; {
				isFirst := r.After == nil
				r.Total = r.PIT != nil && isFirst
				p, err := e.page(ctx, index, &r)
				if errors.Is(err, es.ErrTooLong) && r.Size > 1 {
					r.Size = max(1, r.Size/4)
					continue
				}
				if err != nil {
					yield(nil, fmt.Errorf("%s: %w", verb, err))
					return
				}
				n, isLast := len(p.Hits.Hits), len(p.Hits.Hits) < r.Size
				if isFirst {
					left = p.Hits.Total.Value
				}
				if want := min(r.Size, left); r.PIT != nil {
					if n != want {
						yield(nil, incomplete(verb, n, want))
						return
					}
					left -= n
					r.PIT.ID, isLast = p.PIT, left == 0
				}
				if !isLast {
					last := p.Hits.Hits[n-1].Sort
					if len(last) == 0 || bytes.Equal(last, r.After) { // the next page would be the same, without end
						err = fmt.Errorf("%s: %w", verb, es.ErrAnswer)
					}
					r.After, r.Size = last, max(1, min(n*e.limits.pageBytes/max(1, p.bytes), e.limits.pageHits))
				}
				if !yield(p.Hits.Hits, err) || err != nil || isLast {
					return
				}
			}
		}
	}
	return func(yield func(*hit, error) bool) {
		summaries := r.Summaries
		give := func(hits []hit) bool {
			if summaries != nil { // here, while the next page is on its way
				unpack(hits, summaries)
			}
			for i := range hits {
				if h := &hits[i]; !h.hasSummary() && (len(h.Source) == 0 || string(h.Source) == "null") { // a proxy may have removed it
					yield(nil, fmt.Errorf("%s: document without _source: %w", verb, history.ErrDamaged))
					return false
				}
				if !yield(&hits[i], nil) {
					return false
				}
			}
			return true
		}
		next := 0
		var err error
		if r.Stable && !r.InPIT { // unless all are on one page, which is one state anyway
			one := r
			one.Size, one.Total = min(r.Size, e.limits.pageHits), true
			var p *page
			p, err = e.page(ctx, index, &one)
			if err == nil && p.Hits.Total.Value < one.Size {
				if n := len(p.Hits.Hits); n != p.Hits.Total.Value {
					yield(nil, incomplete(verb, n, p.Hits.Total.Value))
				} else {
					give(p.Hits.Hits)
				}
				return
			}
			if errors.Is(err, es.ErrTooLong) {
				err = nil
			} else if err != nil {
				err = fmt.Errorf("%s: %w", verb, err)
			}
		}
		if r.Stable && err == nil {
			r.PIT, err = e.openPIT(ctx, index)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if r.PIT != nil {
			index = "" // the point in time has it
			defer func() { e.closePIT(ctx, r.PIT.ID) }()
			next = e.limits.ahead
		}
		for hits, err := range ahead.Read(ctx, next, pages) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !give(hits) {
				return
			}
		}
	}
}

func incomplete(verb string, have, want int) error {
	return fmt.Errorf("%s: %d of %d documents: %w", verb, have, want, es.ErrIncomplete)
}

// page is the answer to a search.
type page struct {
	es.Whole
	PIT  string `json:"pit_id"`
	Hits *struct {
		Total struct {
			Value int `json:"value"`
		} `json:"total"`
		Hits hitList `json:"hits"`
	} `json:"hits"`
	bytes int
}

// hitList is decoded hit by hit, so that an answer of millions of empty hits does not fill the memory.
type hitList []hit

// UnmarshalJSONFrom implements [jsonv2.UnmarshalerFrom]. So an answer is read once; encoding/json reads the text of a document four
// times before the document is decoded.
func (h *hitList) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	const most = 10_000 // Elasticsearch gives no more
	t, err := d.ReadToken()
	if err == nil && t.Kind() != '[' {
		return es.ErrAnswer
	}
	for err == nil && d.PeekKind() != ']' {
		if len(*h) == most {
			return fmt.Errorf("%w: more than %d hits", es.ErrAnswer, most)
		}
		*h = append(*h, hit{})
		err = jsonv2.UnmarshalDecode(d, &(*h)[len(*h)-1])
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return err
}

// decodePage decodes an answer. Its errors are those that a client knows.
func decodePage(text []byte, p *page) error {
	err := jsonv2.Unmarshal(text, p, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var kind *jsonv2.SemanticError
	switch {
	case err == nil, errors.Is(err, es.ErrAnswer), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case errors.As(err, &kind):
		return fmt.Errorf("%w: its field %s is a %v", es.ErrAnswer, strings.ReplaceAll(strings.Trim(string(kind.JSONPointer), "/"), "/", "."), kind.JSONKind)
	}
	return es.ErrAnswer
}

// page reads one page of an index, or of a point in time if index is empty. It fails if the page is incomplete.
func (e *Store) page(ctx context.Context, index string, r *request) (*page, error) {
	if r.Summaries != nil { // without stored fields, not even _id, because reading those takes most of the time
		r.Source, r.Fields, r.Stored = false, []string{mapping.RunField, mapping.SummaryField}, "_none_"
	}
	search := es.Limited{MaxAnswer: e.limits.answer}
	if r.Size <= 1 { // so that very large documents can be read one by one
		search.MaxAnswer = e.limits.document
	}
	query := esapi.SearchRequest{Body: es.JSON(r), AllowPartialSearchResults: new(bool)}
	if index != "" {
		query.Index = []string{index}
	}
	search.Request = query
	var p *page
	err := e.client.Do(ctx, search, es.Reader(func(_ http.Header, text []byte) error {
		p = &page{bytes: len(text)}
		err := decodePage(text, p)
		switch {
		case err != nil:
			return err
		case p.Hits == nil || r.PIT != nil && p.PIT == "" || len(p.Hits.Hits) > r.Size:
			return es.ErrAnswer
		}
		return p.Err()
	}))
	if err == nil && r.Summaries != nil && slices.ContainsFunc(p.Hits.Hits, func(h hit) bool { return !h.hasSummary() }) {
		r.Summaries, r.Source, r.Fields, r.Stored = nil, without(heavy...), nil, ""
		return e.page(ctx, index, r)
	}
	return p, err
}

// unpack reads the summaries of a page, on all processors.
func unpack(hits []hit, as *pack.Reading) {
	const few = 16 // fewest runs for a goroutine
	ahead.Each(min(runtime.GOMAXPROCS(0), len(hits)/few), len(hits), func(i int) {
		if h := &hits[i]; h.hasSummary() {
			h.ID = h.Fields.ID[0]
			h.found, h.err = as.Run(h.Fields.Summary[0])
			h.Fields.Summary[0] = nil
		}
	})
}

// openPIT opens a point in time of indices. If no index has one of the names or patterns, it fails with status 404.
func (e *Store) openPIT(ctx context.Context, index string) (*pit, error) {
	p, live := new(pit), fmt.Sprintf("%ds", int(e.limits.keepAlive/time.Second))
	// the type in esapi lacks allow_no_indices
	err := e.client.Do(ctx, es.Request{Method: http.MethodPost, URI: "/" + index + "/_pit?allow_no_indices=false&keep_alive=" + live}, p)
	if err == nil && p.ID == "" {
		err = es.ErrAnswer
	}
	if err != nil {
		return nil, fmt.Errorf("open point in time: %w", err)
	}
	p.KeepAlive = live
	return p, nil
}

// closePIT closes a point in time, even if ctx has ended. If that fails, the point in time expires by itself.
func (e *Store) closePIT(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.limits.closeAfter)
	defer cancel()
	_ = e.client.Do(ctx, esapi.ClosePointInTimeRequest{Body: es.JSON(pit{ID: id})}, nil)
}

// mostTerms limits the values in one query. Elasticsearch allows 65,536 terms, and 10,000 hits in one answer.
const mostTerms = 10_000

// isRun finds run documents, but not documents about removed runs and parts of runs.
func isRun() any {
	return es.None(es.Any(es.Exists(mapping.RemovedIDField), es.Exists(mapping.SharedRunField)))
}

// hashed finds documents whose list of files, below an object of theirs, has one of these hashes, as in [mapping.Source.Hashes].
func hashed(object string, hashes []string) any {
	return es.Any(
		es.Terms(object+mapping.FileHashField, hashes), es.Terms(object+mapping.FileBeginField, hashes), es.Terms(object+mapping.FileSaysField, hashes),
	)
}

// oneOf finds documents with one of the values in a field. A document without the field counts as having the value
// "".
func oneOf(field string, values []string) any {
	i := slices.Index(values, "")
	if i < 0 {
		return es.Terms(field, values)
	}
	rest := slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" })
	return es.Any(es.Terms(field, rest), es.None(es.Exists(field)))
}

// between finds documents with a time in [from, to) in a field. A zero time is no bound.
func between(field string, from, to time.Time) []any {
	bounds := map[string]any{}
	if !from.IsZero() {
		bounds["gte"] = history.CeilMilli(from) // rounded up, because stored times are rounded down
	}
	if !to.IsZero() {
		bounds["lt"] = history.CeilMilli(to)
	}
	if len(bounds) == 0 {
		return nil
	}
	bounds["format"] = "epoch_millis"
	return []any{es.Range(field, bounds)}
}

// runQuery returns the part of f that the cluster can decide. [history.RunFilter.Matches] decides the rest.
func runQuery(f *history.RunFilter) any {
	from, to := f.Started()
	queries := append(between(mapping.TimeField, from, to), isRun())
	if f.Live() {
		queries = append(queries, es.Prefix(mapping.IngestField, mapping.LivePrefix))
	}
	if f.Execution != "" {
		queries = append(queries, es.Prefix(mapping.ExecutionField, f.Execution))
	}
	if len(f.IDs) > 0 {
		queries = append(queries, es.Terms(mapping.RunField, f.IDs))
	}
	if ids, version := f.Workloads(); len(ids) > 0 && len(ids) <= mostTerms {
		queries = append(queries, es.Any(es.Terms(mapping.WorkloadsField, ids), es.None(es.Prefix(mapping.WorkloadsField, version))))
	}
	left := 100 // Elasticsearch refuses a query of a thousand parts
	for _, list := range f.Tests() {
		if left -= len(list); left < 0 {
			break
		}
		var either []any
		for _, t := range list {
			either = append(either, passes(t), es.None(es.Exists(t.Field)))
		}
		queries = append(queries, es.Any(either...))
	}
	return es.All(queries...)
}

// passes finds documents that pass a test.
func passes(t mapping.FieldTest) any {
	bound := map[string]string{">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}[t.Op]
	switch {
	case t.Value == nil:
		return es.All(between(t.Field, t.From, t.To)...)
	case bound != "":
		return es.Range(t.Field, map[string]any{bound: t.Value})
	}
	return es.Term(t.Field, t.Value)
}

func ascending(field string) any { return map[string]any{field: map[string]any{"order": "asc"}} }

// optional sorts by a field. Documents without it are sorted as if they had this value.
func optional(field string, value any) any {
	return map[string]any{field: map[string]any{"order": "asc", "missing": value}}
}

// without returns a source filter that leaves out these fields of documents.
func without(fields ...string) any { return map[string][]string{"excludes": fields} }
