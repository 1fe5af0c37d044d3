package bulk

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fio2es/fio2es/internal/es"
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

// result has the item results of one request, sorted by what to do next.
type result struct {
	stored   []int   // positions in the request
	again    []entry // documents to retry
	rejected []rejection
	changed  []entry       // not stored, because the stored document has changed since it was read
	fatal    error         // an error that ends the writer
	tooMany  bool          // the cluster is overloaded
	tooLarge bool          // the request is too large for the server or a proxy
	split    bool          // send the rest in smaller requests, without waiting
	wait     time.Duration // shortest wait before a retry: the server's Retry-After
	cause    error         // why documents are retried
}

// rejection is a document that the cluster rejected for good, with the error.
type rejection struct {
	entry
	err *es.Error
}

// newResult sorts the documents of a request. items has one item result for each of them; Status 0 means unknown.
// err is the error of the whole request, or nil.
func newResult(sent []entry, items []es.BulkItem, err error) result {
	var r result
	for i, item := range items {
		switch {
		case item.OK(), item.Status == http.StatusConflict && sent[i].key != runKey{}: // an interval document that is there already
			r.stored = append(r.stored, i)
		case item.Status == 0:
			r.again = append(r.again, sent[i])
		default:
			r.fail(sent[i], item)
		}
	}
	if err != nil {
		r.judge(err, len(sent))
	}
	return r
}

// isSettled reports whether the cluster decided about at least one document.
func (r *result) isSettled() bool { return len(r.stored) > 0 || len(r.rejected)+len(r.changed) > 0 }

// fail sorts a document that is not stored by its item result.
func (r *result) fail(e entry, item es.BulkItem) {
	const mostBroken = 5
	err := item.Error()
	switch advice := advise(err); {
	case advice != nil:
		if r.fatal == nil {
			r.fatal = fmt.Errorf("store document %s: %w: %w", e.id, advice, err)
		}
	case item.Status == http.StatusConflict:
		r.changed = append(r.changed, e)
	case item.Temporary():
		r.tooMany = r.tooMany || item.Status == http.StatusTooManyRequests && !err.IsDiskFull()
		r.cause = es.Named(err)
		r.again = append(r.again, e)
	case item.Status >= http.StatusInternalServerError && e.broken+1 < mostBroken:
		e.broken++ // a shard that is being moved gives such errors for a short time
		r.cause = err
		r.again = append(r.again, e)
	default:
		r.rejected = append(r.rejected, rejection{e, err})
	}
}

// judge sorts by the error of the whole request. Documents without an item result are already in r.again.
func (r *result) judge(err error, sent int) {
	r.cause = err
	var e *es.Error
	if !errors.As(err, &e) {
		if !es.Temporary(err) {
			r.fatal = err
		}
		return
	}
	r.wait = e.RetryAfter
	isTooLarge := e.Status == http.StatusRequestEntityTooLarge
	switch advice := advise(e); {
	case advice != nil:
		r.fatal = fmt.Errorf("%w: %w", advice, err)
	case es.Temporary(e):
		r.tooMany = r.tooMany || e.Status == http.StatusTooManyRequests && !e.IsDiskFull()
	case !isTooLarge && !isBadDocument(e):
		r.fatal = err
	case sent == 1:
		r.rejected, r.again = append(r.rejected, rejection{r.again[0], e}), nil
	default:
		r.split, r.tooLarge = true, isTooLarge
	}
}

// isBadDocument reports whether a single document made the whole request fail, for example because its id is too
// long.
func isBadDocument(e *es.Error) bool {
	return e.Status == http.StatusBadRequest && e.Type == "action_request_validation_exception"
}

// advise returns what to do about an error that concerns all documents and that waiting does not heal. It is nil for
// other errors.
func advise(e *es.Error) error {
	switch {
	case e.IsDiskFull():
		return nil // the client waits until there is space
	case e.Type == es.BlockType && e.Status == http.StatusForbidden:
		return ErrBlocked
	case e.Type == es.ClosedType:
		return ErrClosedIndex
	case e.Type == es.MissingType:
		return ErrNoIndex
	case e.IsForbidden() && e.Type != "":
		return ErrPrivileges
	}
	return nil
}

// advised adds to an error what to do about it, if that is known.
func advised(err error) error {
	var e *es.Error
	if errors.As(err, &e) {
		if advice := advise(e); advice != nil {
			return fmt.Errorf("%w: %w", advice, err)
		}
	}
	return err
}
