package estest

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
)

// Environment variables of a real Elasticsearch for tests: its address, with credentials if it needs them
// (https://user:password@host:9200), and the PEM file of the authority that signed its certificate.
const (
	realVariable = "FIO2ES_TEST_ELASTICSEARCH"
	caVariable   = "FIO2ES_TEST_ELASTICSEARCH_CA"
)

// Real is a real Elasticsearch for tests.
type Real struct {
	Config  es.Config    // settings to reach it
	Address string       // without credentials
	CAFile  string       // empty if the variable is not set
	Secured bool         // the address has credentials
	HTTP    *http.Client // trusts the authority, but sends no credentials
}

// NewReal returns the Elasticsearch that the environment names. Without one, the test is skipped.
func NewReal(t testing.TB) Real {
	t.Helper()
	text := os.Getenv(realVariable)
	if text == "" {
		t.Skip(realVariable + " names no Elasticsearch")
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Host == "" {
		t.Fatal(realVariable + " is not of the form https://user:password@host:9200")
	}
	r := Real{CAFile: os.Getenv(caVariable), HTTP: http.DefaultClient, Secured: u.User != nil}
	if u.User != nil {
		password, _ := u.User.Password()
		r.Config.Username, r.Config.Password, u.User = u.User.Username(), es.Secret(password), nil
	}
	r.Address = u.String()
	r.Config.Addresses, r.Config.AllowPlain = []string{r.Address}, true
	if r.CAFile != "" {
		if r.Config.CACert, err = os.ReadFile(r.CAFile); err != nil {
			t.Fatalf("%s: %v", caVariable, err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(r.Config.CACert) {
			t.Fatalf("%s: no certificate in it", caVariable)
		}
		r.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	}
	return r
}

// Setenv sets the environment variables of fio2es, so that commands reach this cluster.
func (r Real) Setenv(t testing.TB) {
	t.Helper()
	for name, value := range map[string]string{
		"ADDRESSES": r.Address, "USERNAME": r.Config.Username, "PASSWORD": string(r.Config.Password), "CA": r.CAFile, "ALLOW_PLAIN": "true",
	} {
		t.Setenv("FIO2ES_ELASTICSEARCH_"+name, value)
	}
}
