package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener for connections within the process, for tests in a synctest bubble.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialed:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8600} }

func (p *pipes) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case p.dialed <- theirs:
			return ours, nil
		case <-p.closed:
			return nil, errors.New("connection refused")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}}
}

// TestShutdown: when the server stops, requests under way may take five more seconds.
func TestShutdown(t *testing.T) {
	for _, c := range []struct {
		name       string
		takes      time.Duration
		body, took string
	}{
		{"quick", 3 * time.Second, "done", "2s"},
		{"slow", time.Minute, "", "5s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				l, ended := newPipes(), make(chan error, 1)
				slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(c.takes):
						io.WriteString(w, "done")
					case <-r.Context().Done():
					}
				})
				go func() { ended <- Serve(ctx, l, slow, slog.New(slog.DiscardHandler)) }()
				client, body := l.client(), make(chan string, 1)
				go func() {
					text := []byte(nil)
					if answer, err := client.Get("http://localhost:8600/"); err == nil {
						text, _ = io.ReadAll(answer.Body)
						answer.Body.Close()
					}
					body <- string(text)
				}()
				time.Sleep(time.Second)
				stopped := time.Now()
				stop()
				err := <-ended
				took := time.Since(stopped).Round(time.Second)
				if got := <-body; err != nil || got != c.body || took.String() != c.took {
					t.Errorf("%v, %q after %v, want %q after %s", err, got, took, c.body, c.took)
				}
				if _, err := client.Get("http://localhost:8600/"); err == nil {
					t.Error("it still answers")
				}
				client.CloseIdleConnections()
			})
		})
	}
}

// TestSlowClient: the server does not wait for a client that does not finish its request.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l, ended := newPipes(), make(chan error, 1)
		go func() { ended <- Serve(ctx, l, http.NotFoundHandler(), slog.New(slog.DiscardHandler)) }()
		ours, theirs := net.Pipe()
		l.dialed <- theirs
		io.WriteString(ours, "GET / HTTP/1.1\r\nHost: localhost\r\n")
		began := time.Now()
		io.Copy(io.Discard, ours)
		if took := time.Since(began); took > headerTimeout+time.Second {
			t.Errorf("after %v", took)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestBrokenListener: an error of the listener is returned.
func TestBrokenListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l.Close()
	if err := Serve(t.Context(), l, http.NotFoundHandler(), slog.New(slog.DiscardHandler)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
