package es

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// errPinned means that the server's certificate does not have the fingerprint in the settings.
var errPinned = errors.New("the server's certificate does not match the fingerprint")

// newTransport makes a transport for these addresses. It always checks certificates.
func newTransport(c Config, urls []*url.URL) (*http.Transport, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(c.CACert) > 0 {
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(c.CACert) {
			return nil, fmt.Errorf("%w: the CA file has no PEM certificate", ErrConfig)
		}
	}
	if c.Fingerprint != "" {
		want, err := hex.DecodeString(strings.ReplaceAll(c.Fingerprint, ":", ""))
		if err != nil || len(want) != sha256.Size {
			return nil, fmt.Errorf("%w: the fingerprint is not a SHA-256 in hexadecimal", ErrConfig)
		}
		secure.InsecureSkipVerify = true // pinned checks the certificate instead
		secure.VerifyConnection = func(state tls.ConnectionState) error { return pinned(state, want, urls) }
	}
	proxy := http.ProxyFromEnvironment
	if c.Proxy != "" {
		u, err := url.Parse(c.Proxy)
		if err != nil || u.Host == "" { // err is not wrapped, because its text contains the password
			return nil, fmt.Errorf("%w: the proxy is not a URL", ErrConfig)
		}
		proxy = http.ProxyURL(u)
	}
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: c.ConnectTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Transport{
		DisableCompression: c.GzipLevel == NoGzip,
		Proxy:              proxy, DialContext: dial, TLSClientConfig: secure, TLSHandshakeTimeout: c.ConnectTimeout,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: c.Dial == nil,
		WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
	}, nil
}

// pinned accepts a server if its own certificate has the fingerprint. It also accepts a certificate for this host
// that an authority with the fingerprint signed. pinned verifies that signature, because any server can send the
// authority's certificate.
func pinned(state tls.ConnectionState, want []byte, urls []*url.URL) error {
	chain := state.PeerCertificates
	for i, cert := range chain {
		sum := sha256.Sum256(cert.Raw)
		if !bytes.Equal(sum[:], want) {
			continue
		}
		if i == 0 {
			return nil
		}
		roots, between := x509.NewCertPool(), x509.NewCertPool()
		roots.AddCert(cert)
		for _, c := range chain[1:] {
			between.AddCert(c)
		}
		var err error
		for _, host := range hosts(state, urls) {
			if _, err = chain[0].Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between}); err == nil {
				return nil
			}
		}
		return fmt.Errorf("%w: %w", errPinned, err)
	}
	return fmt.Errorf("%w: it sends %d certificate(s), none with this SHA-256; an authority's fingerprint works only if the server sends the authority's certificate, too: use that of the server's own certificate, or a CA file", errPinned, len(chain))
}

// hosts returns the names that the certificate may be for; one is enough. A TLS handshake does not name IP
// addresses, so without a name any address in the settings counts.
func hosts(state tls.ConnectionState, urls []*url.URL) []string {
	if state.ServerName != "" {
		return []string{state.ServerName}
	}
	all := make([]string, len(urls))
	for i, u := range urls {
		all[i] = u.Hostname()
	}
	return all
}
