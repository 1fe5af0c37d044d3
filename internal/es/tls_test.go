package es_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
)

type signed struct {
	*x509.Certificate
	key *ecdsa.PrivateKey
}

// sign makes a certificate for hosts, or for an authority if there are no hosts. by is the signing authority; if it
// is nil, the certificate signs itself.
func sign(t *testing.T, by *signed, name string, hosts ...string) *signed {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true, IsCA: len(hosts) == 0,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	if by == nil {
		by = &signed{c, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by.Certificate, &key.PublicKey, by.key)
	if err == nil {
		c, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &signed{c, key}
}

func (s *signed) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Raw})
}

// serve answers at 127.0.0.1 with a certificate; along are further certificates of the chain.
func serve(t *testing.T, cert *signed, along ...*signed) (port string) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = w.Write(load(t, "root").Response)
	}))
	chain := [][]byte{cert.Raw}
	for _, c := range along {
		chain = append(chain, c.Raw)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: chain, PrivateKey: cert.key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are expected
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestTrust: which servers each setting trusts, and what messages advise.
func TestTrust(t *testing.T) {
	authority, other := sign(t, nil, "authority"), sign(t, nil, "other")
	here, elsewhere := sign(t, authority, "here", "127.0.0.1", "localhost"), sign(t, authority, "elsewhere", "127.0.0.9", "es.example.org")
	alone, stolen, forged := serve(t, here), serve(t, elsewhere, authority), serve(t, sign(t, other, "forged", "127.0.0.1"), authority)
	own := sign(t, nil, "own", "127.0.0.1")
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	_, plainPort, _ := strings.Cut(strings.TrimPrefix(plain.URL, "http://"), ":")
	for _, c := range []struct {
		name    string
		address string
		config  es.Config
		fails   string // part of the error; empty: no error
	}{
		{"nothing is said", "https://127.0.0.1:" + alone, es.Config{}, "set the authority's certificate as CA file"},
		{"authority", "https://127.0.0.1:" + alone, es.Config{CACert: authority.pem()}, ""},
		{"other authority", "https://127.0.0.1:" + alone, es.Config{CACert: other.pem()}, "the authority in the CA file has not signed"},
		{"authority, other address", "https://127.0.0.1:" + stolen, es.Config{CACert: authority.pem()}, "use the name in the certificate"},
		{"authority, sent by a server that it has not signed", "https://127.0.0.1:" + forged, es.Config{CACert: authority.pem()}, "the authority in the CA file has not signed"},
		{"self-signed", "https://127.0.0.1:" + serve(t, own), es.Config{CACert: own.pem()}, ""},
		{"http in place of https", "http://127.0.0.1:" + alone, es.Config{}, "not from elasticsearch"},
		{"https in place of http", "https://127.0.0.1:" + plainPort, es.Config{}, "is it http?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Addresses, c.config.APIKey = []string{c.address}, password
			_, err := newClient(t, c.config).Check(t.Context())
			switch {
			case c.fails == "" && err != nil:
				t.Error(err)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), password)):
				t.Errorf("got %v, want %s", err, c.fails)
			case err != nil && es.Temporary(err):
				t.Errorf("would be tried again: %v", err)
			}
		})
	}
}

// TestPlainToTLS: Elasticsearch closes a connection that does not begin with TLS, without an answer.
func TestPlainToTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_ = conn.Close()
		}
	}()
	_, err = newClient(t, es.Config{Addresses: []string{"http://" + l.Addr().String()}, GiveUpAfter: -1}).Check(t.Context())
	if err == nil || !strings.Contains(err.Error(), "is it https?") {
		t.Errorf("got %v", err)
	}
}

// TestResetLater: a server that has answered before speaks HTTP, so a reset of a later connection has another reason.
func TestResetLater(t *testing.T) {
	fake := estest.New()
	address, stop := fake.Start()
	defer stop()
	client := newClient(t, es.Config{Addresses: []string{address}, GiveUpAfter: -1})
	if _, err := client.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	fake.Script(estest.Fault{On: "_refresh", Kind: estest.Reset, Times: -1})
	if err := client.Refresh(t.Context(), "fio-*"); err == nil || strings.Contains(err.Error(), "https") {
		t.Errorf("got %v", err)
	}
}
