package elastic

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// request is the body of a search request.
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

// most returns the limit of the answer in bytes. A page of one document may be larger, so that very large documents
// can be read one by one.
func (r *request) most(l *limits) int64 {
	if _, some := r.Source.([]string); some {
		return 1<<20 + int64(r.Size)*2048
	}
	if r.Size <= 1 {
		return l.document
	}
	return l.answer
}

// shrink makes pages a quarter of their size if err means that the answer was too long. It reports whether a smaller
// page is possible.
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
	ok     bool  // the answer has the field hits
	damage error // why the first unreadable document cannot be decoded
	bytes  int
}

type hit[D any] struct {
	Index  string
	ID     string
	Source *D
	Light  []byte // [mapping.LightField]
	Sort   sortKey
	Seq    int64
	Term   int64
}

// document returns the document of a hit. It fails if there is none: a proxy may have removed it.
func (h *hit[D]) document() (*D, error) {
	if h.Source == nil {
		return nil, fmt.Errorf("document without _source: %w", history.ErrDamaged)
	}
	return h.Source, nil
}

// sortKey is the place of a hit in the sorted list: the text of a JSON array.
type sortKey []byte

// values returns the keys as texts, because a float64 does not have all digits of large integers.
func (k sortKey) values() (values []json.RawMessage, err error) {
	const most = 4096 // the limit is on the text, because names may contain commas
	if bytes.Count(k, []byte{','}) > most || json.Unmarshal(k, &values) != nil {
		return nil, es.ErrAnswer
	}
	return values, nil
}

// search reads one page of an index, or of a point in time if index is empty. It fails if the page is incomplete.
func search[D any](ctx context.Context, e *Store, verb, index string, r *request) (*found[D], error) {
	var indices []string
	if index != "" {
		indices = []string{index}
	}
	query := esapi.SearchRequest{Index: indices, Body: es.JSON(r), AllowPartialSearchResults: new(bool)}
	if len(r.Values) > 0 {
		query.Header = http.Header{"Accept-Encoding": {"identity"}} // the values are compressed already
	}
	var f *found[D]
	err := e.do(ctx, verb, es.Limited{Request: query, MaxAnswer: r.most(&e.limits)}, func(answer io.Reader) error {
		f = new(found[D])
		if err := f.read(answer, r.Size); err != nil {
			return err
		}
		return f.check(r)
	})
	if err != nil {
		return nil, err
	}
	if f.damage != nil {
		return nil, fmt.Errorf("%s: decode document: %w: %w", verb, history.ErrDamaged, f.damage)
	}
	return f, nil
}

// read decodes an answer hit by hit, and fails if there are more than most hits. So the whole text is never in
// memory.
func (f *found[D]) read(answer io.Reader, most int) error {
	d := json.NewDecoder(answer)
	err := es.Object(d, func(name string) error {
		switch name {
		case "pit_id":
			return d.Decode(&f.pit)
		case "timed_out":
			return d.Decode(&f.TimedOut)
		case "_shards":
			return d.Decode(&f.Shards)
		case "hits":
			f.ok = true
			return es.Object(d, func(name string) error {
				switch name {
				case "total":
					var total struct{ Value int }
					err := d.Decode(&total)
					f.total = total.Value
					return err
				case "hits":
					return es.Array(d, func() error { return f.readHit(d, most) })
				}
				return es.Skip(d)
			})
		}
		return es.Skip(d)
	})
	f.bytes = int(d.InputOffset())
	return err
}

func (f *found[D]) readHit(d *json.Decoder, most int) error {
	if len(f.hits) == most {
		return fmt.Errorf("%w: more than %d hits", es.ErrAnswer, most)
	}
	var h hit[D]
	var damage error
	err := es.Object(d, func(name string) error {
		switch name {
		case "_index":
			return d.Decode(&h.Index)
		case "_id":
			return d.Decode(&h.ID)
		case "_seq_no":
			return d.Decode(&h.Seq)
		case "_primary_term":
			return d.Decode(&h.Term)
		case "fields": // a value that is not as [RunDocument] writes it is ignored
			return es.Object(d, func(string) error {
				return es.Array(d, func() error {
					var text json.RawMessage
					err := d.Decode(&text)
					h.Light, _ = base64.StdEncoding.AppendDecode(nil, bytes.Trim(text, `"`))
					return err
				})
			})
		}
		var text json.RawMessage
		err := d.Decode(&text)
		switch {
		case err != nil || string(text) == "null":
		case name == "sort":
			h.Sort = sortKey(text)
		case name == "_source":
			h.Source = new(D)
			if u, ok := any(h.Source).(json.Unmarshaler); ok { // avoids scanning the text twice
				damage = u.UnmarshalJSON(text)
			} else {
				damage = json.Unmarshal(text, h.Source)
			}
		}
		return err
	})
	switch {
	case err != nil:
	case damage == nil:
		f.hits = append(f.hits, h)
	case f.damage == nil:
		f.damage = damage
	}
	return err
}

// check fails if the answer is incomplete.
func (f *found[D]) check(r *request) error {
	if !f.ok || r.PIT != nil && f.pit == "" {
		return es.ErrAnswer
	}
	return f.Err()
}

// openPIT opens a point in time of indices. If no index has one of the names or patterns, it fails with
// [history.ErrNoIndex].
func (e *Store) openPIT(ctx context.Context, index string) (string, error) {
	const verb = "open point in time"
	var answer pit
	err := e.do(ctx, verb, es.Limited{
		// The type in esapi lacks allow_no_indices.
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

// closePIT closes a point in time, even if ctx has ended. If that fails, the point in time expires by itself.
func (e *Store) closePIT(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.limits.closeAfter)
	defer cancel()
	_ = e.client.Do(ctx, esapi.ClosePointInTimeRequest{Body: es.JSON(pit{ID: id})}, nil)
}

func (e *Store) keepAlive() string { return fmt.Sprintf("%ds", int(e.limits.keepAlive/time.Second)) }

// isSame reports whether two places in a sorted list are equal. If a page ends where it began, reading would not
// end.
func isSame(a, b []json.RawMessage) bool {
	return slices.EqualFunc(a, b, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
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

// between finds documents that start in [from, to). A zero time is no bound.
func between(from, to time.Time) []any {
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
	return []any{es.Range("@timestamp", bounds)}
}

func ascending(field string) any { return map[string]any{field: map[string]any{"order": "asc"}} }

func descending(field string) any { return map[string]any{field: map[string]any{"order": "desc"}} }

// optional sorts by a field. Documents without it are sorted as if they had this value.
func optional(field string, value any) any {
	return map[string]any{field: map[string]any{"order": "asc", "missing": value}}
}

// optionalField sorts by a field that may be missing in old indices.
func optionalField(field string) any {
	return map[string]any{field: map[string]any{"order": "asc", "unmapped_type": "keyword"}}
}

// excludes returns a source filter that leaves out these fields.
func excludes(fields ...string) any { return map[string]any{"excludes": fields} }

// runQuery returns the part of f that the cluster can decide. [history.RunFilter.Matches] decides the rest.
func runQuery(f *history.RunFilter) any {
	queries := append(between(f.Started()), isRun())
	if f.Live() {
		queries = append(queries, es.Prefix("run.ingest", mapping.LivePrefix))
	}
	for path, value := range f.Equals() {
		label, isLabel := strings.CutPrefix(path, history.LabelPath)
		if isExact(value) && (!isLabel || isPlain(label)) {
			queries = append(queries, es.Term(path, value))
		}
	}
	return es.All(queries...)
}

// isExact reports whether a search for a keyword value finds exactly this value. Long values may not be indexed, and
// an empty one can mean a missing field.
func isExact(value string) bool { return value != "" && len(value) <= 200 }

// isPlain reports whether the name of a label can be a part of a field's name.
func isPlain(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
