package config

import (
	"errors"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Client returns the options of a client for the cluster. It reads the files with secrets and certificates, and fails
// if it cannot.
func (e *Elasticsearch) Client() (es.Config, error) {
	c := es.Config{
		Addresses: e.Addresses, CloudID: e.CloudID, Fingerprint: e.Fingerprint,
		AllowPlain: e.AllowPlain, Proxy: e.Proxy, GzipLevel: e.GzipLevel,
	}
	e.wait(&c)
	err := e.read("elasticsearch", &c)
	certificates, caErr := certificates("elasticsearch.ca", e.CA)
	c.CACert = certificates
	return c, errors.Join(err, caErr)
}

// wait sets the timeouts of a client.
func (e *Elasticsearch) wait(c *es.Config) {
	if c.Timeout, c.GiveUpAfter = e.RequestTimeout, e.GiveUpAfter; e.GiveUpAfter == 0 {
		c.GiveUpAfter = -1
	}
}

// faults returns all wrong values.
func (e *Elasticsearch) faults() []error {
	var faults []error
	if e.RequestTimeout < time.Second || e.RequestTimeout > time.Hour {
		faults = append(faults, fmt.Errorf("elasticsearch.request_timeout: %v is not a time between 1s and 1h, such as 90s", e.RequestTimeout))
	}
	if e.GiveUpAfter != 0 && e.GiveUpAfter < time.Second { // a number without a unit is nanoseconds
		faults = append(faults, fmt.Errorf("elasticsearch.give_up_after: %v is neither a time of at least 1s, such as 5m, nor 0s, to fail at once", e.GiveUpAfter))
	}
	if e.Shards < 1 {
		faults = append(faults, fmt.Errorf("elasticsearch.shards: %d is not 1 or more", e.Shards))
	}
	return faults
}

// inAddress returns the first user and password in an address.
func (e *Elasticsearch) inAddress() (user string, password es.Secret, ok bool) {
	for _, a := range e.Addresses {
		if u := userIn(a); u != nil {
			text, _ := u.Password()
			return u.Username(), es.Secret(text), true
		}
	}
	return "", "", false
}

// Templates returns the options of the templates that setup installs.
func (c *Config) Templates() templates.Options {
	e := &c.Elasticsearch
	return templates.Options{Prefix: c.Prefix, Shards: e.Shards, Replicas: e.Replicas, KeepDays: e.KeepDays, Policy: e.Policy}
}
