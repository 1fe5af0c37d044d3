package es

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
)

// Temporary reports whether a retry may succeed after err: the connection failed, no answer came in time or all of it, the server
// or a proxy is overloaded or restarts, or the disks of the server are too full. It is false if the caller's context
// ended or certificates do not match.
func Temporary(err error) bool {
	var e *Error
	var unusable *unusableError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, ErrTooLong), errors.Is(err, ErrConfig), isTLS(err):
		return false
	case isPartial(err):
		return true
	case errors.As(err, &unusable), errors.Is(err, ErrIncomplete):
		return false
	case errors.As(err, &e):
		return e.isTemporary()
	case errors.Is(err, ErrTimeout):
		return true
	case errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, ErrAnswer), errors.Is(err, errPinned):
		return false
	}
	return true // connection refused, reset or cut off
}

// isTemporary is Temporary for an answer, or for one item result in it.
func (e *Error) isTemporary() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	case http.StatusServiceUnavailable:
		return e.Type != "too_many_buckets_exception" // the request is too large, so a retry fails too
	}
	return e.IsDiskFull()
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func isTLS(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		alert     tls.AlertError
		record    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &alert) || errors.As(err, &record) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
