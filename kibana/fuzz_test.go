package kibana_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/kibana"
)

// FuzzAnswers: no answer of Kibana causes a panic, only a success counts as one, and missing objects are always
// objects of the bundle.
func FuzzAnswers(f *testing.F) {
	f.Add(200, `{"version":{"number":"8.3.3"},"success":true,"successCount":20}`)
	f.Add(200, `{"version":{"number":"9"},"success":false,"successCount":-1,"errors":[{"type":"lens","id":"a","meta":{"title":"\u001b"},"error":{"type":"missing_references","references":[{},{}]}}]}`)
	f.Add(200, `{"successResults":[{"id":"a","destinationId":"b"}],"errors":null}`)
	f.Add(400, `{"statusCode":400,"message":"Bad Request","attributes":{"objects":[{"type":"dashboard","id":"fio2es-run-detail"},{"type":1}]}}`)
	f.Add(404, `{"message":null}`)
	f.Add(503, `<html><title>x</title>`)
	f.Add(200, `[[[[`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			status = 200 + int(uint(status)%400)
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		defer server.Close()
		transport, err := es.New(es.Config{Addresses: []string{server.URL}, NoGzip: true, Service: "Kibana", GiveUpAfter: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer transport.Close()
		client := kibana.NewClient(transport)
		bundle := &kibana.Bundle{Space: "lab"}
		for _, id := range []string{"a", "fio2es-run-detail"} {
			bundle.Objects = append(bundle.Objects, kibana.Object{Type: "dashboard", ID: id})
		}
		version, err := client.Check(t.Context())
		if (err == nil) != (version != "") || err == nil && status >= 300 {
			t.Errorf("version %q, %v", version, err)
		}
		if err := client.CheckSpace(t.Context(), "lab"); err == nil && status >= 300 {
			t.Error("a space is there")
		}
		plan, err := client.Prepare(t.Context(), bundle)
		if (err == nil) != (plan != nil) {
			t.Errorf("a plan, %v", err)
		}
		if err := client.Import(t.Context(), bundle); err == nil && (status >= 300 || !strings.Contains(strings.ToLower(body), "success")) {
			t.Error("imported")
		}
	})
}
