package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/fio2es/fio2es/internal/es"
)

// Credentials are an API key, or a user with a password. Secrets come from the environment or from files. They never
// come from flags, because other users of the machine can see these.
type Credentials struct {
	APIKey       es.Secret `mapstructure:"api_key"`
	APIKeyFile   string    `mapstructure:"api_key_file"`
	Username     string    `mapstructure:"username"`
	Password     es.Secret `mapstructure:"password"`
	PasswordFile string    `mapstructure:"password_file"`
}

// read sets the credentials of a section in the options of a client. It reads the files that are named.
func (c *Credentials) read(section string, to *es.Config) error {
	var faults [2]error
	to.Username = c.Username
	to.APIKey, faults[0] = secret(section+".api_key", c.APIKey, c.APIKeyFile)
	to.Password, faults[1] = secret(section+".password", c.Password, c.PasswordFile)
	return errors.Join(faults[:]...)
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

// certificates returns the content of the PEM file that a setting names, or nil.
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
	case strings.Contains(address, "@"): // not a URL, or one without a scheme
		return es.Secret(address).String()
	}
	return address
}

func hasPassword(address string) bool {
	_, ok := userIn(address).Password()
	return ok
}
