package es

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fio2es/fio2es/internal/late"
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

// readError makes an Error from an answer with an error status, in all its forms: an object, a text, the page of a proxy,
// an empty body, and Kibana's message. redact removes secrets.
func readError(res *http.Response, config Config, redact func(string) string) *Error {
	const most = 1000                                             // bytes of the reason
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // the status is known, so an error does not matter
	e := &Error{Status: res.StatusCode, Body: body}
	var answer struct {
		Error    cause                   `json:"error"`
		Message  string                  `json:"message"`  // of Kibana, where error is only "Bad Request"
		Failures []struct{ Cause cause } `json:"failures"` // of _delete_by_query, in place of error
	}
	err, page, to := json.Unmarshal(body, &answer), title().FindSubmatch(body), res.Header.Get("Location")
	c := answer.Error.best()
	switch {
	case to != "" && res.StatusCode < http.StatusBadRequest:
		c.Reason = "redirected to " + strconv.Quote(to) + ", which is not followed: give the address of the cluster itself"
	case err != nil && page != nil:
		c.Reason = strings.Join(strings.Fields(string(page[1])), " ")
	case err != nil && (strings.Contains(res.Header.Get("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))):
		c.Reason = "a page without a title"
	case err != nil:
		c.Reason = strings.Join(strings.Fields(strings.ToValidUTF8(string(body), "?")), " ")
	case c.Type == "" && answer.Message != "":
		c.Reason = answer.Message
	case c.Type == "" && len(answer.Failures) > 0:
		c = answer.Failures[0].Cause.best()
	}
	c.Type, c.Reason = redact(c.Type), redact(c.Reason)
	if len(c.Reason) > most {
		c.Reason = strings.ToValidUTF8(c.Reason[:most], "") + "…"
	}
	e.Type, e.Reason = c.Type, c.Reason
	after := res.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil {
		e.RetryAfter = min(max(time.Duration(seconds), 0), 24*3600) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		e.RetryAfter = max(time.Until(at), 0)
	}
	// Elasticsearch itself answers 413 without this header, but then also without a body.
	e.Foreign = config.Service == elasticsearch && res.Header.Get("X-Elastic-Product") == "" && len(body) > 0 && e.Type == ""
	return e
}

var title = late.Regexp(`(?is)<title[^>]*>(.*?)</title>`)

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

// Temporary reports whether a retry may succeed after err: the connection failed, no answer came in time or all of it,
// the server or a proxy is overloaded or restarts, or the disks of the server are too full. It is false if the caller's
// context ended, certificates do not match, or all retries failed already.
func Temporary(err error) bool {
	if errors.Is(err, ErrGaveUp) {
		return false
	}
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

// reachError is an error of the connection. Its text has no secrets, and says what to do.
type reachError struct {
	server, advice string
	err            error
}

// Error implements error.
func (r *reachError) Error() string { return "reach " + r.server + ": " + r.short() }

// short returns the text without the name of the server.
func (r *reachError) short() string { return plain(r.err) + r.advice }

// Unwrap returns the cause.
func (r *reachError) Unwrap() error { return r.err }

// plain returns the cause of a failed connection, without the names of Go functions and without addresses: the
// message names the server already.
func plain(err error) string {
	var (
		name   *net.DNSError
		system syscall.Errno
		wait   net.Error
		text   = err.Error()
	)
	switch {
	case errors.Is(err, ErrTimeout):
	case errors.As(err, &name) && name.IsNotFound:
		return "no machine is called " + name.Name
	case errors.As(err, &name):
		return "cannot look up the name " + name.Name + ": " + name.Err
	case errors.As(err, &system):
		return system.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	case errors.As(err, &wait) && wait.Timeout():
		return "no answer in time"
	case strings.Contains(text, "invalid proxy address"): // the text has it, perhaps with a password
		return "HTTP_PROXY or HTTPS_PROXY in the environment is no address"
	}
	for _, call := range []string{"tls: ", "failed to verify certificate: ", "x509: "} {
		text = strings.TrimPrefix(text, call)
	}
	return text
}

// failed makes a reachError of an error of the connection, with what to do about it after a colon.
func (c *Client) failed(err error) error {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		record    tls.RecordHeaderError
		advice    string
	)
	ifCluster := func(text string) string {
		if c.config.Service != elasticsearch {
			return ""
		}
		return text
	}
	isPlain := func(u *url.URL) bool { return u.Scheme == "http" }
	switch {
	case errors.As(err, &authority) && len(c.config.CACert) > 0:
		advice = ": the authority in the CA file has not signed this server's certificate" + ifCluster("; a node has the right one in config/certs/http_ca.crt, unless it was given another")
	case errors.As(err, &authority):
		advice = ": this machine does not trust the authority that signed the certificate: set the authority's certificate as CA file" + ifCluster(" (a node has it in config/certs/http_ca.crt)")
	case errors.As(err, &host):
		advice = ": use the name in the certificate as address"
	case errors.As(err, &record):
		advice = ": the server does not speak TLS at this address: is it http?"
	case slices.ContainsFunc(c.urls, isPlain) && !c.hasAnswered.Load() && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(err.Error(), "malformed HTTP response")):
		advice = ": the server does not speak HTTP at this address: is it https?"
	}
	return &reachError{server: c.name(), advice: advice, err: err}
}

// named adds to an error answer its meaning and what to do.
func (c *Client) named(e *Error) error {
	switch {
	case e.IsForbidden():
		return fmt.Errorf("%w: %w", ErrForbidden, e)
	case e.Status != http.StatusUnauthorized:
		return Named(e)
	case c.config.APIKey != "" || c.config.Password != "":
		return fmt.Errorf("%w: check the API key, or user name and password: %w", ErrAuth, e)
	}
	return fmt.Errorf("%w: none are set, neither an API key nor user name and password: %w", ErrAuth, e)
}

func isTLS(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.AlertError)) ||
		errors.As(err, new(tls.RecordHeaderError))
}
