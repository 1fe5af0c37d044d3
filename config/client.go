package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Client returns the options of a client for the cluster. It reads the files with secrets and certificates, and fails
// if it cannot.
func (e *Elasticsearch) Client() (es.Config, error) {
	return e.client(es.Config{Addresses: e.Addresses, AllowPlain: e.AllowPlain}, "elasticsearch", e.Credentials, "elasticsearch.ca", e.CA)
}

// client completes the options of a client with the timeouts, the credentials of a section, and the certificates in a
// file that a setting names.
func (e *Elasticsearch) client(c es.Config, section string, from Credentials, ca, file string) (es.Config, error) {
	if c.Timeout, c.GiveUpAfter = e.RequestTimeout, e.GiveUpAfter; e.GiveUpAfter == 0 {
		c.GiveUpAfter = -1
	}
	c.Username = from.Username
	var faults [3]error
	c.APIKey, faults[0] = secret(section+".api_key", from.APIKey, from.APIKeyFile)
	c.Password, faults[1] = secret(section+".password", from.Password, from.PasswordFile)
	if file != "" {
		if c.CACert, faults[2] = readRegular(file, mostCertificates); faults[2] != nil {
			faults[2] = fmt.Errorf("%s: %w", ca, faults[2])
		}
	}
	return c, errors.Join(faults[:]...)
}

// serverFaults returns all wrong values about servers. The messages do not repeat the addresses of Kibana
// and Alertmanager, which may have a password.
func (c *Config) serverFaults() (faults []error) {
	k, e := &c.Kibana, &c.Elasticsearch
	if address := c.Alerts.Alertmanager; address != "" && serverIn(address) == nil {
		faults = append(faults, errors.New("alerts.alertmanager: want an address such as https://host:9093"))
	}
	if u := serverIn(cmp.Or(k.URL, "http://none")); u == nil {
		faults = append(faults, errors.New("kibana.url: want an address such as https://host:5601"))
	} else if _, space, ok := strings.Cut(strings.TrimRight(u.Path, "/"), "/s/"); ok && !strings.Contains(space, "/") {
		faults = append(faults, errors.New("kibana.url: its path ends with a space, /s/SPACE: want the address without it, and --kibana-space=SPACE"))
	}
	if strings.Trim(k.Space, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		faults = append(faults, c.wrong("kibana.space", k.Space, "the identifier of a space: lower-case letters, digits, _ and -"))
	}
	if e.RequestTimeout < time.Second || e.RequestTimeout > time.Hour {
		faults = append(faults, c.wrong("elasticsearch.request_timeout", e.RequestTimeout, "a time between 1s and 1h, such as 90s"))
	}
	if e.GiveUpAfter != 0 && e.GiveUpAfter < time.Second { // a number without a unit is nanoseconds
		faults = append(faults, c.wrong("elasticsearch.give_up_after", e.GiveUpAfter, "a time of at least 1s, such as 5m, or 0s, to fail at once"))
	}
	if e.Shards < 1 {
		faults = append(faults, c.wrong("elasticsearch.shards", e.Shards, "1 or more"))
	}
	return faults
}

// serverIn returns the address of a server over HTTP, or nil if a text is none.
func serverIn(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil
	}
	return u
}

// Templates returns the options of the templates that setup installs.
func (c *Config) Templates() templates.Options {
	e := &c.Elasticsearch
	return templates.Options{Prefix: c.Prefix, Shards: e.Shards, Replicas: e.Replicas, KeepDays: e.KeepDays, Policy: e.Policy}
}

// Kibana has the settings of the Kibana where setup installs dashboards, if there is one. Kibana and the cluster have
// the same users. So the credentials of the cluster are the default.
type Kibana struct {
	URL         string `mapstructure:"url"`   // its address, with its base path; empty: no Kibana
	Space       string `mapstructure:"space"` // the space in Kibana; empty: the default space
	Credentials `mapstructure:",squash"`
	CACert      string `mapstructure:"ca_cert"`     // PEM file of the authorities to trust
	AllowPlain  bool   `mapstructure:"allow_plain"` // send credentials over http to other machines
}

// Enabled reports whether a Kibana is set.
func (k *Kibana) Enabled() bool { return k.URL != "" }

// KibanaClient returns the options of a client for Kibana. It uses the credentials of the cluster if none are set for
// Kibana. It reads the files with secrets and certificates. The space is not part of the options, because some requests
// belong to no space.
func (c *Config) KibanaClient() (es.Config, error) {
	k, e := &c.Kibana, &c.Elasticsearch
	section, from := "kibana", k.Credentials
	if from == (Credentials{}) && userIn(k.URL) == nil {
		section, from = "elasticsearch", e.Credentials
		for _, address := range slices.Backward(e.Addresses) { // the first that has a user
			if u := userIn(address); u != nil {
				password, _ := u.Password()
				from.Username, from.Password = u.Username(), es.Secret(password)
			}
		}
	}
	return e.client(es.Config{Addresses: []string{k.URL}, AllowPlain: k.AllowPlain, NoGzip: true}, section, from, "kibana.ca_cert", k.CACert)
}

// Credentials are an API key, or a user with a password. Secrets come from the environment or from files. They never
// come from flags, because other users of the machine can see these.
type Credentials struct {
	APIKey       es.Secret `mapstructure:"api_key"`       // in place of user and password
	APIKeyFile   string    `mapstructure:"api_key_file"`  // file with the key
	Username     string    `mapstructure:"username"`      // of a user who may do what the command does
	Password     es.Secret `mapstructure:"password"`      // of that user
	PasswordFile string    `mapstructure:"password_file"` // file with the password
}

// secret returns the text of a secret, or the text of its file (the setting name_file) without the line end that
// editors add. It fails if both are set, because the intention is unclear.
func secret(name string, text es.Secret, file string) (es.Secret, error) {
	if text != "" && string(text) == text.String() {
		return "", fmt.Errorf("%s is %q, which stands for a secret that was not shown: set it", name, string(text))
	}
	if file == "" {
		return text, nil
	}
	if text != "" {
		return "", fmt.Errorf("%s and %s_file are both set: set only one", name, name)
	}
	content, err := readRegular(file, mostSecret)
	if err != nil {
		return "", fmt.Errorf("%s_file: %w", name, err)
	}
	if text = es.Secret(strings.TrimSpace(string(content))); text == "" {
		return "", fmt.Errorf("%s_file: %s is empty", name, file)
	}
	return text, nil
}

// userIn returns the user in an address. Without one it returns nil, whose Password method returns false.
func userIn(address string) *url.Userinfo {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	return u.User
}

// withoutCredentials returns an address that can be shown.
func withoutCredentials(address string) string {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.User != nil:
		u.User = nil
		return u.String()
	case !es.MayShow(address): // not a URL, or one without a scheme or a host
		return es.Secret(address).String()
	}
	return address
}

func hasPassword(address string) bool {
	_, ok := userIn(address).Password()
	return ok
}

// A file above these sizes, in bytes, is refused. Real files are far smaller.
const (
	mostSecret       = 64 << 10
	mostCertificates = 4 << 20 // the authorities of a whole system are about 250 KB
)

// readRegular reads a regular file of at most the given number of bytes. It refuses other files, because a FIFO would
// wait for a writer and /dev/zero has no end. Errors begin with the name of the file.
func readRegular(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	var text []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Size() > most:
		err = fmt.Errorf("more than %d bytes", most)
	default:
		text, err = os.ReadFile(name)
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}
