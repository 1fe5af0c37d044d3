package kibana_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/kibana"
)

// recorded is an answer in testdata/server.
type recorded struct {
	Status      int             `json:"status"`
	ContentType string          `json:"content_type"`
	Body        json.RawMessage `json:"body"`
}

// fake returns recorded answers by method and path, and records the requests.
type fake struct {
	t       *testing.T
	answers map[string]string
	asked   []string
	file    []byte // the last imported file
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Method + " " + r.URL.RequestURI()
	f.asked = append(f.asked, key)
	if r.Header.Get("kbn-xsrf") == "" {
		f.t.Errorf("%s: no header kbn-xsrf", key)
	}
	if file, _, err := r.FormFile("file"); err == nil {
		f.file, _ = io.ReadAll(file)
	}
	name, ok := f.answers[key]
	if !ok {
		f.t.Errorf("unexpected %s", key)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "server", name+".json"))
	if err != nil {
		f.t.Error(err)
	}
	var answer recorded
	if err := json.Unmarshal(text, &answer); err != nil {
		f.t.Error(err)
	}
	var plain string
	if json.Unmarshal(answer.Body, &plain) == nil {
		answer.Body = json.RawMessage(plain)
	}
	w.Header().Set("Content-Type", answer.ContentType)
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body)
}

func newFake(t *testing.T, answers map[string]string) (*fake, *kibana.Client) {
	t.Helper()
	f := &fake{t: t, answers: answers}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, connect(t, server.URL)
}

func connect(t *testing.T, address string) *kibana.Client {
	t.Helper()
	transport, err := es.New(es.Config{Addresses: []string{address}, NoGzip: true, Service: "Kibana", GiveUpAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.Close)
	return kibana.NewClient(transport)
}

// sent returns the bundle for which the answers were recorded.
func sent(t *testing.T) (*kibana.Bundle, []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "server", "objects.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	b := &kibana.Bundle{Space: "lab"}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var o kibana.Object
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		b.Objects = append(b.Objects, o)
	}
	return b, text
}

const importPath = "POST /s/lab/api/saved_objects/_import?overwrite=true"

func TestImport(t *testing.T) {
	for _, name := range []string{"import-success", "import-again"} {
		f, client := newFake(t, map[string]string{importPath: name})
		b, text := sent(t)
		if err := client.Import(t.Context(), b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(f.file, text) {
			t.Errorf("%s: sent\n%s\nwant\n%s", name, f.file, text)
		}
	}
}

func TestImportFails(t *testing.T) {
	for name, want := range map[string][]string{
		"import-conflict": {
			"0 of 3 saved objects are imported", `index-pattern "fio-runs" (fio2es-lab-runs): conflict`, `lens "Runs" (fio2es-lab-runs-table): conflict`,
			`dashboard "fio history" (fio2es-lab-history): conflict`,
		},
		"import-missing-references": {`lens "Runs" (fio2es-lab-runs-table): missing references, index-pattern fio2es-lab-runs`},
		"import-refused":            {"1 of 3 saved objects are imported", `lens "Runs" (fio2es-lab-runs-table): unknown: Unexpected bulk response [400] strict_dynamic`},
		"import-renamed":            {`dashboard "fio history" (fio2es-lab-history): another space has this id`},
		"import-newer":              {"422 unprocessable entity", "more recent version of Kibana [9.9.0]", "older than the objects"},
		"unauthorized":              {"401 unauthorized", "neither an API key nor user name"},
		"forbidden":                 {"403 forbidden", "bulk_create", "docs/kibana.md"},
		"starting":                  {"503 service unavailable: Kibana server is not ready yet.: try again later"},
		"space":                     {"does not mention"},
	} {
		f, client := newFake(t, map[string]string{importPath: name})
		b, _ := sent(t)
		err := client.Import(t.Context(), b)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, text := range want {
			if strings.Count(err.Error(), text) != 1 {
				t.Errorf("%s: %v\nwant once: %s", name, err, text)
			}
		}
		if len(f.asked) != 1 {
			t.Errorf("%s: asked %v", name, f.asked)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, want := range map[string]error{
		"status": nil, "not-kibana": kibana.ErrNotKibana, "space-missing": kibana.ErrNotKibana, "space": kibana.ErrNotKibana,
	} {
		_, client := newFake(t, map[string]string{"GET /api/status": name})
		version, err := client.Check(t.Context())
		if !errors.Is(err, want) || want == nil && version != "8.3.3" {
			t.Errorf("%s: version %q, %v; want %v", name, version, err, want)
		}
	}
	_, client := newFake(t, map[string]string{"GET /api/status": "unauthorized"})
	if _, err := client.Check(t.Context()); err == nil || errors.Is(err, kibana.ErrNotKibana) || !strings.Contains(err.Error(), "neither an API key nor user name") {
		t.Errorf("unauthorized: %v", err)
	}
}

func TestCheckVersion(t *testing.T) {
	for number, want := range map[string]error{
		"8.3.0": nil, "8.19.21": nil, "9.0.0-SNAPSHOT": nil, "10.1.0": nil,
		"8.2.3": kibana.ErrTooOld, "7.17.28": kibana.ErrTooOld, "x": kibana.ErrNotKibana, "8": kibana.ErrNotKibana, "8.x": kibana.ErrNotKibana,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"version":{"number":"`+number+`"}}`)
		}))
		_, err := connect(t, server.URL).Check(t.Context())
		server.Close()
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", number, err, want)
		}
	}
}

// TestEndlessAnswer: an endless answer is read up to a limit.
func TestEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.WriteString(w, `{"version":{"number":"`)
		block := strings.Repeat("x", 64<<10)
		for sent := 0; err == nil && sent < 256<<20; sent += len(block) {
			_, err = io.WriteString(w, block)
		}
	}))
	defer server.Close()
	if _, err := connect(t, server.URL).Check(t.Context()); !errors.Is(err, es.ErrTooLong) {
		t.Errorf("%v", err)
	}
}

// TestUnreachable: errors name Kibana and not Elasticsearch.
func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	_, err := connect(t, server.URL).Check(t.Context())
	if err == nil || !strings.Contains(err.Error(), "reach Kibana at "+server.URL) || strings.Contains(err.Error(), "elasticsearch") {
		t.Errorf("%v", err)
	}
}

func TestCheckSpace(t *testing.T) {
	f, client := newFake(t, map[string]string{
		"GET /api/spaces/space/lab": "space", "GET /api/spaces/space/lba": "space-missing", "GET /api/spaces/space/mine": "forbidden",
	})
	for space, want := range map[string]error{"": nil, "default": nil, "lab": nil, "lba": kibana.ErrNoSpace} {
		if err := client.CheckSpace(t.Context(), space); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%q: %v, want %v", space, err, want)
		}
	}
	if err := client.CheckSpace(t.Context(), "mine"); err == nil || errors.Is(err, kibana.ErrNoSpace) {
		t.Errorf("no right to look: %v", err)
	}
	if len(f.asked) != 3 {
		t.Errorf("asked %v", f.asked)
	}
}

// TestPrepare: what the answers to an export mean for objects without a mark.
func TestPrepare(t *testing.T) {
	const path = "POST /s/lab/api/saved_objects/_export"
	b, _ := sent(t)
	for answer, want := range map[string]string{"export-missing": "create", "import-success": "replace"} { // of a success, only the status counts
		_, client := newFake(t, map[string]string{path: answer})
		plan, err := client.Prepare(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := plan.Print(&out); err != nil || strings.Count(out.String(), "# "+want) != 3 {
			t.Errorf("%s: %v, %s", answer, err, &out)
		}
	}
	_, client := newFake(t, map[string]string{path: "forbidden"})
	if _, err := client.Prepare(t.Context(), b); err == nil {
		t.Error("no right to export, and no error")
	}
}

// TestWaitsForKibana: the client waits for a Kibana that starts, until it is ready. It sends an import only once. If
// Kibana repeats credentials, they are not shown.
func TestWaitsForKibana(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]int{}
		dial, stop := estest.Pipe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			if asked[r.URL.Path]++; r.URL.Path == "/api/status" && asked[r.URL.Path] == 3 {
				_, _ = io.WriteString(w, `{"version":{"number":"8.19.0"}}`)
				return
			}
			w.Header().Set("Retry-After", "25")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"statusCode":503,"error":"Service Unavailable","message":"not ready for `+password+`"}`)
		}))
		defer stop()
		transport, err := es.New(es.Config{Dial: dial, Username: "me", Password: "opensesame", Service: "Kibana"})
		if err != nil {
			t.Fatal(err)
		}
		defer transport.Close()
		client := kibana.NewClient(transport)
		start := time.Now()
		if _, err := client.Check(t.Context()); err != nil || time.Since(start) < 50*time.Second || time.Since(start) > 55*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		b, err := kibana.New(kibana.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = client.Import(t.Context(), b)
		if asked["/api/saved_objects/_import"] != 1 || err == nil || !strings.Contains(err.Error(), "503 service unavailable: not ready for [redacted]") {
			t.Errorf("%v: %v", asked, err)
		}
	})
}
