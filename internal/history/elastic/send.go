package elastic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cespare/xxhash/v2"
	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
)

// Errors of documents that are not stored.
var (
	ErrBlocked     = errors.New("the index is blocked for writing: remove its block (index.blocks.write, index.blocks.read_only)")
	ErrClosedIndex = errors.New("the index is closed: open it (POST INDEX/_open)")
	ErrNoIndex     = errors.New("the index cannot be made: allow its name in action.auto_create_index, or create it")
	ErrPrivileges  = errors.New("writing needs the index privileges " +
		"auto_configure, index, delete, read, maintenance and view_index_metadata, and " +
		"indices:admin/index_template/get on the cluster; docs/elasticsearch.md has the role")
)

// advised adds to an error what to do about it, if that is known: it concerns all documents, and waiting does not heal
// it.
func advised(err error) error {
	e, ok := errors.AsType[*es.Error](err)
	switch {
	case !ok || e.IsDiskFull(): // the client waits until there is space
	case e.Type == es.BlockType && e.Status == http.StatusForbidden:
		return fmt.Errorf("%w: %w", ErrBlocked, err)
	case e.Type == es.ClosedType:
		return fmt.Errorf("%w: %w", ErrClosedIndex, err)
	case e.Type == es.MissingType:
		return fmt.Errorf("%w: %w", ErrNoIndex, err)
	case e.IsForbidden() && e.Type != "":
		return fmt.Errorf("%w: %w", ErrPrivileges, err)
	}
	return err
}

// send sends documents until each is stored or rejected, or none can be stored. Why one is rejected is in the state of its version.
func (e *Store) send(ctx context.Context, docs []*document) error {
	tooLarge := false
	err := e.client.Repeat(ctx, func(ctx context.Context) error {
		items, err := e.bulk(ctx, docs, "")
		r := newResult(docs, items, err)
		e.record(&r)
		docs, tooLarge = r.again, r.tooLarge
		if r.err != nil || len(docs) == 0 || tooLarge {
			return r.err
		}
		if len(r.stored) > 0 {
			return es.Further(r.cause)
		}
		return es.Again(r.cause)
	})
	if err != nil || !tooLarge {
		return err
	}
	half := len(docs) / 2
	if err := e.send(ctx, docs[:half]); err != nil {
		return err
	}
	return e.send(ctx, docs[half:])
}

// record records what became of the documents of one request.
func (e *Store) record(r *result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range r.kept {
		d.of.kept = true
	}
	for _, d := range r.rejected {
		d.of.err = cmp.Or(d.of.err, d.err)
	}
	for _, d := range r.stored {
		d.of.stored[xxhash.Sum64String(d.id)] = struct{}{}
	}
	if r.tooLarge { // the limit is a setting of the server or a proxy, so later requests are smaller, too
		size := 0
		for _, d := range r.again {
			size += d.bytes()
		}
		e.body = min(e.body, size/2)
	}
}

// result has the documents of one request, sorted by what to do next.
type result struct {
	stored   []*document
	kept     []*document // those of them that were there already
	rejected []*document // each with its err
	again    []*document // to send again
	cause    error       // why
	tooLarge bool        // for the server or a proxy: send halves
	err      error       // why all of them cannot be stored
}

// newResult sorts the documents of a request. items has the item result of each; Status 0 means unknown. err is the
// error of the whole request, or nil.
func newResult(sent []*document, items []es.Error, err error) result {
	const mostBroken = 5
	var r result
	reject := func(d *document, err error) { d.err, r.rejected = err, append(r.rejected, d) }
	rejected := func(d *document, err error) { reject(d, fmt.Errorf("%w: %s: %w", history.ErrRejected, d.id, err)) }
	for i, d := range sent {
		item := &items[i]
		advice := advised(item)
		isOther := advice != error(item)
		switch {
		case item.Type == "" && item.Status/100 == 2:
			r.stored = append(r.stored, d)
		case item.Status == http.StatusConflict: // it is there already
			r.stored, r.kept = append(r.stored, d), append(r.kept, d)
		case item.Status == 0:
			r.again = append(r.again, d)
		case isOther:
			reject(d, fmt.Errorf("store document %s: %w", d.id, advice))
		case es.Temporary(item):
			r.cause, r.again = es.Named(item), append(r.again, d)
		case item.Status >= http.StatusInternalServerError && d.broken+1 < mostBroken:
			d.broken++ // a shard that is being moved gives such errors for a short time
			r.cause, r.again = item, append(r.again, d)
		default:
			rejected(d, item)
		}
	}
	e, isAnswer := errors.AsType[*es.Error](err)
	r.cause = cmp.Or(err, r.cause)
	advice := advised(err)
	switch {
	case err == nil:
	case advice != err: //nolint:errorlint // advised returns its argument if it has no advice
		r.err = advice
	case es.Temporary(err), errors.Is(err, errBulkAnswer):
	case !isAnswer || e.Status != http.StatusRequestEntityTooLarge:
		r.err = err
	case len(sent) == 1:
		rejected(sent[0], e)
	default:
		r.tooLarge = true
	}
	return r
}

// errBulkAnswer means that the answer to a bulk request lacks an item result for some document, or has too many.
// Elasticsearch does not report this: "errors" may be false.
var errBulkAnswer = errors.New("bulk answer does not account for each document")

// bulk sends one bulk request and returns the item result of each document. If the answer lacks an item, its Status is
// 0, err says why, and the document may or may not be stored. With refresh "true" they are visible afterwards.
func (e *Store) bulk(ctx context.Context, docs []*document, refresh string) ([]es.Error, error) {
	var body bytes.Buffer
	ids, items := make([]string, len(docs)), make([]es.Error, len(docs))
	for i, d := range docs {
		ids[i] = d.id
		body.Write(append(d.action(), '\n'))
		body.Write(d.text)
		body.WriteByte('\n')
	}
	request := esapi.BulkRequest{
		Refresh: refresh,
		Body:    bytes.NewReader(body.Bytes()), Header: http.Header{"Content-Type": {"application/x-ndjson"}},
		FilterPath: []string{"errors", "error", "status", "items.*._id", "items.*.status", "items.*.error"},
	}
	err := e.client.Once(ctx, request, es.Reader(func(_ http.Header, answer []byte) error {
		return readBulk(answer, ids, items)
	}))
	if err != nil {
		err = fmt.Errorf("send bulk request: %w", err)
	}
	for i := range items {
		items[i].Type, items[i].Reason = e.client.Redact(items[i].Type), e.client.Redact(items[i].Reason)
	}
	return items, err
}

// readBulk reads the answer to a bulk request into items, one for each of ids. Items have the order of the
// documents. If some are missing, readBulk finds the others by id.
func readBulk(text []byte, ids []string, items []es.Error) error {
	type item struct { // the value beside the name of its action
		ID     string `json:"_id"`
		Status int    `json:"status"`
		Error  struct {
			Type, Reason string
			CausedBy     struct{ Reason string } `json:"caused_by"`
		} `json:"error"`
	}
	var answer struct {
		Items []struct{ Index, Create, Update, Delete item } // one of them is set
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("read bulk answer: %w", err)
	}
	at, matched := make(map[string]int, len(ids)), 0
	for i, id := range ids {
		at[id] = i
	}
	for i, action := range answer.Items {
		it, ok := cmp.Or(action.Index, action.Create, action.Update, action.Delete), true
		if i >= len(ids) || it.ID != "" && it.ID != ids[i] {
			i, ok = at[it.ID]
		}
		if ok && items[i].Status == 0 && it.Status != 0 {
			items[i] = es.Error{Status: it.Status, Type: it.Error.Type, Reason: it.Error.Reason}
			if by := it.Error.CausedBy.Reason; by != "" {
				items[i].Reason += ": " + by
			}
			matched++
		}
	}
	if matched != len(ids) || matched != len(answer.Items) {
		return fmt.Errorf("%w: %d sent, %d answered, %d of them known", errBulkAnswer, len(ids), len(answer.Items), matched)
	}
	return nil
}
