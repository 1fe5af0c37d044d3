package bulk

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fio2es/fio2es/internal/es"
)

// The errors of documents that are not stored.
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

// result is the item results of one request, sorted by what to do next.
type result struct {
	stored   []int   // positions of documents
	again    []entry // to retry
	rejected []rejection
	changed  []entry       // not stored, because the document has changed since it was read
	fatal    error         // ends everything
	tooMany  bool          // the cluster is overloaded
	tooLarge bool          // the request, for the server or a proxy
	split    bool          // send the rest at once, in smaller requests
	wait     time.Duration // before a retry, at least: the server's Retry-After
	cause    error         // why something is retried or rejected
}

// rejection is a document that the cluster rejects for good, and why.
type rejection struct {
	entry
	err *es.Error
}

// newResult sorts documents by what to do next. Each has an item result, with status 0 if it is
// unknown. err is the error of the whole request.
func newResult(sent []entry, items []es.BulkItem, err error) result {
	var r result
	for i, item := range items {
		switch {
		case item.OK():
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

// isSettled reports whether the cluster has decided about any document.
func (r *result) isSettled() bool { return len(r.stored) > 0 || len(r.rejected)+len(r.changed) > 0 }

// fail sorts a document that is not stored.
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
		e.broken++ // a shard that is being moved answers so, too
		r.cause = err
		r.again = append(r.again, e)
	default:
		r.rejected = append(r.rejected, rejection{e, err})
	}
}

// judge sorts by the error of a whole request. Documents without an item result are in again.
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

// isBadDocument reports whether one document fails the whole request, such as one with an id
// that is too long.
func isBadDocument(e *es.Error) bool {
	return e.Status == http.StatusBadRequest && e.Type == "action_request_validation_exception"
}

// advise is what to do about errors that concern all documents and do not heal by waiting; nil
// for others.
func advise(e *es.Error) error {
	switch {
	case e.IsDiskFull():
		return nil // the client waits for it
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

// advised adds to an error what to do about it, if it is known.
func advised(err error) error {
	var e *es.Error
	if errors.As(err, &e) {
		if advice := advise(e); advice != nil {
			return fmt.Errorf("%w: %w", advice, err)
		}
	}
	return err
}
