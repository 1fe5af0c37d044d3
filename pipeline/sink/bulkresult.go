package sink

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
)

// The ways in which documents are not stored.
var (
	ErrRejected    = errors.New("the cluster refuses a document")
	ErrRejects     = errors.New("the cluster refuses too many documents")
	ErrDiskFull    = elastic.ErrDiskFull
	ErrBlocked     = errors.New("the index does not let itself be written: remove its block (index.blocks.write, index.blocks.read_only)")
	ErrClosedIndex = errors.New("the index is closed: open it (POST INDEX/_open)")
	ErrNoIndex     = errors.New("the index cannot be made: allow its name in action.auto_create_index, or create it")
	ErrAuth        = errors.New("the credentials are missing, wrong or not enough: writing needs the index privileges auto_configure, index, delete, read, maintenance and view_index_metadata, and indices:admin/index_template/get on the cluster; docs/elasticsearch.md has the role")
)

// fate is what became of a document.
type fate uint8

const (
	unknown fate = iota
	stored
	failed // is in result.again or result.refused, or has ended everything
)

// result is what came of one request.
type result struct {
	sent     time.Time
	written  time.Duration // it took to get out; 0 is unknown
	err      error         // of the request
	fates    []fate        // of the documents that were sent
	stored   int           // of them
	again    []entry       // to be sent again
	refused  []refusal
	fatal    error         // ends everything
	tooMany  bool          // the cluster is overloaded
	tooLarge bool          // the request, for the server or a proxy
	split    bool          // what is left is to be sent in smaller requests, at once
	wait     time.Duration // that the server asks for
	cause    error         // why something is sent again
}

// refusal is a document that is not to be stored, and why.
type refusal struct {
	entry
	err *elastic.Error
}

// settled tells whether anything came to its end.
func (r *result) settled() bool { return r.stored > 0 || len(r.refused) > 0 }

// add sorts in what became of the i-th of the documents that were sent.
func (r *result) add(sent []entry, i int, item elastic.BulkItem) {
	if item.OK() {
		r.fates[i] = stored
		r.stored++
		return
	}
	r.fates[i] = failed
	r.fail(sent[i], item)
}

// fail sorts in a document that is not stored.
func (r *result) fail(e entry, item elastic.BulkItem) {
	const mostBroken = 5
	err := item.Error()
	switch advice := advise(err); {
	case advice != nil:
		if r.fatal == nil {
			r.fatal = fmt.Errorf("store document %s: %w: %w", e.id, advice, err)
		}
	case item.Temporary():
		r.tooMany = r.tooMany || item.Status == http.StatusTooManyRequests && !err.IsDiskFull()
		r.cause = elastic.Named(err)
		r.again = append(r.again, e)
	case item.Status >= http.StatusInternalServerError && e.broken+1 < mostBroken:
		e.broken++ // a shard that moves says so, too
		r.cause = err
		r.again = append(r.again, e)
	default:
		r.refused = append(r.refused, refusal{e, err})
	}
}

// judge says what the request's own error means; sent documents without an item are in
// again already.
func (r *result) judge(sent int) {
	if r.err == nil {
		return
	}
	r.cause = r.err
	var e *elastic.Error
	if !errors.As(r.err, &e) {
		if !elastic.Temporary(r.err) {
			r.fatal = r.err
		}
		return
	}
	r.wait = e.RetryAfter
	advice := advise(e)
	switch {
	case advice != nil:
		r.fatal = fmt.Errorf("%w: %w", advice, r.err)
	case elastic.Temporary(e):
		r.tooMany = r.tooMany || e.Status == http.StatusTooManyRequests && !e.IsDiskFull()
	case e.Status == http.StatusRequestEntityTooLarge, isBadDocument(e):
		r.split, r.tooLarge = sent > 1, e.Status == http.StatusRequestEntityTooLarge
		if !r.split {
			r.refused = append(r.refused, refusal{r.again[0], e})
			r.again = nil
		}
	default:
		r.fatal = r.err
	}
}

// isTooLarge is a request that the server, or a proxy before it, refuses for its size.
func isTooLarge(err error) bool {
	var e *elastic.Error
	return errors.As(err, &e) && e.Status == http.StatusRequestEntityTooLarge
}

// isBadDocument is one document for which a whole request is refused, such as an id
// that is too long.
func isBadDocument(e *elastic.Error) bool {
	return e.Status == http.StatusBadRequest && e.Type == "action_request_validation_exception"
}

// advise tells what to do about errors that concern all documents, and do not go away
// by themselves; nil for others.
func advise(e *elastic.Error) error {
	switch {
	case e.IsDiskFull():
		return nil // the client waits for it
	case e.Type == elastic.BlockType && e.Status == http.StatusForbidden:
		return ErrBlocked
	case e.Type == elastic.ClosedType:
		return ErrClosedIndex
	case e.Type == elastic.MissingType:
		return ErrNoIndex
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden && e.Type == "security_exception":
		return ErrAuth
	}
	return nil
}
