package elastic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
)

// Client speaks to a cluster. It may be used by several goroutines at once.
type Client struct {
	urls      []*url.URL
	nodes     *elastictransport.Client // chooses among the addresses
	conns     *http.Transport
	pack      *packer
	gzip      Gzip
	timeout   time.Duration
	retries   int
	maxAnswer int64
	secrets   []Secret
	ownCA     bool // authorities were named
	service   string
}

// elasticsearch is what errors call a cluster.
const elasticsearch = "elasticsearch"

// New makes a client; it fails with [ErrConfig] and sends nothing yet ([Client.Check]).
func New(config Config) (*Client, error) {
	c, urls, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("set up %s client: %w", orElse(config.Service, elasticsearch), err)
	}
	conns, err := newTransport(c, urls)
	if err != nil {
		return nil, fmt.Errorf("set up %s client: %w", c.Service, err)
	}
	options := []elastictransport.Option{
		elastictransport.WithURLs(urls...), elastictransport.WithTransport(conns),
		elastictransport.WithUserAgent(c.UserAgent), elastictransport.WithDisableRetry(),
	}
	switch {
	case c.APIKey != "":
		options = append(options, elastictransport.WithAPIKey(string(c.APIKey)))
	case c.Username != "":
		options = append(options, elastictransport.WithBasicAuth(c.Username, string(c.Password)))
	}
	nodes, err := elastictransport.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("set up %s client: %w", c.Service, err)
	}
	return &Client{
		urls: urls, nodes: nodes, conns: conns, pack: newPacker(c.GzipLevel), gzip: config.gzip(),
		timeout: c.Timeout, retries: c.Retries, maxAnswer: c.MaxAnswer, secrets: []Secret{c.APIKey, c.Password},
		ownCA: len(c.CACert) > 0, service: c.Service,
	}, nil
}

// String is the addresses, for messages; credentials are not in them.
func (c *Client) String() string {
	texts := make([]string, len(c.urls))
	for i, u := range c.urls {
		texts[i] = u.String()
	}
	return strings.Join(texts, ", ")
}

// Format implements [fmt.Formatter], so that no verb looks inside.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// Close ends idle connections.
func (c *Client) Close() { c.conns.CloseIdleConnections() }

// Perform sends a request, to the next address each time. A body is kept in memory and
// compressed. When no connection can be made the request is sent again, after a while;
// so it is after a lost connection or status 502, 503 and 504, when sending it twice
// does no harm. It implements the Transport of esapi; see [Client.Do] for more comfort.
func (c *Client) Perform(req *http.Request) (*http.Response, error) {
	if err := c.pack.request(req); err != nil {
		return nil, fmt.Errorf("compress request: %w", err)
	}
	harmless := idempotent(req)
	for attempt := 0; ; attempt++ {
		again := req.Clone(req.Context())
		if req.GetBody != nil {
			again.Body, _ = req.GetBody() // from memory: cannot fail
		}
		res, err := c.once(again)
		if attempt >= c.retries || !mayRetry(req.Context(), res, err, harmless) {
			return res, err
		}
		if res != nil {
			discard(res.Body)
		}
		if err := Sleep(req.Context(), Backoff(attempt)); err != nil {
			return nil, fmt.Errorf("wait to send request again: %w", err)
		}
	}
}

// once sends a request once, and ends it after the timeout.
func (c *Client) once(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), c.timeout, ErrTimeout)
	res, err := c.nodes.Perform(req.WithContext(ctx))
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
			err = fmt.Errorf("%w (%v)", ErrTimeout, c.timeout)
		}
		cancel()
		return nil, err
	}
	res.Body = &answer{body: res.Body, ctx: ctx, cancel: cancel}
	return res, nil
}

// answer is a body that ends its request's timeout when it is closed.
type answer struct {
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(a.ctx), ErrTimeout) {
		err = ErrTimeout
	}
	return n, err
}

func (a *answer) Close() error {
	defer a.cancel()
	return a.body.Close()
}

// discard reads a little of what is left, so that the connection can be used again.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10) // only to save a connection
	_ = body.Close()
}

func mayRetry(ctx context.Context, res *http.Response, err error, harmless bool) bool {
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		return isDial(err) && Temporary(err) || harmless && Temporary(err) && !errors.Is(err, ErrTimeout)
	}
	return harmless && (res.StatusCode == http.StatusBadGateway || res.StatusCode == http.StatusServiceUnavailable ||
		res.StatusCode == http.StatusGatewayTimeout)
}

// idempotent tells whether a request can be sent twice without harm.
func idempotent(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete:
		return true
	}
	path := req.URL.Path
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "_search", "_msearch", "_count", "_mget", "_refresh", "_field_caps":
		return true
	}
	return false
}

// Backoff is how long to wait before attempt+1 is made: 100 ms, doubled each time up to
// 30 s, less a random part of up to a half, so that many do not come back at once.
func Backoff(attempt int) time.Duration {
	const first, most = 100 * time.Millisecond, 30 * time.Second
	d := most
	if attempt < 9 {
		d = min(first<<attempt, most)
	}
	return d - rand.N(d/2+1)
}

// Sleep waits, unless ctx ends before: then it returns the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// memory makes a request's body one that can be sent again.
func memory(req *http.Request, body []byte) {
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
}
