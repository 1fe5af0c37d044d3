package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long connections may take. A page may take all of patience to make, and a minute more to send.
const (
	headerTimeout = 10 * time.Second
	writeTimeout  = patience + time.Minute
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
)

// shutdownTimeout is how long requests may still take when the server stops.
const shutdownTimeout = 5 * time.Second

// Serve answers requests on a listener until ctx ends, and closes the listener. Then it waits a moment for the
// requests that it is serving, and returns nil.
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
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		log.Warn("some requests were cut off", "after", shutdownTimeout)
		cut()
		return server.Close()
	}
	return nil
}
