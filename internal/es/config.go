package es

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NoGzip as [Config].GzipLevel: neither requests nor answers are compressed.
const NoGzip = -1

// ErrConfig means that a setting cannot be used. The text names the setting.
var ErrConfig = errors.New("wrong setting")

// Config says how to reach a cluster. The zero value means http://localhost:9200 without credentials.
type Config struct {
	Addresses []string // URLs of nodes or proxies, perhaps with a path; default http://localhost:9200
	CloudID   string   // id of an Elastic Cloud deployment, instead of Addresses

	APIKey   Secret // the encoded form, "id:key" in base64; instead of Username and Password
	Username string
	Password Secret

	CACert []byte // certificates of trusted authorities in PEM, instead of the system's
	// SHA-256 in hexadecimal of a certificate in the server's chain, with or without colons; instead of CACert
	Fingerprint string
	AllowPlain  bool // allow credentials over plain http to other machines

	Proxy string // URL; default: the environment's HTTPS_PROXY, HTTP_PROXY and NO_PROXY
	// of request bodies, 1 to 9, or [NoGzip]; 0: level 2, or NoGzip if all nodes are on this machine
	GzipLevel int

	ConnectTimeout time.Duration // default 10 s
	Timeout        time.Duration // of one request, including its answer; default 90 s
	GiveUpAfter    time.Duration // how long to retry without progress; default 5 min, negative: no retries
	Pause          time.Duration // before the first retry, doubled each time up to 30 s; default 100 ms

	// Waiting is called while the client waits for a server: first within eight seconds, then every half minute.
	// Calls do not overlap. It may be nil.
	Waiting func(Wait)

	UserAgent string // default "fio2es"
	Service   string // name of the server in errors; default "elasticsearch"

	// Dial makes connections instead of TCP, for tunnels and tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// complete checks the settings and sets all defaults. It returns the addresses.
func (c *Config) complete() ([]*url.URL, error) {
	addresses := c.Addresses
	if c.CloudID != "" {
		if len(addresses) > 0 {
			return nil, fmt.Errorf("%w: both addresses and a cloud id", ErrConfig)
		}
		cloud, err := cloudAddress(c.CloudID)
		if err != nil {
			return nil, err
		}
		addresses = []string{cloud}
	}
	if len(addresses) == 0 {
		addresses = []string{"http://localhost:9200"}
	}
	urls := make([]*url.URL, len(addresses))
	for i, a := range addresses {
		var err error
		if urls[i], err = c.address(a); err != nil {
			return nil, err
		}
	}
	isRemote := func(u *url.URL) bool { return !isLoopback(u.Hostname()) }
	for _, u := range urls { // after the loop above, because credentials may be in any address
		if u.Scheme == "http" && !c.AllowPlain && (c.APIKey != "" || c.Password != "") && isRemote(u) {
			return nil, fmt.Errorf("%w: %s would send the credentials unencrypted: use https, or set allow_plain", ErrConfig, u)
		}
	}
	switch {
	case c.APIKey != "" && (c.Username != "" || c.Password != ""):
		return nil, fmt.Errorf("%w: both an API key and a user name", ErrConfig)
	case strings.Contains(string(c.APIKey), ":"):
		return nil, fmt.Errorf(`%w: the API key must be the value "encoded" of the answer that created it, the base64 of id:key`, ErrConfig)
	case c.Password == "" && c.Username != "":
		return nil, fmt.Errorf("%w: a user name without a password", ErrConfig)
	case c.Username == "" && c.Password != "":
		return nil, fmt.Errorf("%w: a password without a user name", ErrConfig)
	case len(c.CACert) > 0 && c.Fingerprint != "":
		return nil, fmt.Errorf("%w: both a CA certificate and a fingerprint", ErrConfig)
	case c.GzipLevel < NoGzip || c.GzipLevel > 9:
		return nil, fmt.Errorf("%w: gzip level %d is not one of 1 to 9, 0 and %d", ErrConfig, c.GzipLevel, NoGzip)
	}
	switch {
	case c.GzipLevel != 0:
	case c.Dial != nil || slices.ContainsFunc(urls, isRemote):
		c.GzipLevel = 2 // level 2 makes documents 7 times smaller; level 1 takes as long and makes them 6 times smaller
	default:
		c.GzipLevel = NoGzip // without a network, compression takes longer than it saves
	}
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 10*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 90*time.Second)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, 5*time.Minute)
	c.Pause = cmp.Or(c.Pause, 100*time.Millisecond)
	c.UserAgent = cmp.Or(c.UserAgent, "fio2es")
	c.Service = cmp.Or(c.Service, elasticsearch)
	return urls, nil
}

// shown matches addresses that have no place for a password: a port is a number.
var shown = regexp.MustCompile(`^([a-z0-9+]+://)?([\w.-]*|\[[\da-fA-F:.]*\])(:\d*)?(/[\w./-]*)?$`)

// MayShow reports whether an address surely has no password in it. It may be one that cannot be parsed.
func MayShow(address string) bool { return shown.MatchString(address) }

// address parses an address, and moves its credentials to c, so that the address can be printed.
func (c *Config) address(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		if !MayShow(text) {
			return nil, fmt.Errorf("%w: an address is not of the form https://host:9200", ErrConfig)
		}
		return nil, fmt.Errorf("%w: address %s is not of the form https://host:9200", ErrConfig, text)
	}
	if u.User != nil {
		if c.APIKey != "" || c.Username != "" {
			return nil, fmt.Errorf("%w: credentials in address %s, and others in the settings: give one of them", ErrConfig, u.Host)
		}
		password, _ := u.User.Password()
		c.Username, c.Password, u.User = u.User.Username(), Secret(password), nil
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil && u.Port() != "" {
		return nil, fmt.Errorf("%w: address %s: there is no port above 65535", ErrConfig, u)
	}
	return u, nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// cloudAddress returns the URL in a cloud id, which is "name:base64(domain[:port]$uuid$…)".
func cloudAddress(id string) (string, error) {
	_, packed, _ := strings.Cut(id, ":")
	if packed == "" {
		packed = id
	}
	text, err := base64.StdEncoding.DecodeString(packed)
	parts := strings.Split(string(text), "$")
	if err != nil || len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return "", fmt.Errorf("%w: cloud id %q is not one", ErrConfig, id)
	}
	domain, port, found := strings.Cut(parts[0], ":")
	if !found {
		port = "443"
	}
	return "https://" + parts[1] + "." + domain + ":" + port, nil
}

// errPinned means that the server's certificate does not have the fingerprint in the settings.
var errPinned = errors.New("the server's certificate does not match the fingerprint")

// transport makes the connections to these addresses. It always checks certificates. The official client's own check of a
// fingerprint would accept any server that sends the authority's certificate, and use neither a proxy nor a timeout.
func (c *Config) transport(urls []*url.URL) (*http.Transport, error) {
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
		hosts := []string{state.ServerName}
		if state.ServerName == "" { // a handshake does not name IP addresses, so any address in the settings counts
			hosts = nil
			for _, u := range urls {
				hosts = append(hosts, u.Hostname())
			}
		}
		var err error
		for _, host := range hosts {
			if _, err = chain[0].Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between}); err == nil {
				return nil
			}
		}
		return fmt.Errorf("%w: %w", errPinned, err)
	}
	return fmt.Errorf("%w: it sends %d certificate(s), none with this SHA-256; an authority's fingerprint works only if the server sends the authority's certificate, too: use that of the server's own certificate, or a CA file", errPinned, len(chain))
}

// redacted replaces a secret.
const redacted = "[redacted]"

// Secret is a password or key. Printed, formatted, logged or marshaled, it shows only whether it is set. string(s)
// is the secret itself.
type Secret string

// String returns a text that says only whether the secret is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// Format implements [fmt.Formatter], because verbs such as %x do not call String.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(f, text) // Format has no way to report the error
}

// MarshalText implements [encoding.TextMarshaler]. The text does not contain the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
