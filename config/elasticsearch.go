package config

import (
	"errors"
	"net/url"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Client is how to reach the cluster; files with secrets and certificates are read.
func (e *Elasticsearch) Client() (elastic.Config, error) {
	c := elastic.Config{
		Addresses: e.Addresses, CloudID: e.CloudID, Username: e.Username,
		Fingerprint: e.Fingerprint, AllowPlain: e.AllowPlain, Proxy: e.Proxy, GzipLevel: e.GzipLevel,
	}
	var faults [3]error
	c.APIKey, faults[0] = secret("elasticsearch.api_key", e.APIKey, e.APIKeyFile)
	c.Password, faults[1] = secret("elasticsearch.password", e.Password, e.PasswordFile)
	c.CACert, faults[2] = certificates("elasticsearch.ca", e.CA)
	return c, errors.Join(faults[:]...)
}

// inAddress are credentials that stand in an address.
func (e *Elasticsearch) inAddress() (user string, password elastic.Secret, ok bool) {
	for _, a := range e.Addresses {
		if u, err := url.Parse(a); err == nil && u.User != nil {
			text, _ := u.User.Password()
			return u.User.Username(), elastic.Secret(text), true
		}
	}
	return "", "", false
}

// Templates are the options of what setup installs.
func (c *Config) Templates() templates.Options {
	e := &c.Elasticsearch
	return templates.Options{Prefix: c.Prefix, Shards: e.Shards, Replicas: e.Replicas, KeepDays: e.KeepDays, Policy: e.Policy}
}
