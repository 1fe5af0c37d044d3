package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/mapping/templates"
)

// Client is how to reach the cluster; files with secrets and certificates are read.
func (e *Elasticsearch) Client() (elastic.Config, error) {
	c := elastic.Config{
		Addresses: e.Addresses, CloudID: e.CloudID, APIKey: e.APIKey, Username: e.Username, Password: e.Password,
		Fingerprint: e.Fingerprint, AllowPlain: e.AllowPlain, Proxy: e.Proxy, GzipLevel: e.GzipLevel,
	}
	var faults []error
	for _, secret := range []struct {
		name, file string
		into       *elastic.Secret
	}{
		{"elasticsearch.api_key_file", e.APIKeyFile, &c.APIKey},
		{"elasticsearch.password_file", e.PasswordFile, &c.Password},
	} {
		if secret.file == "" {
			continue
		}
		text, err := os.ReadFile(secret.file)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", secret.name, err))
			continue
		}
		*secret.into = elastic.Secret(strings.TrimSpace(string(text)))
	}
	if e.CA != "" {
		var err error
		if c.CACert, err = os.ReadFile(e.CA); err != nil {
			faults = append(faults, fmt.Errorf("elasticsearch.ca: %w", err))
		}
	}
	return c, errors.Join(faults...)
}

// Templates are the options of what setup installs.
func (c *Config) Templates() templates.Options {
	e := &c.Elasticsearch
	return templates.Options{Prefix: c.Prefix, Shards: e.Shards, Replicas: e.Replicas, KeepDays: e.KeepDays, Policy: e.Policy}
}
