package elastic_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/mapping/templates"
)

// fake is a stand-in cluster, and a plain client to it.
type fake struct {
	*direct
	*estest.Server
}

func newFake(t *testing.T) *fake {
	server := estest.New(append(templates.Names(testPrefix), templates.Names("")...)...)
	address, stop := server.Start()
	t.Cleanup(stop)
	base, err := url.Parse(address)
	must(t, err)
	return &fake{&direct{base: base, client: &http.Client{Transport: new(http.Transport)}}, server}
}

// newPiped returns a fake for a synctest bubble. It stops with the test.
func newPiped(t *testing.T) *fake {
	server := estest.New(append(templates.Names(testPrefix), templates.Names("")...)...)
	dial, stop := server.Pipe()
	transport := &http.Transport{DialContext: dial}
	base := &url.URL{Scheme: "http", Host: "localhost:9200"}
	real := es.Config{Addresses: []string{base.String()}, Dial: dial, GiveUpAfter: time.Minute, Pause: time.Millisecond, NoGzip: true}
	f := &fake{&direct{base: base, client: &http.Client{Transport: transport}, real: real}, server}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		f.elastic().Close()
		stop()
	})
	return f
}
