package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long connections may take. Making a page may take all of patience, and sending it another minute.
const (
	headerTimeout = 10 * time.Second
	writeTimeout  = patience + time.Minute
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
)

// shutdownTimeout is how long requests may still take after the server is stopped.
const shutdownTimeout = 5 * time.Second

// Serve answers requests on a listener until ctx ends, and closes the listener. Then it waits up to shutdownTimeout
// for the requests under way, and returns nil. An error of the listener is returned.
func Serve(ctx context.Context, l net.Listener, pages http.Handler, log *slog.Logger) error {
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           pages,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       headerTimeout, // also for bodies, because requests have none
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
