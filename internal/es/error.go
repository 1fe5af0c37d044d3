package es

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Types of errors. HTTP status 429 is used for the first two.
const (
	BlockType    = "cluster_block_exception"         // 429 for a full disk; 403 for a block that a person set
	RejectedType = "es_rejected_execution_exception" // 429 for too many requests; waiting helps
	ClosedType   = "index_closed_exception"
	MissingType  = "index_not_found_exception"
)

// Error is an error that Elasticsearch, or a proxy in front of it, answered. Programs decide by Status and Type.
// Reason is for people and changes between versions.
type Error struct {
	Method     string        // of the request, if known
	Path       string        // of the request, without the address
	Status     int           // HTTP status
	Type       string        // such as "index_not_found_exception"; may be empty
	Reason     string        // may be empty
	RetryAfter time.Duration // from the header Retry-After; 0 without it
	Foreign    bool          // the answer does not look like Elasticsearch; it may come from a proxy
	Body       []byte        // of the answer; never part of Error(), because it may contain secrets
}

// ErrDiskFull means that an index takes no documents because its disk is full.
var ErrDiskFull = errors.New("the cluster's disks are above the flood-stage watermark: free disk space, or add nodes; " +
	"once they are below the high watermark, the indices unlock themselves")

// IsDiskFull reports whether Elasticsearch blocked the index because of a full disk. Elasticsearch removes this
// block when there is space again. The status is 429, or 403 from older servers.
func (e *Error) IsDiskFull() bool {
	return e.Type == BlockType && (e.Status == http.StatusTooManyRequests ||
		strings.Contains(e.Reason, "read-only-allow-delete") || strings.Contains(e.Reason, "read-only / allow delete"))
}

// Errors of credentials.
var (
	ErrAuth      = errors.New("credentials are missing or wrong")
	ErrForbidden = errors.New("credentials do not allow it")
)

// IsForbidden reports whether the credentials are valid but lack a privilege. A status 403 can also mean a blocked
// index.
func (e *Error) IsForbidden() bool {
	return e.Status == http.StatusForbidden && (e.Type == "" || e.Type == "security_exception")
}

// IsNotFound reports whether the answer has status 404.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusNotFound
}

// Named wraps e with [ErrDiskFull] if it is about a full disk, and returns e otherwise.
func Named(e *Error) error {
	if e.IsDiskFull() {
		return fmt.Errorf("%w: %w", ErrDiskFull, e)
	}
	return e
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Foreign {
		b.WriteString("answer that is not from elasticsearch: ")
	}
	fmt.Fprintf(&b, "status %d", e.Status)
	switch {
	case e.Type != "":
		b.WriteString(" " + e.Type)
	case http.StatusText(e.Status) != "":
		b.WriteString(" " + strings.ToLower(http.StatusText(e.Status)))
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	return b.String()
}

// ErrTooLong means that an answer is longer than its limit.
var ErrTooLong = errors.New("answer is too long")

// ErrTimeout means that a request was not answered within [Config].Timeout.
var ErrTimeout = errors.New("no answer in time")

// maxErrorBody limits how much of an error's body is read, in bytes. Elasticsearch repeats the request and its ids
// there, several times.
const maxErrorBody = 1 << 20

// readError makes an Error from an answer with an error status.
func readError(res *http.Response, config Config) *Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // the status is known, so an error does not matter
	e := parseError(res.StatusCode, res.Header.Get("Content-Type"), body)
	if to := res.Header.Get("Location"); to != "" && res.StatusCode < http.StatusBadRequest {
		e.Reason = clip("redirected to " + strconv.Quote(to) + ", which is not followed: give the address of the cluster itself")
	}
	e.Reason, e.Body = hide(e.Reason, config.APIKey, config.Password), body
	e.RetryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	// Elasticsearch itself answers 413 without this header, but then also without a body.
	e.Foreign = config.Service == elasticsearch && res.Header.Get("X-Elastic-Product") == "" && len(body) > 0 && e.Type == ""
	return e
}

// cause is the error object in Elasticsearch's JSON.
type cause struct {
	Type, Reason string
	RootCause    []cause `json:"root_cause"`
	CausedBy     *cause  `json:"caused_by"`
}

// UnmarshalJSON reads both forms: an object, or only a text.
func (c *cause) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &c.Reason)
	}
	type plain cause // a type without this method, so that Unmarshal does not call it again
	return json.Unmarshal(text, (*plain)(c))
}

// best returns the most specific cause.
func (c *cause) best() cause {
	switch {
	case c.Type != "search_phase_execution_exception":
	case len(c.RootCause) > 0:
		return c.RootCause[0] // the first text is only "all shards failed"
	case c.CausedBy != nil:
		return *c.CausedBy
	}
	best := *c
	if by := c.CausedBy; by != nil && by.Reason != "" && !strings.Contains(c.Reason, by.Reason) {
		best.Reason += ": " + by.Reason
	}
	return best
}

// parseError reads all forms of an error: an object, a text, the page of a proxy, an empty body, and Kibana's
// message.
func parseError(status int, contentType string, body []byte) *Error {
	e := &Error{Status: status}
	var answer struct {
		Error    cause                   `json:"error"`
		Message  string                  `json:"message"`  // of Kibana, where error is only "Bad Request"
		Failures []struct{ Cause cause } `json:"failures"` // of _delete_by_query, in place of error
	}
	if json.Unmarshal(body, &answer) != nil {
		e.Reason = clip(excerpt(contentType, body))
		return e
	}
	c := answer.Error.best()
	switch {
	case c.Type == "" && answer.Message != "":
		c.Reason = answer.Message
	case c.Type == "" && len(answer.Failures) > 0:
		c = answer.Failures[0].Cause.best()
	}
	e.Type, e.Reason = c.Type, clip(c.Reason)
	return e
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// excerpt returns a short text from a page that is not JSON.
func excerpt(contentType string, body []byte) string {
	if m := title.FindSubmatch(body); m != nil {
		return strings.Join(strings.Fields(string(m[1])), " ")
	}
	if strings.Contains(contentType, "html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return "a page without a title"
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(body), "?")), " ")
}

func clip(s string) string {
	const most = 1000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// retryAfter parses a Retry-After header: seconds or a date. Without a usable value it is 0.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return min(max(time.Duration(seconds), 0), 24*3600) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// Temporary reports whether a retry may succeed after err: the connection failed, no answer came in time or all of it,
// the server or a proxy is overloaded or restarts, or the disks of the server are too full. It is false if the caller's
// context ended or certificates do not match.
func Temporary(err error) bool {
	if errors.As(err, new(*againError)) {
		return true
	}
	if e, ok := errors.AsType[*Error](err); ok {
		switch e.Status {
		case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout:
			return true
		case http.StatusServiceUnavailable:
			return e.Type != "too_many_buckets_exception" // the request is too large, so a retry fails too
		}
		return e.IsDiskFull()
	}
	switch reach := new(reachError); {
	case errors.Is(err, errTimedOut), errors.Is(err, errEmpty), errors.Is(err, errCut), errors.Is(err, ErrTimeout):
		return true
	case errors.As(err, &reach):
		return !isTLS(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	return false
}
