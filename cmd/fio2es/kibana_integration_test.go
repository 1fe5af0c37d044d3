package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
)

// realKibana is the Kibana that FIO2ES_TEST_KIBANA names. The address contains credentials if it needs some.
type realKibana struct {
	t       *testing.T
	address *url.URL
	space   string // made for this test
}

func newRealKibana(t *testing.T) *realKibana {
	t.Helper()
	text := os.Getenv("FIO2ES_TEST_KIBANA")
	if text == "" {
		t.Skip("FIO2ES_TEST_KIBANA names no Kibana")
	}
	address, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil {
		t.Fatal("FIO2ES_TEST_KIBANA is not of the form http://user:password@host:5601")
	}
	k := &realKibana{t, address, fmt.Sprintf("fio2es-test-%d", time.Now().UnixNano())}
	k.call("POST", "/api/spaces/space", `{"id":"`+k.space+`","name":"`+k.space+`"}`, 200)
	t.Cleanup(func() { k.call("DELETE", "/api/spaces/space/"+k.space, "", 204) })
	return k
}

// call sends a request outside of all spaces.
func (k *realKibana) call(method, path, body string, status int) []byte {
	k.t.Helper()
	return k.send(method, path, body, "application/json", status)
}

func (k *realKibana) send(method, path, body, contentType string, status int) []byte {
	k.t.Helper()
	req, err := http.NewRequest(method, k.address.Scheme+"://"+k.address.Host+k.address.Path+path, strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	req.Header.Set("kbn-xsrf", "fio2es")
	req.Header.Set("x-elastic-internal-origin", "fio2es") // without it, later versions refuse /internal
	req.Header.Set("elastic-api-version", map[bool]string{true: "1", false: "2023-10-31"}[strings.Contains(path, "/internal/")])
	if body != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if k.address.User != nil {
		password, _ := k.address.User.Password()
		req.SetBasicAuth(k.address.User.Username(), password)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		k.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		k.t.Fatalf("%s %s: %s, want %d, %v\n%.2000s", method, path, res.Status, status, err, text)
	}
	return text
}

// in sends a request in the test's space.
func (k *realKibana) in(method, path, body string) []byte {
	k.t.Helper()
	return k.call(method, "/s/"+k.space+path, body, 200)
}

// saved is an object as Kibana exports it.
type saved struct {
	Type       string             `json:"type"`
	ID         string             `json:"id"`
	Attributes map[string]any     `json:"attributes"`
	References []kibana.Reference `json:"references"`
}

// export returns all dashboards of the space, and everything that they refer to.
func (k *realKibana) export() []saved {
	k.t.Helper()
	text := k.in("POST", "/api/saved_objects/_export",
		`{"type":["dashboard","index-pattern"],"includeReferencesDeep":true,"excludeExportDetails":true}`)
	var list []saved
	for line := range bytes.Lines(text) {
		var s saved
		if err := json.Unmarshal(line, &s); err != nil {
			k.t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// put imports an object as a user does by hand. Later versions have no other way that remains.
func (k *realKibana) put(o kibana.Object) {
	k.t.Helper()
	line, err := json.Marshal(o)
	if err != nil {
		k.t.Fatal(err)
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, err := w.CreateFormFile("file", "one.ndjson")
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := file.Write(line); err != nil {
		k.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		k.t.Fatal(err)
	}
	answer := k.send("POST", "/s/"+k.space+"/api/saved_objects/_import?overwrite=true", form.String(), w.FormDataContentType(), 200)
	if !bytes.Contains(answer, []byte(`"success":true`)) {
		k.t.Fatalf("import %s: %s", o.ID, answer)
	}
}

// names returns the objects by type and id, with the objects that each refers to. The names of references depend on
// the version.
func names[O any](list []O, of func(O) (typ, id string, references []kibana.Reference)) map[string][]string {
	all := map[string][]string{}
	for _, o := range list {
		typ, id, references := of(o)
		to := []string{}
		for _, r := range references {
			to = append(to, r.Type+" "+r.ID)
		}
		slices.Sort(to)
		all[typ+" "+id] = slices.Compact(to)
	}
	return all
}

// TestKibanaIntegration imports twice into a real Kibana, and checks the objects there.
func TestKibanaIntegration(t *testing.T) {
	k := newRealKibana(t)
	isolate(t)
	b, err := kibana.New(kibana.Options{Space: k.space})
	check(t, err)
	want := names(b.Objects, func(o kibana.Object) (string, string, []kibana.Reference) { return o.Type, o.ID, o.References })
	got := func() map[string][]string {
		return names(k.export(), func(s saved) (string, string, []kibana.Reference) { return s.Type, s.ID, s.References })
	}
	setup := []string{"setup", "--kibana=" + k.address.String(), "--kibana-space=" + k.space}
	t.Setenv("FIO2ES_KIBANA_ALLOW_PLAIN", "true")

	if out := outputOf(t, append(setup, "--dry-run")...); strings.Contains(out, "replace") || strings.Count(out, "# create") != len(b.Objects) {
		t.Errorf("dry run in an empty space: %s", out)
	}
	out := outputOf(t, setup...)
	if !strings.Contains(out, fmt.Sprintf("import %d saved objects", len(b.Objects))) {
		t.Errorf("setup: %s", out)
	}
	if diff := cmp.Diff(want, got()); diff != "" {
		t.Errorf("objects and references (-want +got):\n%s", diff)
	}

	if out := outputOf(t, setup...); !strings.Contains(out, fmt.Sprintf("keep %d saved objects", len(b.Objects))) {
		t.Errorf("setup again: %s", out)
	}

	// A user's copy with another id, a change of our dashboard, and no mark, as of another version.
	unmarked := b.Objects[slices.IndexFunc(b.Objects, func(o kibana.Object) bool { return strings.HasSuffix(o.ID, "-navigation") })]
	unmarked.Attributes = maps.Clone(unmarked.Attributes)
	unmarked.Attributes["uiStateJSON"] = "{}"
	k.put(unmarked)
	dashboard := b.Objects[len(b.Objects)-1]
	for id, title := range map[string]string{"mine": "my own", dashboard.ID: "changed"} {
		other := dashboard
		other.ID, other.Attributes = id, maps.Clone(dashboard.Attributes)
		other.Attributes["title"] = title
		k.put(other)
	}

	if out := outputOf(t, append(setup, "--dry-run")...); strings.Contains(out, "create") {
		t.Errorf("dry run after the import: %s", out)
	}
	outputOf(t, setup...)
	want["dashboard mine"] = want["dashboard "+dashboard.ID]
	if diff := cmp.Diff(want, got()); diff != "" {
		t.Errorf("imported again (-want +got):\n%s", diff)
	}
	for _, s := range k.export() {
		if title := map[string]string{"mine": "my own", dashboard.ID: dashboard.Title()}[s.ID]; title != "" && s.Attributes["title"] != title {
			t.Errorf("%s is called %v after the import, want %s", s.ID, s.Attributes["title"], title)
		}
	}
	k.checkRequests(b)
}

// checkRequests sends every search of a panel through Kibana, which must answer it.
func (k *realKibana) checkRequests(b *kibana.Bundle) {
	for _, r := range requests(k.t, b) {
		search, err := kibanatest.Resolve(r.URL, exampleTime)
		if err != nil {
			k.t.Fatal(err)
		}
		text := k.in("POST", "/internal/search/ese", fmt.Sprintf(`{"params":{"index":%q,"ignore_unavailable":true,"wait_for_completion_timeout":"60s","body":%s}}`, search.Index, search.JSON()))
		var answer struct {
			IsPartial   bool
			IsRunning   bool
			RawResponse struct {
				Shards struct{ Failed int } `json:"_shards"`
				Hits   any
			}
		}
		if err := json.Unmarshal(text, &answer); err != nil || answer.IsPartial || answer.IsRunning || answer.RawResponse.Hits == nil || answer.RawResponse.Shards.Failed > 0 {
			k.t.Errorf("panel %s, data set %s: %v\n%.1000s", r.Panel, r.Data, err, text)
		}
	}
}
