package es

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// advice is what can be done about a failed connection, after a colon; empty if the error is
// clear by itself.
func (c *Client) advice(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		record    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &authority) && c.ownCA:
		return ": the authority in the CA file has not signed this server's certificate" + c.where("; a node has the right one in config/certs/http_ca.crt, unless it was given another")
	case errors.As(err, &authority):
		return ": this machine does not trust the authority that signed the certificate: set the authority's certificate as CA file" + c.where(" (a node has it in config/certs/http_ca.crt), or the certificate's fingerprint")
	case errors.As(err, &host):
		return ": use the name in the certificate as address, or the certificate's fingerprint in place of a CA file"
	case errors.As(err, &record):
		return ": the server does not speak TLS at this address: is it http?"
	case c.isPlain() && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(err.Error(), "malformed HTTP response")):
		return ": the server does not speak HTTP at this address: is it https?"
	}
	return ""
}

// where is a text that applies to clusters only.
func (c *Client) where(text string) string {
	if c.service != elasticsearch {
		return ""
	}
	return text
}

// isPlain reports whether an address is http.
func (c *Client) isPlain() bool {
	return slices.ContainsFunc(c.urls, func(u *url.URL) bool { return u.Scheme == "http" })
}
