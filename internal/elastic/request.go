package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Request is one request, to Elasticsearch or Kibana.
type Request struct {
	Method    string     // default GET, or POST with a Body
	Path      []string   // joined and escaped: {"fio-runs", "_search"}
	Query     url.Values // may be nil
	URI       string     // escaped path and query, in place of both: "/fio-runs/_search?size=1"
	Body      any        // []byte as it is, else JSON of it; nil for none
	Type      string     // of a Body that is not JSON
	Header    http.Header
	MaxAnswer int64 // bytes; default [Config].MaxAnswer
}

// uri is what stands in the first line of the request.
func (r *Request) uri() string {
	if r.URI != "" {
		return r.URI
	}
	var path strings.Builder
	for _, p := range r.Path {
		path.WriteString("/" + url.PathEscape(p))
	}
	if path.Len() == 0 {
		path.WriteString("/")
	}
	if len(r.Query) > 0 {
		path.WriteString("?" + r.Query.Encode())
	}
	return path.String()
}

// prepare makes a request that can be sent again and again, its body compressed.
func (c *Client) prepare(ctx context.Context, r *Request) (*http.Request, error) {
	method, body := r.Method, io.Reader(nil)
	if r.Body != nil {
		text, ok := r.Body.([]byte)
		if !ok {
			var err error
			if text, err = json.Marshal(r.Body); err != nil {
				return nil, fmt.Errorf("encode request: %w", err)
			}
		}
		body = bytes.NewReader(text)
		if method == "" {
			method = http.MethodPost
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, r.uri(), body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	for name, values := range r.Header {
		req.Header[name] = values
	}
	if r.Body != nil {
		req.Header.Set("Content-Type", orElse(r.Type, "application/json"))
	}
	if err := c.pack.request(req); err != nil {
		return nil, fmt.Errorf("compress request: %w", err)
	}
	return req, nil
}
