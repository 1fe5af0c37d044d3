package es

import (
	"bytes"
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

// Error is an answer with an error, from Elasticsearch or a proxy in front of it. Decide by
// Status and Type: Reason is for people and changes between versions.
type Error struct {
	Method     string        // of the request, if there is one
	Path       string        // of the request, without the address
	Status     int           // of HTTP
	Type       string        // such as "index_not_found_exception"; may be empty
	Reason     string        // may be empty
	RetryAfter time.Duration // of the answer's Retry-After; 0 without one
	Foreign    bool          // the answer does not look like one of Elasticsearch, but perhaps of a proxy
	Body       []byte        // of the answer; it may have secrets, so it is never in the text
}

// ErrDiskFull is an index that takes no documents because of its disk.
var ErrDiskFull = errors.New("the cluster's disks are above the flood-stage watermark: free disk space, or add nodes; " +
	"once they are below the high watermark, the indices unlock themselves")

// IsDiskFull reports whether Elasticsearch has blocked the index because of its disks. It removes
// the block by itself. The status is 429, or 403 from older servers.
func (e *Error) IsDiskFull() bool {
	return e.Type == BlockType && (e.Status == http.StatusTooManyRequests ||
		strings.Contains(e.Reason, "read-only-allow-delete") || strings.Contains(e.Reason, "read-only / allow delete"))
}

// The errors of credentials.
var (
	ErrAuth      = errors.New("credentials are missing or wrong")
	ErrForbidden = errors.New("credentials do not allow it")
)

// IsForbidden reports whether the credentials are valid but lack a privilege. Other errors with
// status 403 are blocks of an index.
func (e *Error) IsForbidden() bool {
	return e.Status == http.StatusForbidden && (e.Type == "" || e.Type == "security_exception")
}

// Named adds [ErrDiskFull] to an error that is one.
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
		b.WriteString("answer that is not of elasticsearch: ")
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

// ErrTooLong is an answer above [Config].MaxAnswer.
var ErrTooLong = errors.New("answer is too long")

// ErrTimeout is a request that was not answered within [Config].Timeout.
var ErrTimeout = errors.New("no answer in time")

// maxErrorBody is how much of an error's body is read. Elasticsearch repeats requests and ids
// in it, several times.
const maxErrorBody = 1 << 20

// readError makes an Error of an answer whose status is one.
func readError(res *http.Response, secrets ...Secret) *Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // an error does not matter: the status is known
	e := parseError(res.StatusCode, res.Header.Get("Content-Type"), body)
	if to := res.Header.Get("Location"); to != "" && res.StatusCode < http.StatusBadRequest {
		e.Reason = clip("redirected to " + strconv.Quote(to) + ", which is not followed: give the address of the cluster itself")
	}
	e.Reason, e.Body = hide(e.Reason, secrets...), body
	e.RetryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	// Elasticsearch, too, answers 413 without a body and this header.
	if res.Header.Get("X-Elastic-Product") == "" && len(body) > 0 && e.Type == "" {
		e.Foreign = true
	}
	return e
}

// cause is an error in Elasticsearch's JSON.
type cause struct {
	Type, Reason string
	RootCause    []cause `json:"root_cause"`
	CausedBy     *cause  `json:"caused_by"`
}

// UnmarshalJSON takes both forms: an object, or a text alone.
func (c *cause) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &c.Reason)
	}
	type plain cause // without this method
	return json.Unmarshal(text, (*plain)(c))
}

// best is the most specific cause.
func (c *cause) best() cause {
	switch {
	case c.Type != "search_phase_execution_exception":
	case len(c.RootCause) > 0:
		return c.RootCause[0] // better than "all shards failed"
	case c.CausedBy != nil:
		return *c.CausedBy
	}
	best := *c
	if by := c.CausedBy; by != nil && by.Reason != "" && !strings.Contains(c.Reason, by.Reason) {
		best.Reason += ": " + by.Reason
	}
	return best
}

// parseError reads the forms that errors have: an object, a plain string, a page of a
// proxy, nothing, and Kibana's message.
func parseError(status int, contentType string, body []byte) *Error {
	e := &Error{Status: status}
	var answer struct {
		Error    cause                   `json:"error"`
		Message  string                  `json:"message"`  // of Kibana, beside error: "Bad Request"
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

// excerpt is a short text of a page that is not JSON.
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

// retryAfter reads seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return min(max(time.Duration(seconds), 0), 24*3600) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
