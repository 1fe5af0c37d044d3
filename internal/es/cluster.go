package es

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// The oldest version of Elasticsearch that works.
const minMajor, minMinor = 8, 6

// Errors of [Client.Check].
var (
	ErrNotElastic = errors.New("not elasticsearch")
	ErrTooOld     = errors.New("elasticsearch is too old")
	ErrServerless = errors.New("elasticsearch serverless is not supported")
)

// Info describes a server.
type Info struct {
	Cluster string // name of the cluster
	Version string // such as "8.6.1"
}

// Check checks that the server is a usable Elasticsearch, and waits if the server is not up yet. It fails with
// [ErrNotElastic] (OpenSearch, the page of a proxy, anything else), [ErrTooOld] (before 8.6), [ErrServerless],
// [ErrAuth], [ErrForbidden], or an error of the connection.
func (c *Client) Check(ctx context.Context) (Info, error) {
	const most = 256 << 10 // Elasticsearch sends about 600 bytes
	var answer struct {
		ClusterName string `json:"cluster_name"`
		Version     struct {
			Number       string `json:"number"`
			Flavor       string `json:"build_flavor"`
			Distribution string `json:"distribution"`
		} `json:"version"`
		Tagline string `json:"tagline"`
	}
	product := ""
	err := c.Do(ctx, Limited{esapi.InfoRequest{}, most}, Reader(func(header http.Header, body []byte) error {
		product = header.Get("X-Elastic-Product")
		return json.Unmarshal(body, &answer)
	}))
	v := answer.Version
	var e *Error
	switch isOld, bad := IsBefore(v.Number, minMajor, minMinor); {
	case errors.Is(err, ErrTooLong), errors.Is(err, ErrAnswer):
		err = fmt.Errorf("%w: something else answers at this address: %w", ErrNotElastic, err)
	case errors.As(err, &e) && !Temporary(err) && !errors.Is(err, ErrGaveUp) && e.Status != http.StatusUnauthorized && (e.Foreign || e.Status < http.StatusBadRequest || e.Status == http.StatusNotFound):
		err = fmt.Errorf("%w: %w; is it a proxy that wants a login, or another service?", ErrNotElastic, e)
	case errors.As(err, &e) && e.IsForbidden():
		err = fmt.Errorf("the role needs the cluster privilege cluster:monitor/main, or monitor, which includes it: %w", err)
	case err != nil:
	case v.Distribution != "" || strings.Contains(answer.Tagline, "OpenSearch"):
		err = fmt.Errorf("%w: this is %s %s, whose histograms and templates differ", ErrNotElastic, cmp.Or(v.Distribution, "OpenSearch"), v.Number)
	case v.Flavor == "serverless":
		err = fmt.Errorf("%w: it has neither lifecycle policies nor settings for shards, which the templates need", ErrServerless)
	case bad != nil:
		err = fmt.Errorf("%w: something else answers at this address, with version %q", ErrNotElastic, v.Number)
	case isOld:
		err = fmt.Errorf("%w: version %s, but %d.%d is the oldest that works", ErrTooOld, v.Number, minMajor, minMinor)
	case product != "Elasticsearch": // every answer has this header since 7.14
		err = fmt.Errorf("%w: it says version %s, but not that it is Elasticsearch (header X-Elastic-Product); does a proxy remove it?", ErrNotElastic, v.Number)
	}
	switch {
	case errors.As(err, new(*reachError)): // its text names the server
		return Info{}, fmt.Errorf("check server: %w", err)
	case err != nil:
		return Info{}, fmt.Errorf("check server %s: %w", c, err)
	}
	return Info{Cluster: answer.ClusterName, Version: v.Number}, nil
}

// IsBefore reports whether a version of Elasticsearch or Kibana, such as "8.6.1" or "9.1.0-SNAPSHOT", is older than
// major.minor. It fails if number is no version.
func IsBefore(number string, major, minor int) (bool, error) {
	parts := append(strings.SplitN(number, ".", 3), "")
	first, err1 := strconv.Atoi(parts[0])
	second, err2 := strconv.Atoi(parts[1])
	if errors.Join(err1, err2) != nil {
		return false, fmt.Errorf("read version %q: %w", number, strconv.ErrSyntax)
	}
	return first < major || first == major && second < minor, nil
}

// yes is a value of options, which are pointers: a pattern may match no index, and indices may be deleted meanwhile.
var yes = esapi.BoolPtr(true)

// Refresh makes all documents in the indices (names or patterns) visible to searches. Missing indices are no error.
func (c *Client) Refresh(ctx context.Context, indices ...string) error {
	var answer Whole
	err := c.Do(ctx, esapi.IndicesRefreshRequest{Index: indices, IgnoreUnavailable: yes, AllowNoIndices: yes}, &answer)
	if err != nil {
		return fmt.Errorf("refresh %s: %w", strings.Join(indices, ","), err)
	}
	return nil
}

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
	code := map[string]any{"lang": "painless", "source": script}
	if params != nil {
		code["params"] = params
	}
	n, err := c.changeAll(ctx, indices, func() esapi.Request {
		return esapi.UpdateByQueryRequest{
			Index: indices, Body: JSON(map[string]any{"query": query, "script": code}),
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
	for isLast := false; err == nil && !isLast; {
		err = c.Repeat(ctx, func(ctx context.Context) error {
			var some struct {
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
			err := c.Once(ctx, request(), &some)
			done := some.Deleted + some.Updated
			changed += done
			switch {
			case err != nil:
				return err
			case some.Total == nil:
				return fmt.Errorf("%w: no total", ErrAnswer)
			case len(some.Failures) > 0:
				f := some.Failures[0]
				return Named(&Error{Status: f.Status, Type: c.Redact(f.Cause.Type + f.Reason.Type), Reason: c.Redact(f.Cause.Reason + f.Reason.Reason)})
			case !some.TimedOut && some.Conflicts == 0 && *some.Total < c.step:
				isLast = true
				return nil
			case done > 0:
				return nil
			}
			// the next search must find documents written in the meantime
			return cmp.Or(c.Refresh(ctx, indices...), Again(fmt.Errorf("%w: %d of them", ErrConflict, some.Conflicts)))
		})
	}
	return changed, err
}

// Queries of Elasticsearch.

// Term finds documents with this value in a field.
func Term(field string, value any) any { return query("term", field, value) }

// Terms finds documents with any of these values in a field.
func Terms(field string, values []string) any {
	return query("terms", field, append([]string{}, values...)) // no values are a list, too
}

// Prefix finds documents whose value in a field begins with text.
func Prefix(field, text string) any { return query("prefix", field, text) }

// Exists finds documents that have this field.
func Exists(field string) any { return query("exists", "field", field) }

// Range finds documents whose value in a field is within bounds: keys are gt, gte, lt and lte.
func Range(field string, bounds map[string]any) any { return query("range", field, bounds) }

// All finds documents that every query finds. Without queries it finds all.
func All(queries ...any) any { return query("bool", "filter", append([]any{}, queries...)) }

// Any finds documents that at least one of the queries finds.
func Any(queries ...any) any { return query("bool", "should", queries) }

// None finds documents that the query does not find.
func None(one any) any { return query("bool", "must_not", []any{one}) }

func query(kind, name string, value any) any {
	return map[string]any{kind: map[string]any{name: value}}
}
