package elastic

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

// Error is an answer that says no: of Elasticsearch, or of whatever stands before it.
// Decide by Status and Type; Reason is for people and changes between versions.
type Error struct {
	Status     int           // of HTTP
	Type       string        // such as "index_not_found_exception"; empty when it was not told
	Reason     string        // may be empty
	Index      string        // where it is about one
	RetryAfter time.Duration // that the server asks to wait; 0 when it does not
	Foreign    bool          // the answer does not look like one of Elasticsearch: a proxy's, perhaps
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

// maxErrorBody is how much of an error's body is read. Elasticsearch repeats requests
// and ids in it, several times.
const maxErrorBody = 1 << 20

// readError makes an Error of an answer whose status says no.
func readError(res *http.Response, secrets ...Secret) *Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what there is; the status says enough
	e := parseError(res.StatusCode, res.Header.Get("Content-Type"), body)
	e.Reason = hide(e.Reason, secrets...)
	e.RetryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	// 413 comes with neither a body nor the header, from Elasticsearch, too.
	if res.Header.Get("X-Elastic-Product") == "" && len(body) > 0 && e.Type == "" {
		e.Foreign = true
	}
	return e
}

// parseError reads the forms that errors have: an object, a plain string, a page of a
// proxy, nothing.
func parseError(status int, contentType string, body []byte) *Error {
	e := &Error{Status: status}
	var answer struct {
		Error    json.RawMessage `json:"error"`
		Failures []struct {      // of _delete_by_query, in place of error
			Index string
			Cause struct{ Type, Reason string }
		} `json:"failures"`
	}
	var object struct {
		Type, Reason, Index string
		CausedBy            struct{ Type, Reason string } `json:"caused_by"`
	}
	switch err := json.Unmarshal(body, &answer); {
	case err != nil:
		e.Reason = excerpt(contentType, body)
	case json.Unmarshal(answer.Error, &object) == nil && object.Type != "":
		e.Type, e.Reason, e.Index = object.Type, object.Reason, object.Index
		if cause := object.CausedBy; cause.Reason != "" && !strings.Contains(e.Reason, cause.Reason) {
			e.Reason += ": " + cause.Reason
		}
	case len(answer.Failures) > 0:
		f := answer.Failures[0]
		e.Type, e.Reason, e.Index = f.Cause.Type, f.Cause.Reason, f.Index
	default: // a string, or null when there is none
		_ = json.Unmarshal(answer.Error, &e.Reason)
	}
	e.Reason = clip(e.Reason)
	return e
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// excerpt is what a page that is not JSON says.
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
