package elastic

import (
	"bytes"
	"cmp"
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
	"github.com/fio2es/fio2es/mapping"
)

// Errors of documents that are not stored.
var (
	ErrRejected    = errors.New("the cluster rejects a document")
	ErrRejects     = errors.New("the cluster rejects too many documents")
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

// sendBody marks and sends documents that were put, when the throttle allows another request.
func (e *Store) sendBody(docs []*document) error {
	if err := e.markPending(docs); err != nil {
		return err
	}
	w := e.writer
	w.mu.Lock()
	for w.fatal == nil && w.throttle.flying >= w.throttle.flight {
		if err := w.wait(w.ctx); err != nil {
			break
		}
	}
	w.throttle.flying++
	err := w.fatal
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.throttle.flying--
		w.changed()
	}()
	if err != nil {
		return err
	}
	return e.send(docs)
}

// markPending sets the pending mark in documents whose version replaces another one, so that dashboards, which add up
// all documents, skip them until the old version is deleted. Whether there is an old version must be known before the
// first document is sent. It is looked up once for each version, for all versions of a body in one request.
//
// Documents with the mark are only created, and never replace a document. A server may carry out a request after it has
// answered 504, and after the mark was removed: then it must not come back. What the id stands for does not change, so a
// document that is there already is stored.
func (e *Store) markPending(docs []*document) error {
	w := e.writer
	var ids []string
	w.mu.Lock()
	for _, d := range docs {
		if last, ok := w.latest[d.of.id]; ok && last != d.of.ingest && !d.run.looked { // this store has put another version
			d.run.looked, d.run.hidden = true, true
		}
		w.latest[d.of.id] = d.of.ingest
		if !d.run.looked && !slices.Contains(ids, d.of.id) {
			ids = append(ids, d.of.id)
		}
	}
	w.mu.Unlock()
	if len(ids) > 0 {
		have, err := e.counts(w.ctx, ids)
		if err != nil {
			return fmt.Errorf("look for other versions: %w", advised(err))
		}
		w.mu.Lock()
		for _, d := range docs {
			if !d.run.looked {
				d.run.looked, d.run.hidden = true, have.HasOthers(d.of.id, d.of.ingest)
			}
		}
		w.mu.Unlock()
	}
	for _, d := range docs {
		w.mu.Lock()
		d.isNew = d.run.hidden
		w.mu.Unlock()
		if d.isNew {
			var err error
			if d.text, err = mapping.MarkPending(d.text, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// send sends documents until all are settled: stored, rejected, or not stored because the stored document has changed.
// An error ends the store.
func (e *Store) send(docs []*document) error {
	w, narrow := e.writer, 0 // limit of a request in bytes, while send searches for the document that makes it fail
	err := e.client.Repeat(w.ctx, w.lastProgress, func(ctx context.Context) error {
		for len(docs) > 0 {
			w.mu.Lock()
			limit := w.throttle.body
			w.mu.Unlock()
			if narrow > 0 {
				limit = min(limit, narrow)
			}
			n, size := 0, 0
			for n < len(docs) && (n == 0 || size+docs[n].bytes() <= limit) {
				size += docs[n].bytes()
				n++
			}
			began := time.Now()
			items, err := e.bulk(ctx, docs[:n], size)
			if w.ctx.Err() != nil {
				return w.ctx.Err() // the store has ended, and has recorded why
			}
			r := newResult(docs[:n], items, err)
			if err := e.record(&r, size, began); err != nil {
				return err
			}
			docs = append(r.again, docs[n:]...)
			switch {
			case r.split:
				narrow = max(size/2, 1)
			case len(r.again) > 0:
				return es.Again(r.cause)
			default:
				narrow = 0
			}
		}
		return nil
	})
	return err
}

// record records the results of one request.
func (e *Store) record(r *result, size int, began time.Time) error {
	w := e.writer
	for i, x := range r.rejected {
		if err := w.rejects.write(x); err != nil {
			r.rejected, r.fatal = r.rejected[:i], err
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch now := time.Now(); {
	case r.tooLarge:
		w.throttle.tooLarge(size)
	case r.tooMany:
		w.throttle.overloaded(began, now)
	case r.cause == nil:
		w.throttle.kept(size, now.Sub(began))
	}
	done := func(d *document) {
		delete(w.underWay, d.hash)
		d.run.pending--
		w.progress = time.Now()
	}
	for _, d := range r.stored {
		done(d)
		d.run.stored[d.hash] = struct{}{}
	}
	for _, d := range r.changed {
		done(d)
		d.run.err = errConflict
	}
	for _, x := range r.rejected {
		done(x.document)
		d := x.document
		d.run.rejected++
		w.rejected++
		if w.rejects.path == "" && d.run.err == nil {
			d.run.err = fmt.Errorf("%w: %s: %w", ErrRejected, d.id, x.err)
		}
	}
	if n := len(r.rejected); n > 0 && w.rejected > e.opt.MaxRejects {
		return fmt.Errorf("%w: more than %d; the last one: %w", ErrRejects, e.opt.MaxRejects, r.rejected[n-1].err)
	}
	w.changed()
	return r.fatal
}

// result has the documents of one request, sorted by what to do next.
type result struct {
	stored   []*document
	again    []*document // to send again
	rejected []rejection
	changed  []*document // not stored, because the stored document has changed since it was read
	fatal    error       // an error that ends the store
	tooMany  bool        // the cluster is overloaded
	tooLarge bool        // the request is too large for the server or a proxy
	split    bool        // send the rest in smaller requests, without waiting
	cause    error       // why documents are sent again
}

// rejection is a document that the cluster rejected for good, with the error.
type rejection struct {
	*document
	err *es.Error
}

// newResult sorts the documents of a request. items has the item result of each; Status 0 means unknown. err is the
// error of the whole request, or nil.
func newResult(sent []*document, items []es.Error, err error) result {
	const mostBroken = 5
	var r result
	for i, d := range sent {
		item := &items[i]
		advice := advised(item)
		isOther := advice != error(item)
		switch {
		case item.Type == "" && item.Status/100 == 2, item.Status == http.StatusConflict && d.of != version{}: // an interval document that is there already
			r.stored = append(r.stored, d)
		case item.Status == 0:
			r.again = append(r.again, d)
		case isOther:
			r.fatal = cmp.Or(r.fatal, fmt.Errorf("store document %s: %w", d.id, advice))
		case item.Status == http.StatusConflict:
			r.changed = append(r.changed, d)
		case es.Temporary(item):
			r.tooMany = r.tooMany || item.Status == http.StatusTooManyRequests && !item.IsDiskFull()
			r.cause, r.again = es.Named(item), append(r.again, d)
		case item.Status >= http.StatusInternalServerError && d.broken+1 < mostBroken:
			d.broken++ // a shard that is being moved gives such errors for a short time
			r.cause, r.again = item, append(r.again, d)
		default:
			r.rejected = append(r.rejected, rejection{d, item})
		}
	}
	e, isAnswer := errors.AsType[*es.Error](err)
	r.cause = cmp.Or(err, r.cause)
	advice := advised(err)
	switch {
	case err == nil:
	case advice != err: //nolint:errorlint // advised returns its argument if it has no advice
		r.fatal = advice
	case es.Temporary(err):
		r.tooMany = r.tooMany || isAnswer && e.Status == http.StatusTooManyRequests && !e.IsDiskFull()
	case errors.Is(err, errBulkAnswer):
	case !isAnswer || e.Status != http.StatusRequestEntityTooLarge && e.Type != "action_request_validation_exception":
		r.fatal = err
	case len(sent) == 1: // too large, or for example with an id that is too long
		r.rejected, r.again = append(r.rejected, rejection{sent[0], e}), nil
	default: // one of the documents made the whole request fail
		r.split, r.tooLarge = true, e.Status == http.StatusRequestEntityTooLarge
	}
	return r
}

// errBulkAnswer means that the answer to a bulk request lacks an item result for some document, or has too many.
// Elasticsearch does not report this: "errors" may be false.
var errBulkAnswer = errors.New("bulk answer does not account for each document")

// bulk sends one bulk request and returns the item result of each document. If the answer lacks an item, its Status is
// 0, err says why, and the document may or may not be stored.
func (e *Store) bulk(ctx context.Context, docs []*document, size int) ([]es.Error, error) {
	// An item result has about 100 bytes, or a few thousand if the document was rejected.
	const all, each, most = 1 << 20, 8 << 10, 32 << 20
	text, ids, items := make([]byte, 0, size+size/8), make([]string, len(docs)), make([]es.Error, len(docs))
	for i, d := range docs {
		text, ids[i] = d.append(text), d.id
	}
	request := esapi.BulkRequest{
		Body: bytes.NewReader(text), Header: http.Header{"Content-Type": {"application/x-ndjson"}},
		FilterPath: []string{"errors", "error", "status", "items.*._id", "items.*.status", "items.*.error"},
	}
	err := e.client.Once(ctx, es.Limited{Request: request, MaxAnswer: min(int64(all+each*len(docs)), most)}, es.Reader(func(_ http.Header, answer []byte) error {
		return readBulk(bytes.NewReader(answer), ids, items)
	}))
	if err != nil {
		err = fmt.Errorf("send bulk request: %w", err)
	}
	return items, err
}

// readBulk reads the answer to a bulk request into items, one for each of ids. Items have the order of the
// documents. If some are missing, readBulk finds the others by id.
func readBulk(r io.Reader, ids []string, items []es.Error) error {
	type item struct { // the value beside the name of its action
		ID     string `json:"_id"`
		Status int    `json:"status"`
		Error  struct {
			Type, Reason string
			CausedBy     struct{ Reason string } `json:"caused_by"`
		} `json:"error"`
	}
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	d, answered, matched := json.NewDecoder(r), 0, 0
	err := es.Object(d, func(name string) error {
		if name != "items" {
			return es.Skip(d)
		}
		return es.Array(d, func() error {
			var action struct{ Index, Create, Update, Delete item } // one of them is set
			if err := d.Decode(&action); err != nil {
				return err
			}
			it := cmp.Or(action.Index, action.Create, action.Update, action.Delete)
			i, ok := answered, true
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
			answered++
			return nil
		})
	})
	switch {
	case err != nil:
		return fmt.Errorf("read bulk answer, %d of %d items: %w", matched, len(ids), err)
	case matched != len(ids) || matched != answered:
		return fmt.Errorf("%w: %d sent, %d answered, %d of them known", errBulkAnswer, len(ids), answered, matched)
	}
	return nil
}

// throttle limits the size of requests and their number at the same time. The size begins low, so that a slow
// cluster completes its first request soon, and grows with success. It is halved when the cluster is overloaded.
type throttle struct {
	body, mostBody     int // bytes of a request
	flight, mostFlight int // requests at once
	flying             int // requests under way
	streak             int // successful requests in a row
	shrunk             time.Time
}

// leastBody is the smallest body after overload, in bytes. Smaller ones would only cause more work.
const leastBody = 64 << 10

func newThrottle(body, flight int) throttle {
	return throttle{body: min(body, max(body/8, leastBody)), mostBody: body, flight: flight, mostFlight: flight}
}

// tooLarge halves bodies after a body of size bytes with several documents was refused as too large. The limit is a
// setting of the server or a proxy, so bodies do not grow above it again.
func (t *throttle) tooLarge(size int) {
	t.streak = 0
	t.mostBody = min(t.mostBody, max(size/2, 1))
	t.body = min(t.body, t.mostBody)
}

// overloaded halves bodies and allows one request less at a time, after the cluster reported overload. A request
// that was sent before the last halving does not count.
func (t *throttle) overloaded(sent, now time.Time) {
	t.streak = 0
	if !sent.Before(t.shrunk) {
		t.shrink()
		t.flight, t.shrunk = max(t.flight-1, 1), now
	}
}

func (t *throttle) shrink() { t.body = min(t.mostBody, max(t.body/2, leastBody)) }

// kept adapts the size of bodies after a successful request of size bytes. A request should take at most a second,
// because requests under way must be sent again after an interruption.
func (t *throttle) kept(size int, took time.Duration) {
	const forFlight = 8
	if t.streak++; t.streak%forFlight == 0 {
		t.flight = min(t.flight+1, t.mostFlight)
	}
	switch isTypical := size > t.body/2; {
	case isTypical && took > time.Second:
		t.shrink()
	case isTypical && took < time.Second/2:
		t.body = min(t.body+t.body/2+1, t.mostBody)
	}
}
