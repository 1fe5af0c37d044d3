package es

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Request is a request for which esapi has no type, such as one to Kibana. It implements [esapi.Request].
type Request struct {
	Method string // default GET, or POST with a Body
	URI    string // escaped path and query: "/api/status"
	Body   any    // body, encoded by [JSON]; nil without a body
	Type   string // content type; default JSON
	Header http.Header
}

// Do implements [esapi.Request].
func (r Request) Do(ctx context.Context, to esapi.Transport) (*esapi.Response, error) {
	method, body := r.Method, io.Reader(nil)
	if r.Body != nil {
		method, body = cmp.Or(method, http.MethodPost), JSON(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, cmp.Or(r.URI, "/"), body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, r.Header)
	if body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.Type, "application/json"))
	}
	res, err := to.Perform(req)
	if err != nil {
		return nil, err
	}
	return &esapi.Response{StatusCode: res.StatusCode, Header: res.Header, Body: res.Body}, nil
}

// Extended is a request with its own limit of the answer.
type Extended struct {
	esapi.Request
	MaxAnswer int64 // bytes; default [Config].MaxAnswer
}

// small limits the answer to 4 MiB, for requests that return no documents.
func small(r esapi.Request) esapi.Request { return Extended{Request: r, MaxAnswer: 4 << 20} }

// JSON returns a reader of v in JSON, or of v itself if it is a []byte.
func JSON(v any) io.Reader {
	text, ok := v.([]byte)
	if !ok {
		var err error
		if text, err = json.Marshal(v); err != nil {
			return failing{fmt.Errorf("encode request: %w", err)}
		}
	}
	return bytes.NewReader(text)
}

// Line returns the HTTP method of a request, and its path with parameters.
func Line(r esapi.Request) (method, uri string, err error) {
	req, err := build(context.Background(), r)
	if err != nil {
		return "", "", err
	}
	return req.Method, req.URL.RequestURI(), nil
}

// build makes the HTTP request without an address. esapi can only pass it to a transport, so build uses one that
// stores the request and sends nothing.
func build(ctx context.Context, r esapi.Request) (*http.Request, error) {
	var kept keeper
	if _, err := r.Do(ctx, &kept); err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	return kept.request, nil
}

// keeper is a transport that stores the request.
type keeper struct{ request *http.Request }

// Perform implements [esapi.Transport].
func (k *keeper) Perform(r *http.Request) (*http.Response, error) {
	k.request = r
	return new(http.Response), nil
}

// prepare makes an HTTP request with a compressed body that can be sent several times.
func (p *packer) prepare(ctx context.Context, r esapi.Request) (*http.Request, error) {
	req, err := build(ctx, r)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	return req, p.request(req)
}

// failing is the body of a request whose value cannot be encoded.
type failing struct{ err error }

// Read implements [io.Reader].
func (f failing) Read([]byte) (int, error) { return 0, f.err }
