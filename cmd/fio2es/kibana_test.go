package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// kibanaServer stands in for a Kibana. Package kibana has recorded answers.
type kibanaServer struct {
	version string
	held    bool // it has all objects
	asked   []string
	file    string // the imported file
}

func (k *kibanaServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.asked = append(k.asked, r.Method+" "+r.URL.RequestURI())
	switch path := strings.TrimPrefix(r.URL.Path, "/s/lab"); path {
	case "/api/status":
		_, _ = io.WriteString(w, `{"version":{"number":"`+k.version+`"}}`)
	case "/api/spaces/space/lab":
		_, _ = io.WriteString(w, `{"id":"lab"}`)
	case "/api/saved_objects/_export":
		if !k.held {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"attributes":{"objects":[{"type":"dashboard","id":"fio2es-lab-run"}]}}`)
		}
	case "/api/saved_objects/_import":
		file, _, err := r.FormFile("file")
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		text, _ := io.ReadAll(file)
		k.file = string(text)
		_, _ = io.WriteString(w, `{"success":true,"successCount":`+strconv.Itoa(strings.Count(k.file, "\n"))+`}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func TestSetupKibana(t *testing.T) {
	t.Parallel()
	k := &kibanaServer{version: "8.3.3"}
	server := httptest.NewServer(k)
	defer server.Close()
	args := []string{"setup", "--kibana", server.URL, "--kibana-space", "lab"}

	out := outputOf(t, append(args, "--dry-run")...)
	if !strings.Contains(out, "# create dashboard fio2es-lab-run in Kibana: ") || !strings.Contains(out, "# replace dashboard fio2es-lab-history in Kibana: ") {
		t.Errorf("dry run: %s", out)
	}
	if k.file != "" {
		t.Error("a dry run imported")
	}
	k.held = true
	if out := outputOf(t, append(args, "--dry-run")...); strings.Contains(out, "create") {
		t.Errorf("dry run: %s", out)
	}

	out = outputOf(t, args...)
	if link := server.URL + "/s/lab/app/dashboards#/view/fio2es-lab-run\n"; !strings.Contains(out, link) {
		t.Errorf("%s\nhas no link %s", out, link)
	}
	if k.file != outputOf(t, "kibana", "export", "--space", "lab") {
		t.Error("setup imports something else than export writes")
	}
}

// TestSetupKibanaFirst: if one of the two cannot be set up, nothing is changed in the other.
func TestSetupKibanaFirst(t *testing.T) {
	t.Parallel()
	cluster := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the cluster was asked: %s %s", r.Method, r.URL)
	}))
	defer cluster.Close()
	old := httptest.NewServer(&kibanaServer{version: "8.2.0"})
	defer old.Close()
	other := httptest.NewServer(&kibanaServer{version: "8.3.0"})
	defer other.Close()
	for want, args := range map[string][]string{
		"8.3 is the oldest":      {"--kibana", old.URL},
		"there is no such space": {"--kibana", other.URL, "--kibana-space", "nosuch"},
	} {
		var errs bytes.Buffer
		args = append([]string{"setup", "--elasticsearch", cluster.URL}, args...)
		if code := run(context.Background(), args, strings.NewReader(""), io.Discard, &errs); code != exitFailed || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: exit code %d, want %s\n%s", args, code, want, &errs)
		}
	}
}

func isolate(t *testing.T) {
	t.Helper()
	for _, name := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME"} {
		t.Setenv(name, t.TempDir())
	}
}
