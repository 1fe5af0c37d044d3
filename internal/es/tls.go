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

// errPinned is a server that is not the one whose fingerprint is set.
var errPinned = errors.New("server's certificate does not go with the fingerprint")

// newTransport makes the connections that c describes, to servers at urls. Certificates
// are always checked.
func newTransport(c Config, urls []*url.URL) (*http.Transport, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(c.CACert) > 0 {
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(c.CACert) {
			return nil, fmt.Errorf("%w: the CA file holds no PEM certificate", ErrConfig)
		}
	}
	if c.Fingerprint != "" {
		want, err := hex.DecodeString(strings.ReplaceAll(c.Fingerprint, ":", ""))
		if err != nil || len(want) != sha256.Size {
			return nil, fmt.Errorf("%w: the fingerprint is not a SHA-256 in hexadecimal", ErrConfig)
		}
		secure.InsecureSkipVerify = true // pinned verifies instead
		secure.VerifyConnection = func(state tls.ConnectionState) error { return pinned(state, want, urls) }
	}
	proxy := http.ProxyFromEnvironment
	if c.Proxy != "" {
		u, err := url.Parse(c.Proxy)
		if err != nil || u.Host == "" { // the error would repeat a password in it
			return nil, fmt.Errorf("%w: the proxy is not a URL", ErrConfig)
		}
		proxy = http.ProxyURL(u)
	}
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: c.ConnectTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: secure, TLSHandshakeTimeout: c.ConnectTimeout,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: c.Dial == nil,
		WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
	}, nil
}

// pinned accepts the server whose own certificate has the fingerprint, or whose
// certificate an authority with the fingerprint signed, for this host. That the
// authority's certificate is merely sent along would prove nothing: anybody has it.
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
	return fmt.Errorf("%w: it sends %d certificate(s), none with this SHA-256; an authority's works only where the server sends the authority's certificate, too: else take that of the server's own, or a CA file", errPinned, len(chain))
}

// hosts are those for one of which a connection's certificate has to be. IP addresses are
// not told in a handshake; then each address that is one can be meant.
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
