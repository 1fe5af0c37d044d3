package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// kibanaServer stands in for a Kibana. Package kibana has recorded answers.
type kibanaServer struct {
	version string
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
		var asked struct{ Objects []struct{ Type, ID string } }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var lines, missing []string
		for _, o := range asked.Objects {
			isAsked := func(line string) bool { return strings.Contains(line, `"id":"`+o.ID+`","attributes"`) }
			if i := slices.IndexFunc(strings.Split(k.file, "\n"), isAsked); i >= 0 {
				lines = append(lines, strings.Split(k.file, "\n")[i])
			} else {
				missing = append(missing, `{"type":"`+o.Type+`","id":"`+o.ID+`"}`)
			}
		}
		if len(missing) > 0 {
			w.WriteHeader(http.StatusBadRequest)
			lines = []string{`{"attributes":{"objects":[` + strings.Join(missing, ",") + `]}}`}
		}
		_, _ = io.WriteString(w, strings.Join(lines, "\n"))
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

	dryRun := func() string { return outputOf(t, append(args, "--dry-run")...) }
	imports := func() int {
		return strings.Count(strings.Join(k.asked, "\n"), "/_import")
	}

	if out := dryRun(); !strings.Contains(out, "# create dashboard fio2es-lab-run in Kibana: ") || strings.Contains(out, "# keep") {
		t.Errorf("dry run: %s", out)
	}
	if k.file != "" {
		t.Error("a dry run imported")
	}
	out := outputOf(t, args...)
	if link := server.URL + "/s/lab/app/dashboards#/view/fio2es-lab-run?_g=(time:(from:now-30d,to:now))\n"; !strings.Contains(out, link) {
		t.Errorf("%s\nhas no link %s", out, link)
	}
	bundle := outputOf(t, "kibana", "export", "--space", "lab")
	if k.file != bundle {
		t.Error("setup imports something else than export writes")
	}

	if out := dryRun() + outputOf(t, args...); strings.Contains(out, "create") || strings.Contains(out, "replace") || !strings.Contains(out, "\nkeep ") || imports() != 1 {
		t.Errorf("nothing differs: %d imports, %s", imports(), out)
	}
	k.file = strings.Replace(bundle, `\"hash\":\"`, `\"hash\":\"x`, 1)
	if out := dryRun() + outputOf(t, args...); strings.Contains(out, "create") || strings.Contains(out, "keep") || k.file != bundle || imports() != 2 {
		t.Errorf("other dashboards: %d imports, %s", imports(), out)
	}
	k.file, _, _ = strings.Cut(bundle, `{"type":"dashboard"`)
	if out := dryRun() + outputOf(t, args...); strings.Count(out, "# create dashboard") != 5 || strings.Contains(out, "replace") || k.file != bundle {
		t.Errorf("dashboards are missing: %s", out)
	}
	k.file = strings.Replace(bundle, `{\"fio2es\":{\"version\":1,`, `{\"fio2es\":{\"version\":99,`, 1)
	var errs bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), io.Discard, &errs); code != exitFailed || imports() != 3 ||
		!strings.Contains(errs.String(), "version 99 of the dashboards, this fio2es has 1; use the newer program: installed by a newer fio2es") {
		t.Errorf("dashboards of a newer fio2es: exit code %d, %d imports, %s", code, imports(), &errs)
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
