// Package es is the client for Elasticsearch 8.6 and later, and for Kibana. It has connections, retries, and errors that
// say what to do. It does not know the meaning of documents, and it neither logs nor prints.
//
// Connections, nodes and credentials are those of the official client (elastictransport), and requests are its types
// (esapi), or a [Request]. Ours are compression, the certificates that a fingerprint allows, limits of answers, and one
// rule for retries: the official client counts them, and this one waits by time and reports it.
//
// [Client.Do] retries requests that can be sent twice without harm, while the server cannot be reached, is overloaded,
// or has full disks. It does so for up to [Config].GiveUpAfter, and reports it to [Config].Waiting. [Client.Once] sends
// a request once.
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
	config Config
	urls   []*url.URL
	nodes  *elastictransport.Client
	conns  *http.Transport
	waits  waits
	step   int // most documents that one request changes

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
	conns, err := config.transport(urls)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.Service, err)
	}
	options := []elastictransport.Option{
		elastictransport.WithURLs(urls...), elastictransport.WithTransport(conns),
		elastictransport.WithUserAgent(config.UserAgent), elastictransport.WithDisableRetry(),
	}
	if config.GzipLevel != NoGzip {
		options = append(options, elastictransport.WithInterceptors(compression(config.GzipLevel)))
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
	c := &Client{config: config, urls: urls, nodes: nodes, conns: conns, step: changeStep}
	c.waits.report, c.waits.server = config.Waiting, c.name()
	return c, nil
}

// compression compresses the bodies of requests. The official client's own compression takes three times as long, and
// uses the buffer of a body again while a connection may still send it.
func compression(level int) elastictransport.InterceptorFunc {
	writers := sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			panic(err) // the level is checked before
		}
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
	MaxAnswer int64 // bytes; 0: [Config].MaxAnswer
}

// small limits the answer to 4 MiB, for requests that return no documents.
func small(r esapi.Request) esapi.Request { return Limited{Request: r, MaxAnswer: 4 << 20} }

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

// failing is the body of a request whose value cannot be encoded.
type failing struct{ err error }

// Read implements [io.Reader].
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// keeper is a transport that keeps the request and sends nothing.
type keeper struct{ request *http.Request }

// Perform implements [esapi.Transport].
func (k *keeper) Perform(r *http.Request) (*http.Response, error) {
	k.request = r
	return new(http.Response), nil
}

// build makes the HTTP request without an address, because esapi can only pass a request to a transport.
func build(r esapi.Request) (*http.Request, error) {
	var kept keeper
	if _, err := r.Do(context.Background(), &kept); err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
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

// Do sends a request and decodes its answer. into is a pointer for JSON ([ErrAnswer]), or a func(io.Reader) error
// that reads the body, or nil. If it has a method Err() error, as [Whole] has, this decides whether the answer is
// complete. A status above 299 is an [*Error]. An answer longer than [Limited].MaxAnswer is [ErrTooLong].
//
// Do retries after [Temporary] errors as [Client.Repeat] does. A request that may do harm when it is sent twice is
// retried only if no connection could be made.
func (c *Client) Do(ctx context.Context, req esapi.Request, into any) error {
	return c.do(ctx, req, func(res *http.Response, most int64) error { return c.read(res, most, into) })
}

func (c *Client) do(ctx context.Context, r esapi.Request, read func(res *http.Response, most int64) error) error {
	m, err := c.message(r)
	if err != nil {
		return err
	}
	again, isOnce := Temporary, !isRepeatable(m.Request)
	if isOnce {
		again = isDial
	}
	return c.repeat(ctx, isOnce, nil, again, func(ctx context.Context) error { return c.send(ctx, m, read) })
}

// Once is like Do, but sends the request once.
func (c *Client) Once(ctx context.Context, r esapi.Request, into any) error {
	m, err := c.message(r)
	if err != nil {
		return err
	}
	return c.send(ctx, m, func(res *http.Response, most int64) error { return c.read(res, most, into) })
}

// message is a request that can be sent several times: each time with another reader of its body.
type message struct {
	*http.Request
	maxAnswer int64
}

func (c *Client) message(r esapi.Request) (*message, error) {
	req, err := build(r)
	if err != nil {
		return nil, err
	}
	if req.Body != nil && req.GetBody == nil { // it is not from JSON, or its value cannot be encoded
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		return nil, errors.New("make request: a body that can be read only once")
	}
	req.Header.Set("Accept", "application/json")
	m := &message{Request: req, maxAnswer: c.config.MaxAnswer}
	if x, ok := r.(Limited); ok && x.MaxAnswer > 0 {
		m.maxAnswer = x.MaxAnswer
	}
	return m, nil
}

// isRepeatable reports whether a request can be sent twice without harm. Opening a point in time twice is harmless,
// because one that is not closed expires. _export is a request to Kibana.
func isRepeatable(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
		return true
	}
	path := req.URL.Path
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "_search", "_count", "_refresh", "_delete_by_query", "_update_by_query", "_pit", "_export":
		return true
	}
	return false
}

// send sends a request once, to the next address, and reads its answer, both within [Config].Timeout.
func (c *Client) send(ctx context.Context, m *message, read func(*http.Response, int64) error) error {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.Timeout, ErrTimeout)
	defer cancel()
	out := m.Clone(ctx)
	if m.GetBody != nil {
		out.Body, _ = m.GetBody() // cannot fail: the body is in memory
	}
	res, err := c.nodes.Perform(out)
	if err == nil {
		c.hasAnswered.Store(true)
		err = read(res, m.maxAnswer)
		_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
		_ = res.Body.Close()
	} else {
		err = c.failed(err)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.Method, e.Path = m.Method, m.URL.Path
	} else if err != nil && errors.Is(context.Cause(ctx), ErrTimeout) {
		err = c.failed(fmt.Errorf("%w (%v)", ErrTimeout, time.Since(began).Round(time.Second)))
	}
	return err
}

// body is the body of an answer with the error that ended reading, unless it is io.EOF.
type body struct {
	io.Reader
	err error
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// read reads an answer of at most most bytes.
func (c *Client) read(res *http.Response, most int64, into any) (err error) {
	if res.StatusCode > 299 {
		return c.named(readError(res, c.config))
	}
	from := &body{Reader: http.MaxBytesReader(nil, res.Body, most)}
	switch into := into.(type) {
	case nil:
		return nil
	case func(io.Reader) error:
		err = into(from)
	default:
		reflect.ValueOf(into).Elem().SetZero() // an earlier answer may have been cut off
		err = json.NewDecoder(from).Decode(into)
		if whole, ok := into.(interface{ Err() error }); err == nil && ok {
			err = whole.Err()
		}
	}
	switch {
	case errors.As(from.err, new(*http.MaxBytesError)):
		return fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, most)
	case from.err != nil && !errors.Is(from.err, io.ErrUnexpectedEOF):
		return c.failed(from.err)
	}
	return answerError(err)
}
