// Package es is the client for Elasticsearch 8.6 and later, and for Kibana. It has connections, retries, and errors that
// say what to do. It does not know the meaning of documents, and it neither logs nor prints.
//
// Connections, nodes and credentials are those of the official client (elastictransport), and requests are its types
// (esapi), or a [Request]. Ours are compression, limits of answers, and one rule for retries: the official
// client counts them, and this one waits by time and reports it.
//
// [Client.Do] retries requests while the server cannot be reached, is overloaded, or has full disks. It does so for up
// to [Config].GiveUpAfter, and reports it to [Config].Waiting. [Client.Once] sends a request once.
//
// Every answer has a size limit. Every request ends with its context or after [Config].Timeout. No error, text or
// dump shows a password or an API key.
package es

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/klauspost/compress/gzip"
)

// Client sends requests to a cluster, or to Kibana. Several goroutines may use it at once.
type Client struct {
	config  Config
	urls    []*url.URL
	nodes   *elastictransport.Client
	conns   *http.Transport
	waits   waits
	step    int // most documents that one request changes
	secrets redactor

	hasAnswered atomic.Bool // at least once, so the addresses are right
}

// elasticsearch is the name in errors of a server that is not Kibana.
const elasticsearch = "elasticsearch"

// New makes a client. It fails with [ErrConfig]. It sends nothing; see [Client.Check].
func New(config Config) (*Client, error) {
	urls, err := config.complete()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(config.Service, elasticsearch), err)
	}
	conns, err := config.transport()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.Service, err)
	}
	options := []elastictransport.Option{
		elastictransport.WithURLs(urls...), elastictransport.WithTransport(conns),
		elastictransport.WithUserAgent("fio2es"), elastictransport.WithDisableRetry(),
	}
	if !config.NoGzip {
		options = append(options, elastictransport.WithInterceptors(compression()))
	}
	switch {
	case config.APIKey != "":
		options = append(options, elastictransport.WithAPIKey(string(config.APIKey)))
	case config.Username != "":
		options = append(options, elastictransport.WithBasicAuth(config.Username, string(config.Password)))
	}
	nodes, err := elastictransport.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.Service, err)
	}
	c := &Client{config: config, urls: urls, nodes: nodes, conns: conns, step: changeStep, secrets: newRedactor(&config)}
	c.waits.report, c.waits.server = config.Waiting, c.name()
	return c, nil
}

// compression compresses the bodies of requests. The official client's own compression takes three times as long, and
// uses the buffer of a body again while a connection may still send it.
func compression() elastictransport.InterceptorFunc {
	const level = 2 // documents are 7 times smaller; level 1 takes as long and makes them 6 times smaller
	writers := sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(nil, level) // fails only for a level that does not exist
		return w
	}}
	return func(next elastictransport.RoundTripFunc) elastictransport.RoundTripFunc {
		return func(req *http.Request) (*http.Response, error) {
			const small = 1 << 10
			if req.Body == nil || req.ContentLength < small {
				return next(req)
			}
			packed := bytes.NewBuffer(make([]byte, 0, req.ContentLength/6))
			w := writers.Get().(*gzip.Writer)
			defer writers.Put(w)
			w.Reset(packed)
			_, err := io.Copy(w, req.Body)
			if err = errors.Join(err, w.Close()); err != nil {
				return nil, fmt.Errorf("compress request: %w", err)
			}
			text := packed.Bytes()
			req.Header.Set("Content-Encoding", "gzip")
			req.ContentLength = int64(len(text))
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
			req.Body, _ = req.GetBody() // cannot fail
			return next(req)
		}
	}
}

// String returns the addresses, without credentials.
func (c *Client) String() string {
	texts := make([]string, len(c.urls))
	for i, u := range c.urls {
		texts[i] = u.String()
	}
	return strings.Join(texts, ", ")
}

func (c *Client) name() string { return c.config.Service + " at " + c.String() }

// Format implements [fmt.Formatter], so that no verb prints credentials.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// Close ends idle connections.
func (c *Client) Close() { c.conns.CloseIdleConnections() }

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
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.Type, "application/json"))
	}
	_, err = to.Perform(req)
	return nil, err
}

// Limited is a request with its own limit of the answer.
type Limited struct {
	esapi.Request
	MaxAnswer int64 // bytes; 0: 32 MiB
}

// JSON returns a reader of v in JSON, or of v itself if it is a []byte.
func JSON(v any) io.Reader {
	text, ok := v.([]byte)
	if !ok {
		var err error
		if text, err = json.Marshal(v); err != nil {
			panic(fmt.Sprintf("encode request: %v", err)) // cannot fail: all bodies are plain values
		}
	}
	return bytes.NewReader(text)
}

// keeper is a transport that keeps the request and sends nothing.
type keeper struct{ request *http.Request }

// Perform implements [esapi.Transport].
func (k *keeper) Perform(r *http.Request) (*http.Response, error) {
	k.request = r
	return new(http.Response), nil
}

// build makes the HTTP request without an address, because esapi can only pass a request to a transport. The request can
// be sent several times: each time with another reader of its body.
func build(r esapi.Request) (*http.Request, error) {
	var kept keeper
	if _, err := r.Do(context.Background(), &kept); err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	kept.request.Header.Set("Accept", "application/json")
	return kept.request, nil
}

// Line returns the HTTP method of a request, and its path with parameters.
func Line(r esapi.Request) (method, uri string, err error) {
	req, err := build(r)
	if err != nil {
		return "", "", err
	}
	return req.Method, req.URL.RequestURI(), nil
}

// Do sends a request and decodes its answer. into is a pointer for JSON ([ErrAnswer]), a [Reader], or nil. If it has a
// method Err() error, as [Whole] has, this decides whether the answer is complete. A status above 299 is an
// [*Error]. An answer longer than [Limited].MaxAnswer is [ErrTooLong].
//
// Do retries after [Temporary] errors as [Client.Repeat] does. So a request must do no harm when it is sent twice.
func (c *Client) Do(ctx context.Context, r esapi.Request, into any) error {
	req, err := build(r)
	if err != nil {
		return err
	}
	return c.Repeat(ctx, func(ctx context.Context) error { return c.send(ctx, r, req, into) })
}

// Once is like Do, but sends the request once.
func (c *Client) Once(ctx context.Context, r esapi.Request, into any) error {
	req, err := build(r)
	if err != nil {
		return err
	}
	return c.send(ctx, r, req, into)
}

// Reader reads the body of an answer.
type Reader func(header http.Header, body []byte) error

// send sends a request once, to the next address, and reads its answer, both within [Config].Timeout.
func (c *Client) send(ctx context.Context, r esapi.Request, req *http.Request, into any) error {
	began, most := time.Now(), int64(32<<20)
	if limited, ok := r.(Limited); ok && limited.MaxAnswer > 0 {
		most = limited.MaxAnswer
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.Timeout, ErrTimeout)
	defer cancel()
	out := req.Clone(ctx)
	if req.GetBody != nil {
		out.Body, _ = req.GetBody() // cannot fail: the body is in memory
	}
	res, err := c.nodes.Perform(out)
	if err == nil {
		c.hasAnswered.Store(true)
		err = c.read(res, most, into)
		_ = res.Body.Close()
	} else {
		err = c.failed(err)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.Method, e.Path = req.Method, req.URL.Path
	} else if err != nil && errors.Is(context.Cause(ctx), ErrTimeout) {
		err = c.failed(fmt.Errorf("%w (%v)", ErrTimeout, time.Since(began).Round(time.Second)))
	}
	return err
}

// read reads an answer of at most most bytes.
func (c *Client) read(res *http.Response, most int64, into any) error {
	if res.StatusCode > 299 {
		return c.named(readError(res, c.config, c.Redact))
	}
	text, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, most))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, most)
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return c.failed(err)
	case into == nil:
		return nil
	case err != nil:
	case len(text) == 0:
		err = errEmpty
	default:
		if read, ok := into.(Reader); ok {
			err = read(res.Header, text)
			break
		}
		reflect.ValueOf(into).Elem().SetZero() // an earlier answer may have been cut off
		err = json.Unmarshal(text, into)
		if whole, ok := into.(interface{ Err() error }); err == nil && ok {
			err = whole.Err()
		}
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch isSyntax := errors.As(err, &syntax); {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		err = fmt.Errorf("%w: its field %s is a %s", ErrAnswer, cmp.Or(kind.Field, "(all)"), kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), isSyntax && syntax.Offset >= int64(len(text)):
		err = errCut
	case isSyntax:
		err = ErrAnswer
	}
	return fmt.Errorf("read answer: %w", err)
}
