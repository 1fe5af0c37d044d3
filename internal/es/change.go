package es

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// ErrConflict means that documents cannot be changed, because another process changes them again and again.
var ErrConflict = errors.New("another process is writing the same documents")

// DeleteAll deletes the visible documents that match query, refreshes the indices, and returns the number of deleted
// documents. There may be millions, so it sends several requests. It fails if a document cannot be deleted, for
// example in a blocked index.
func (c *Client) DeleteAll(ctx context.Context, query any, indices ...string) (int, error) {
	n, err := c.changeAll(ctx, indices, func() esapi.Request {
		return esapi.DeleteByQueryRequest{
			Index: indices, Body: JSON(map[string]any{"query": query}),
			IgnoreUnavailable: yes, AllowNoIndices: yes, Conflicts: "proceed", Refresh: yes, MaxDocs: &c.step,
		}
	})
	if err != nil {
		return n, fmt.Errorf("delete documents in %s: %w", strings.Join(indices, ","), err)
	}
	return n, nil
}

// UpdateAll runs a Painless script on the visible documents that match query, in several requests like
// [Client.DeleteAll], and returns the number of changed documents. params may be nil. A document must no longer
// match after the script, because otherwise UpdateAll would not end.
func (c *Client) UpdateAll(ctx context.Context, query any, script string, params map[string]any, indices ...string) (int, error) {
	n, err := c.changeAll(ctx, indices, func() esapi.Request {
		code := map[string]any{"lang": "painless", "source": script}
		if params != nil {
			code["params"] = params
		}
		body := map[string]any{"query": query, "script": code}
		return esapi.UpdateByQueryRequest{
			Index: indices, Body: JSON(body),
			IgnoreUnavailable: yes, AllowNoIndices: yes, Conflicts: "proceed", Refresh: yes, MaxDocs: &c.step,
		}
	})
	if err != nil {
		return n, fmt.Errorf("update documents in %s: %w", strings.Join(indices, ","), err)
	}
	return n, nil
}

// changeStep is how many documents one request changes at most. Such a request takes some seconds.
const changeStep = 10_000

// changeAll sends requests that change documents until none are left.
func (c *Client) changeAll(ctx context.Context, indices []string, request func() esapi.Request) (changed int, err error) {
	const patience = 8
	for stalled := 0; ; {
		var some changes
		err := c.Do(ctx, small(request()), &some)
		if err == nil {
			err = some.err()
		}
		if err != nil {
			return changed, err
		}
		done := some.Deleted + some.Updated
		changed += done
		switch {
		case !some.TimedOut && some.Conflicts == 0 && *some.Total < c.step:
			return changed, nil
		case done > 0:
			stalled = 0
			continue
		case stalled == patience:
			return changed, fmt.Errorf("%w: %d of them", ErrConflict, some.Conflicts)
		}
		if err := c.Pause(ctx, stalled); err != nil {
			return changed, err
		}
		stalled++
		if err := c.Refresh(ctx, indices...); err != nil { // the next search must find documents written in the meantime
			return changed, err
		}
	}
}

// changes is the answer to one request.
type changes struct {
	Total     *int `json:"total"` // matching documents
	Deleted   int  `json:"deleted"`
	Updated   int  `json:"updated"`
	Conflicts int  `json:"version_conflicts"` // another process wrote these in the meantime; not changed
	TimedOut  bool `json:"timed_out"`
	Failures  []struct {
		Status int                           `json:"status"`
		Cause  struct{ Type, Reason string } `json:"cause"`
		Reason struct{ Type, Reason string } `json:"reason"` // of a failed search
	} `json:"failures"`
}

func (c *changes) err() error {
	switch {
	case c.Total == nil:
		return fmt.Errorf("%w: no total", ErrAnswer)
	case len(c.Failures) > 0:
		f := c.Failures[0]
		return Named(&Error{Status: f.Status, Type: f.Cause.Type + f.Reason.Type, Reason: f.Cause.Reason + f.Reason.Reason})
	}
	return nil
}
