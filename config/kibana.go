package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/fio2es/fio2es/internal/es"
)

// Kibana is where setup puts dashboards, if there is one. Its users are the cluster's, so the
// cluster's credentials are used if none are set for Kibana.
type Kibana struct {
	URL         string `mapstructure:"url"`   // with its base path, if it has one; empty: no Kibana
	Space       string `mapstructure:"space"` // empty: the default one
	Credentials `mapstructure:",squash"`
	CACert      string `mapstructure:"ca_cert"`     // PEM file of the authorities to trust
	AllowPlain  bool   `mapstructure:"allow_plain"` // send credentials over http to other machines
}

// Enabled reports whether there is a Kibana.
func (k *Kibana) Enabled() bool { return k.URL != "" }

// spaceID is what Kibana takes for one.
var spaceID = regexp.MustCompile(`^[a-z0-9_-]*$`)

// faults are all that is wrong with the values. The address is not repeated, because it may
// have a password.
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

// KibanaClient is how to reach Kibana, with the cluster's credentials if none are set
// for Kibana. Files with secrets and certificates are read. The space is not in it, because
// some requests belong to none.
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
