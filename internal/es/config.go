package es

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/late"
)

// ErrConfig means that a setting cannot be used. The text names the setting.
var ErrConfig = errors.New("wrong setting")

// Config says how to reach a cluster. The zero value means http://localhost:9200 without credentials.
type Config struct {
	Addresses []string // URLs of nodes or proxies, perhaps with a path; default http://localhost:9200

	APIKey   Secret // the encoded form, "id:key" in base64; instead of Username and Password
	Username string
	Password Secret

	CACert     []byte // certificates of trusted authorities in PEM, instead of the system's
	AllowPlain bool   // allow credentials over plain http to other machines
	NoGzip     bool   // neither requests nor answers are compressed, as if all nodes are on this machine

	Timeout     time.Duration // of one request, including its answer; default 90 s
	GiveUpAfter time.Duration // how long to retry without progress; default 5 min, negative: no retries
	Pause       time.Duration // before the first retry, doubled each time up to 30 s; default 100 ms

	// Waiting is called while the client waits for a server: first within eight seconds, then every half minute.
	// Calls do not overlap. It may be nil.
	Waiting func(Wait)

	Service string // name of the server in errors; default "elasticsearch"

	// Dial makes connections instead of TCP, for tunnels and tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// complete checks the settings and sets all defaults. It returns the addresses.
func (c *Config) complete() ([]*url.URL, error) {
	addresses := c.Addresses
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
	}
	if c.Dial == nil && !slices.ContainsFunc(urls, isRemote) {
		c.NoGzip = true // without a network, compression takes longer than it saves
	}
	c.Timeout = cmp.Or(c.Timeout, 90*time.Second)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, 5*time.Minute)
	c.Pause = cmp.Or(c.Pause, 100*time.Millisecond)
	c.Service = cmp.Or(c.Service, elasticsearch)
	return urls, nil
}

// shown matches addresses that have no place for a password: a port is a number.
var shown = late.Regexp(`^([a-z0-9+]+://)?([\w.-]*|\[[\da-fA-F:.]*\])(:\d*)?(/[\w./-]*)?$`)

// MayShow reports whether an address surely has no password in it. It may be one that cannot be parsed.
func MayShow(address string) bool { return shown().MatchString(address) }

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

// transport makes the connections. It always checks certificates.
func (c *Config) transport() (*http.Transport, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(c.CACert) > 0 {
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(c.CACert) {
			return nil, fmt.Errorf("%w: the CA file has no PEM certificate", ErrConfig)
		}
	}
	const connecting = 10 * time.Second
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: connecting, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Transport{
		DisableCompression: c.NoGzip,
		Proxy:              http.ProxyFromEnvironment, DialContext: dial, TLSClientConfig: secure, TLSHandshakeTimeout: connecting,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: c.Dial == nil,
		WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
	}, nil
}

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
