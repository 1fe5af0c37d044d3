package estest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"time"
)

// Start listens on the loopback interface until stop is called, and returns the URL.
func (s *Server) Start() (address string, stop func()) {
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	return server.URL, server.Close
}

// Dial makes connections, like net.Dialer.DialContext.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Pipe listens in memory until stop is called. dial makes connections. During a [Restart] it refuses to.
func (s *Server) Pipe() (dial Dial, stop func()) {
	connect, stop := Pipe(s)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		s.mu.Lock()
		down := time.Now().Before(s.down)
		s.mu.Unlock()
		if down {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		return connect(ctx, network, address)
	}, stop
}

// Pipe serves h in memory until stop is called. dial makes connections.
func Pipe(h http.Handler) (dial Dial, stop func()) {
	l := pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	server := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(l) }() // returns when it is closed
	dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		client, far := net.Pipe()
		select {
		case l.conns <- far:
			return client, nil
		case <-l.closed:
		case <-ctx.Done():
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	return dial, func() { _ = server.Close() }
}

// pipes is a listener for connections in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// Accept implements [net.Listener].
func (l pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l pipes) Close() error {
	l.close()
	return nil
}

// Addr implements [net.Listener].
func (l pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }
