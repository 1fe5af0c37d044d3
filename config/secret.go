package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/fio2es/fio2es/internal/es"
)

// Credentials are an API key, or a user with a password. Secrets come from the environment
// or from files, never from flags, which others can see.
type Credentials struct {
	APIKey       es.Secret `mapstructure:"api_key"`
	APIKeyFile   string    `mapstructure:"api_key_file"`
	Username     string    `mapstructure:"username"`
	Password     es.Secret `mapstructure:"password"`
	PasswordFile string    `mapstructure:"password_file"`
}

// read gives a client the credentials that are set in a section. Files are read.
func (c *Credentials) read(section string, to *es.Config) error {
	var faults [2]error
	to.Username = c.Username
	to.APIKey, faults[0] = secret(section+".api_key", c.APIKey, c.APIKeyFile)
	to.Password, faults[1] = secret(section+".password", c.Password, c.PasswordFile)
	return errors.Join(faults[:]...)
}

// secret is the one set as name, or the text of the file set as name_file, without the
// line's end that editors leave. If both are set, neither is clearly meant.
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

// certificates is the content of the PEM file set as name, if one is.
func certificates(name, file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := readRegular(file, mostCertificates)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return pem, nil
}

// userIn is the user that stands in an address; nil, which has no password, if there is none.
func userIn(address string) *url.Userinfo {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	return u.User
}

// withoutCredentials is an address that can be shown.
func withoutCredentials(address string) string {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.User != nil:
		u.User = nil
		return u.String()
	case strings.Contains(address, "@"): // no URL, or one without its scheme
		return es.Secret(address).String()
	}
	return address
}

func hasPassword(address string) bool {
	_, ok := userIn(address).Password()
	return ok
}
