package elastic

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
)

// Temporary tells whether what failed with err can succeed when it is sent again, as it
// is: the connection could not be made or was lost, there was no answer in time, the
// server or a proxy is overloaded or restarts. It cannot when the caller's context
// ended, certificates do not fit, or the disk is full.
func Temporary(err error) bool {
	var e *Error
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, ErrTooLong), errors.Is(err, ErrConfig), isTLS(err):
		return false
	case errors.As(err, &e):
		return temporaryStatus(e.Status, e.Type)
	case errors.Is(err, ErrTimeout):
		return true
	case errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, errSyntax), errors.Is(err, errPinned):
		return false
	}
	return true // whatever happens on the way: refused, reset, cut off
}

// temporaryStatus is of a whole answer or of one item in it. Blocks with status 429 are
// of a full disk, and stay until somebody makes room.
func temporaryStatus(status int, kind string) bool {
	switch status {
	case http.StatusTooManyRequests:
		return kind != BlockType
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
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
