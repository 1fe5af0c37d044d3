package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/fio2es/fio2es/internal/es"
)

// Kibana has the settings of the Kibana where setup installs dashboards, if there is one. Kibana and the cluster have
// the same users. So the credentials of the cluster are the default.
type Kibana struct {
	URL         string `mapstructure:"url"`   // with its base path; empty: no Kibana
	Space       string `mapstructure:"space"` // empty: the default space
	Credentials `mapstructure:",squash"`
	CACert      string `mapstructure:"ca_cert"`     // PEM file of the authorities to trust
	AllowPlain  bool   `mapstructure:"allow_plain"` // send credentials over http to other machines
}

// Enabled reports whether a Kibana is set.
func (k *Kibana) Enabled() bool { return k.URL != "" }

// spaceID matches the ids of spaces that Kibana accepts.
var spaceID = regexp.MustCompile(`^[a-z0-9_-]*$`)

// faults returns all wrong values. The messages do not repeat the address, because it may have a password.
func (k *Kibana) faults() []error {
	var faults []error
	u, err := url.Parse(k.URL)
	if k.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "") {
		faults = append(faults, errors.New("kibana.url: want an address such as https://host:5601"))
	}
	if !spaceID.MatchString(k.Space) {
		faults = append(faults, fmt.Errorf("kibana.space: %q is not the identifier of a space: lower-case letters, digits, _ and -", k.Space))
	}
	return faults
}

// KibanaClient returns the options of a client for Kibana. It uses the credentials of the cluster if none are set for
// Kibana. It reads the files with secrets and certificates. The space is not part of the options, because some requests
// belong to no space.
func (c *Config) KibanaClient() (es.Config, error) {
	k, e := &c.Kibana, &c.Elasticsearch
	out := es.Config{Addresses: []string{k.URL}, AllowPlain: k.AllowPlain, Proxy: e.Proxy, GzipLevel: es.NoGzip}
	e.wait(&out)
	section, from := "kibana", k.Credentials
	if from == (Credentials{}) && userIn(k.URL) == nil {
		section, from = "elasticsearch", e.Credentials
		if user, password, ok := e.inAddress(); ok {
			from.Username, from.Password = user, password
		}
	}
	err := from.read(section, &out)
	certificates, caErr := certificates("kibana.ca_cert", k.CACert)
	out.CACert = certificates
	return out, errors.Join(err, caErr)
}
