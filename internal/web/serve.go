package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long connections may take. A page is written within a minute of when it is made, which
// may take all of its patience.
const (
	headerTimeout = 10 * time.Second
	writeTimeout  = patience + time.Minute
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
)

// farewell is how long requests under way have to end once the server is to.
const farewell = 5 * time.Second

// Serve answers on a listener, which it closes, until ctx ends. Then it takes no more requests,
// waits a moment for those under way, and returns nil.
func Serve(ctx context.Context, l net.Listener, pages http.Handler, log *slog.Logger) error {
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           pages,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout, // there are no bodies to wait for
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		log.Warn("requests under way were cut off", "after", farewell)
		cut()
		return server.Close()
	}
	return nil
}
