package es

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
)

// Client sends requests to a cluster, or to Kibana. Several goroutines may use it at once.
type Client struct {
	server
	nodes     *elastictransport.Client // chooses the address of each request
	conns     *http.Transport
	pack      *packer
	timeout   time.Duration // limit of one request
	giveUp    time.Duration // time without progress after which the client gives up
	pause     time.Duration // before the second attempt
	waits     *waits
	maxAnswer int64
	step      int // most documents that one request changes
}

// elasticsearch is the name in errors of a server that is not Kibana.
const elasticsearch = "elasticsearch"

// New makes a client. It fails with [ErrConfig]. It sends nothing; see [Client.Check].
func New(config Config) (*Client, error) {
	c, urls, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmp.Or(config.Service, elasticsearch), err)
	}
	conns, err := newTransport(c, urls)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Service, err)
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
		return nil, fmt.Errorf("%s: %w", c.Service, err)
	}
	to := server{service: c.Service, urls: urls, secrets: []Secret{c.APIKey, c.Password}, ownCA: len(c.CACert) > 0, hasAnswered: new(atomic.Bool)}
	return &Client{
		server: to, nodes: nodes, conns: conns, pack: &packer{level: c.GzipLevel},
		timeout: c.Timeout, giveUp: c.GiveUpAfter, pause: c.Pause, maxAnswer: c.MaxAnswer, step: changeStep,
		waits: &waits{report: c.Waiting, server: to.name()},
	}, nil
}

// Format implements [fmt.Formatter], so that no verb prints credentials.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// Close ends idle connections.
func (c *Client) Close() { c.conns.CloseIdleConnections() }

// once sends a request once, with a timeout. Each call takes the next address.
func (c *Client) once(req *http.Request) (*http.Response, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(req.Context(), c.timeout, ErrTimeout)
	res, err := c.nodes.Perform(req.WithContext(ctx))
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
			err = fmt.Errorf("%w (%v)", ErrTimeout, time.Since(began).Round(time.Second))
		}
		cancel()
		return nil, err
	}
	c.hasAnswered.Store(true)
	res.Body = &answer{body: res.Body, ctx: ctx, cancel: cancel}
	return res, nil
}

// answer is the body of an answer. Close also ends the timeout of the request.
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

// discard reads up to 64 KiB of the rest, so that the connection can be used again.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10) // after an error the connection is not reused; nothing else is affected
	_ = body.Close()
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
