package es_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
)

// TestService: errors name the service.
func TestService(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	for service, want := range map[string]string{"": "reach elasticsearch at ", "Kibana": "reach Kibana at "} {
		client, err := es.New(es.Config{Addresses: []string{server.URL}, Service: service, GiveUpAfter: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Do(t.Context(), es.Request{URI: "/api/status"}, nil); err == nil || !strings.HasPrefix(err.Error(), want+server.URL) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := es.New(es.Config{Username: "me", Service: service}); err == nil || !strings.HasPrefix(err.Error(), strings.Fields(want)[1]+": ") {
			t.Errorf("%v", err)
		}
	}
}
