package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// errSyntax is an answer with status 200 that is not what was asked for.
var errSyntax = errors.New("answer is not the expected JSON")

// Do sends a request and decodes the answer into into: a pointer for JSON, a
// func(io.Reader) error that reads the body itself, or nil. Every status above 299 is
// an [*Error]. An answer longer than [Config].MaxAnswer fails with [ErrTooLong].
func (c *Client) Do(ctx context.Context, req esapi.Request, into any) error {
	res, err := req.Do(ctx, c)
	if err != nil {
		return c.failed(err)
	}
	return c.read(&http.Response{StatusCode: res.StatusCode, Header: res.Header, Body: res.Body}, c.maxAnswer, into)
}

// failed is an error on the way, without secrets, and with what to do.
func (c *Client) failed(err error) error {
	return fmt.Errorf("reach %s at %s: %w%s", c.service, c, err, c.advice(err))
}

// read reads an answer of at most so many bytes.
func (c *Client) read(res *http.Response, most int64, into any) error {
	defer discard(res.Body)
	if res.StatusCode > 299 {
		return readError(res, c.secrets...)
	}
	body := &bounded{r: res.Body, left: min(most, c.maxAnswer)}
	switch into := into.(type) {
	case nil:
		return nil
	case func(io.Reader) error:
		return into(body)
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		if errors.As(err, &syntax) || errors.As(err, &kind) {
			return fmt.Errorf("%w: %w", errSyntax, err)
		}
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// bounded fails with ErrTooLong instead of reading on.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLong
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return n, ErrTooLong
	}
	return n, err
}

// Request is a request that is not worth a type of esapi, or comes from where esapi may
// not be imported. It implements esapi.Request.
type Request struct {
	Method string     // default GET, or POST with a Body
	Path   []string   // joined and escaped: {"fio-runs", "_search"}
	Query  url.Values // may be nil
	Body   any        // []byte as it is, else JSON of it; nil for none
}

// Do implements esapi.Request.
func (r Request) Do(ctx context.Context, transport esapi.Transport) (*esapi.Response, error) {
	method := r.Method
	var body io.Reader
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
	var path strings.Builder
	path.WriteString("http://")
	for _, p := range r.Path {
		path.WriteString("/" + url.PathEscape(p))
	}
	req, err := http.NewRequestWithContext(ctx, method, path.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.URL.RawQuery = r.Query.Encode()
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := transport.Perform(req)
	if err != nil {
		return nil, err
	}
	return &esapi.Response{StatusCode: res.StatusCode, Header: res.Header, Body: res.Body}, nil
}
