package es

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// server has the addresses of a server, and adds advice to its errors.
type server struct {
	service string
	urls    []*url.URL
	secrets []Secret
	ownCA   bool // Config names the trusted authorities

	hasAnswered *atomic.Bool // at least once, so the addresses are right
}

// String returns the addresses, without credentials.
func (s *server) String() string {
	texts := make([]string, len(s.urls))
	for i, u := range s.urls {
		texts[i] = u.String()
	}
	return strings.Join(texts, ", ")
}

func (s *server) name() string { return s.service + " at " + s.String() }

// reachError is an error of the connection. Its text has no secrets, and says what to do.
type reachError struct {
	server, advice string
	err            error
}

// Error implements error.
func (r *reachError) Error() string { return "reach " + r.server + ": " + r.short() }

// short returns the text without the name of the server.
func (r *reachError) short() string { return plain(r.err) + r.advice }

// plain returns the cause of a failed connection, without the names of Go functions and without addresses: the
// message names the server already.
func plain(err error) string {
	var (
		name   *net.DNSError
		system syscall.Errno
		wait   net.Error
		text   = err.Error()
	)
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "no machine is called " + name.Name
	case errors.As(err, &name):
		return "cannot look up the name " + name.Name + ": " + name.Err
	case errors.As(err, &system):
		return system.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	case errors.As(err, &wait) && wait.Timeout():
		return "no answer in time"
	}
	for _, call := range []string{"tls: ", "failed to verify certificate: ", "x509: "} {
		text = strings.TrimPrefix(text, call)
	}
	return text
}

// Unwrap returns the cause.
func (r *reachError) Unwrap() error { return r.err }

// failed makes a reachError of an error of the connection.
func (s *server) failed(err error) error {
	return &reachError{server: s.name(), advice: s.advice(err), err: err}
}

// advice returns what to do about a failed connection, after a colon. It is empty if the error is clear.
func (s *server) advice(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		record    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &authority) && s.ownCA:
		return ": the authority in the CA file has not signed this server's certificate" + s.where("; a node has the right one in config/certs/http_ca.crt, unless it was given another")
	case errors.As(err, &authority):
		return ": this machine does not trust the authority that signed the certificate: set the authority's certificate as CA file" + s.where(" (a node has it in config/certs/http_ca.crt), or the certificate's fingerprint")
	case errors.As(err, &host):
		return ": use the name in the certificate as address, or the certificate's fingerprint in place of a CA file"
	case errors.As(err, &record):
		return ": the server does not speak TLS at this address: is it http?"
	case slices.ContainsFunc(s.urls, isPlain) && !s.hasAnswered.Load() && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(err.Error(), "malformed HTTP response")):
		return ": the server does not speak HTTP at this address: is it https?"
	}
	return ""
}

// where returns text if the server is a cluster, and "" for other services.
func (s *server) where(text string) string {
	if s.service != elasticsearch {
		return ""
	}
	return text
}

func isPlain(u *url.URL) bool { return u.Scheme == "http" }

// named adds to an error answer its meaning and what to do.
func (s *server) named(e *Error) error {
	switch {
	case e.IsForbidden():
		return fmt.Errorf("%w: %w", ErrForbidden, e)
	case e.Status != http.StatusUnauthorized:
		return Named(e)
	case slices.ContainsFunc(s.secrets, func(x Secret) bool { return x != "" }):
		return fmt.Errorf("%w: check the API key, or user name and password: %w", ErrAuth, e)
	}
	return fmt.Errorf("%w: none are set, neither an API key nor user name and password: %w", ErrAuth, e)
}
