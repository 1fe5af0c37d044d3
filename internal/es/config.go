package es

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
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
	MaxAnswer      int64         // limit of an answer in bytes; default 64 MiB

	// Waiting is called while the client waits for a server: first within eight seconds, then every half minute.
	// Calls do not overlap. It may be nil.
	Waiting func(Wait)

	UserAgent string // default "fio2es"
	Service   string // name of the server in errors; default "elasticsearch"

	// Dial makes connections instead of TCP, for tunnels and tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// withDefaults checks the settings and returns a copy with all defaults, and the addresses.
func (c Config) withDefaults() (Config, []*url.URL, error) {
	addresses := c.Addresses
	if c.CloudID != "" {
		if len(addresses) > 0 {
			return c, nil, fmt.Errorf("%w: both addresses and a cloud id", ErrConfig)
		}
		cloud, err := cloudAddress(c.CloudID)
		if err != nil {
			return c, nil, err
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
			return c, nil, err
		}
	}
	for _, u := range urls { // after the loop above, because credentials may be in any address
		if err := c.checkPlain(u); err != nil {
			return c, nil, err
		}
	}
	if err := c.check(); err != nil {
		return c, nil, err
	}
	c.fill(urls)
	return c, urls, nil
}

// check returns an error if settings contradict one another.
func (c *Config) check() error {
	switch {
	case c.APIKey != "" && (c.Username != "" || c.Password != ""):
		return fmt.Errorf("%w: both an API key and a user name", ErrConfig)
	case strings.Contains(string(c.APIKey), ":"):
		return fmt.Errorf(`%w: the API key must be the value "encoded" of the answer that created it, the base64 of id:key`, ErrConfig)
	case c.Password == "" && c.Username != "":
		return fmt.Errorf("%w: a user name without a password", ErrConfig)
	case c.Username == "" && c.Password != "":
		return fmt.Errorf("%w: a password without a user name", ErrConfig)
	case len(c.CACert) > 0 && c.Fingerprint != "":
		return fmt.Errorf("%w: both a CA certificate and a fingerprint", ErrConfig)
	case c.GzipLevel < NoGzip || c.GzipLevel > 9:
		return fmt.Errorf("%w: gzip level %d is not one of 1 to 9, 0 and %d", ErrConfig, c.GzipLevel, NoGzip)
	}
	return nil
}

func (c *Config) fill(urls []*url.URL) {
	isRemote := func(u *url.URL) bool { return !isLoopback(u.Hostname()) }
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
	c.Pause = cmp.Or(c.Pause, firstPause)
	c.MaxAnswer = cmp.Or(c.MaxAnswer, 64<<20)
	c.UserAgent = cmp.Or(c.UserAgent, "fio2es")
	c.Service = cmp.Or(c.Service, elasticsearch)
}

// address parses an address, and moves its credentials to c, so that the address can be printed.
func (c *Config) address(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil && strings.Contains(text, "@") { // both the address and the error contain the password
		return nil, fmt.Errorf("%w: an address is not of the form https://host:9200", ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: address %s is not of the form https://host:9200", ErrConfig, text)
	}
	if u.User != nil {
		if c.APIKey != "" || c.Username != "" {
			return nil, fmt.Errorf("%w: credentials in address %s, and others in the settings: give one of them", ErrConfig, u.Host)
		}
		password, _ := u.User.Password()
		c.Username, c.Password, u.User = u.User.Username(), Secret(password), nil
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: address %s is not of the form https://host:9200", ErrConfig, u)
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil && u.Port() != "" {
		return nil, fmt.Errorf("%w: address %s: there is no port above 65535", ErrConfig, u)
	}
	return u, nil
}

// checkPlain refuses to send credentials without encryption to another machine.
func (c *Config) checkPlain(u *url.URL) error {
	if u.Scheme == "https" || c.AllowPlain || c.APIKey == "" && c.Password == "" || isLoopback(u.Hostname()) {
		return nil
	}
	return fmt.Errorf("%w: %s would send the credentials unencrypted: use https, or set allow_plain", ErrConfig, u)
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
