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
	"syscall"
)

// reachError is an error of the connection. Its text has no secrets, and says what to do.
type reachError struct {
	server, advice string
	err            error
}

// Error implements error.
func (r *reachError) Error() string { return "reach " + r.server + ": " + r.short() }

// short returns the text without the name of the server.
func (r *reachError) short() string { return plain(r.err) + r.advice }

// Unwrap returns the cause.
func (r *reachError) Unwrap() error { return r.err }

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
	case errors.Is(err, ErrTimeout):
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

// failed makes a reachError of an error of the connection, with what to do about it after a colon.
func (c *Client) failed(err error) error {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		record    tls.RecordHeaderError
		advice    string
	)
	ifCluster := func(text string) string {
		if c.config.Service != elasticsearch {
			return ""
		}
		return text
	}
	isPlain := func(u *url.URL) bool { return u.Scheme == "http" }
	switch {
	case errors.As(err, &authority) && len(c.config.CACert) > 0:
		advice = ": the authority in the CA file has not signed this server's certificate" + ifCluster("; a node has the right one in config/certs/http_ca.crt, unless it was given another")
	case errors.As(err, &authority):
		advice = ": this machine does not trust the authority that signed the certificate: set the authority's certificate as CA file" + ifCluster(" (a node has it in config/certs/http_ca.crt), or the certificate's fingerprint")
	case errors.As(err, &host):
		advice = ": use the name in the certificate as address, or the certificate's fingerprint in place of a CA file"
	case errors.As(err, &record):
		advice = ": the server does not speak TLS at this address: is it http?"
	case slices.ContainsFunc(c.urls, isPlain) && !c.hasAnswered.Load() && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(err.Error(), "malformed HTTP response")):
		advice = ": the server does not speak HTTP at this address: is it https?"
	}
	return &reachError{server: c.name(), advice: advice, err: err}
}

// named adds to an error answer its meaning and what to do.
func (c *Client) named(e *Error) error {
	switch {
	case e.IsForbidden():
		return fmt.Errorf("%w: %w", ErrForbidden, e)
	case e.Status != http.StatusUnauthorized:
		return Named(e)
	case c.config.APIKey != "" || c.config.Password != "":
		return fmt.Errorf("%w: check the API key, or user name and password: %w", ErrAuth, e)
	}
	return fmt.Errorf("%w: none are set, neither an API key nor user name and password: %w", ErrAuth, e)
}

func isTLS(err error) bool {
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.AlertError)) ||
		errors.As(err, new(tls.RecordHeaderError)) || errors.Is(err, errPinned)
}
